"""dp-accounting's accountants, by Rényi divergences and by privacy-loss distributions."""

import math
from typing import Any

from benchmarks.peer_workers.serve import Answer, Job, seconds_each, serve, timed


def imports() -> None:
    """The package."""


def accountant(rule: str) -> Any:
    """One of the two, for one record more or less."""
    from dp_accounting import pld, rdp

    return pld.PLDAccountant() if rule == "pld" else rdp.RdpAccountant()


def charge(job: Job) -> Answer:
    """Seconds to compose one event more and to ask for ε, when so many are composed. It keeps no budget itself."""
    from dp_accounting import GaussianDpEvent

    books, event = accountant(job["rule"]), GaussianDpEvent(100.0)
    books.compose(event, job["charges"])
    return {"seconds": seconds_each(lambda: books.compose(event).get_epsilon(1e-5), job["times"])}


def price(job: Job) -> Answer:
    """ε of so many rounds: Gaussian, Laplace, or randomised response, which is the worst of pure differential privacy.

    Its event of randomised response forgets how often it is composed (0.6.0), so that one goes by its distribution.
    """
    from dp_accounting import GaussianDpEvent, LaplaceDpEvent
    from dp_accounting.pld import privacy_loss_distribution as laws

    loss, rounds, delta = job["loss"], job["rounds"], job["delta"]

    def epsilon() -> float:
        if job["kind"] == "response":
            p = 2.0 / (1.0 + math.exp(loss))  # it answers at random with this chance: odds e^loss
            law = laws.from_randomized_response(p, 2, value_discretization_interval=job["grid"])
            return float(law.self_compose(rounds).get_epsilon_for_delta(delta))
        event = (GaussianDpEvent if job["kind"] == "gaussian" else LaplaceDpEvent)(1.0 / loss)
        return float(accountant(job["rule"]).compose(event, rounds).get_epsilon(delta))

    return timed(epsilon)


if __name__ == "__main__":
    serve({"charge": charge, "price": price}, imports)
