"""Opacus's own accountants: the one that it trains with, by numerical composition (PRV), and its older one, by RDP."""

from typing import Any

from benchmarks.peer_workers.serve import Answer, Job, serve


def imports() -> None:
    """The package, with torch."""
    import opacus.accountants  # noqa: F401


def price(job: Job) -> Answer:
    """ε at δ of a history, [[noise multiplier, sample rate, steps], …]: by PRV as it stands and closer, and by RDP."""
    from opacus.accountants import PRVAccountant, RDPAccountant

    delta = job["delta"]
    usual = _epsilon(PRVAccountant(), job, delta=delta)
    closer = _epsilon(PRVAccountant(), job, delta=delta, eps_error=job["error"] * usual)
    return {"prv": usual, "prv closer": closer, "rdp": _epsilon(RDPAccountant(), job, delta=delta)}


def _epsilon(accountant: Any, job: Job, **options: float) -> float:
    accountant.history = [tuple(stretch) for stretch in job["history"]]
    return float(accountant.get_epsilon(**options))


if __name__ == "__main__":
    serve({"price": price}, imports)
