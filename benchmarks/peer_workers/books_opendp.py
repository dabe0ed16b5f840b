"""OpenDP's compositions: asked one measurement after the other, or of all at once."""

from typing import Any

from benchmarks.peer_workers.serve import Answer, Job, seconds_each, serve, timed

RHO = 5e-7


def imports() -> None:
    """The package. `honest-but-curious` is for a measurement that does nothing."""
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious")


def charge(job: Job) -> Answer:
    """Seconds per invocation, on a queryable that has answered so many; the measurement does nothing, at a price."""
    import opendp.prelude as dp

    domain, metric, measure = dp.atom_domain(T=int), dp.absolute_distance(T=int), dp.zero_concentrated_divergence()
    nothing = dp.m.make_user_measurement(domain, metric, measure, lambda data: data, lambda distance: RHO, TO="i32")
    queries = job["charges"] + job["times"]
    books: Any
    if job["rule"] == "adaptive":
        books = dp.c.make_adaptive_composition(domain, metric, measure, 1, [RHO] * queries)(0)
    else:
        odometer = dp.c.make_fully_adaptive_composition(domain, metric, measure)
        books = dp.c.make_privacy_filter(odometer, 1, 2.0 * RHO * queries)(0)
    for _ in range(job["charges"]):
        books(nothing)
    return {"seconds": seconds_each(lambda: books(nothing), job["times"])}


def price(job: Job) -> Answer:
    """ε of the composition of so many, by its map."""
    import opendp.prelude as dp

    number = dp.atom_domain(T=int), dp.absolute_distance(T=int)

    def epsilon() -> float:
        if job["kind"] == "gaussian":
            each = dp.m.make_gaussian(*number, scale=1.0 / job["loss"])
        else:
            each = dp.m.make_laplace(*number, scale=1.0 / job["loss"])
            if job["rule"] == "basic":
                return float(dp.c.make_composition([each] * job["rounds"]).map(1))  # type: ignore[no-untyped-call]  # opendp leaves `map` untyped
            each = dp.c.make_pureDP_to_zCDP(each)
        whole = dp.c.make_zCDP_to_approxDP(dp.c.make_composition([each] * job["rounds"]))
        return float(dp.c.make_fix_delta(whole, job["delta"]).map(1)[0])  # type: ignore[no-untyped-call]  # the same

    return timed(epsilon)


if __name__ == "__main__":
    serve({"charge": charge, "price": price}, imports)
