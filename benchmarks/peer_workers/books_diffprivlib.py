"""diffprivlib's BudgetAccountant, with slack: charges are pairs (ε, δ)."""

from benchmarks.peer_workers.serve import Answer, Job, seconds_each, serve, timed


def imports() -> None:
    """The package."""


def charge(job: Job) -> Answer:
    """Seconds per spend on an accountant that holds so many."""
    from diffprivlib import BudgetAccountant

    accountant = BudgetAccountant(epsilon=100.0, delta=0.5, slack=1e-5)
    # Its own way there adds everything up again at each of them: minutes for 10,000.
    accountant._BudgetAccountant__spent_budget.extend([(1e-3, 0.0)] * job["charges"])
    return {"seconds": seconds_each(lambda: accountant.spend(1e-3, 0.0), job["times"])}


def price(job: Job) -> Answer:
    """The total of so many charges of ε, all of the δ as slack."""
    from diffprivlib import BudgetAccountant

    def total() -> float:
        charges = [(job["loss"], 0.0)] * job["rounds"]
        return float(BudgetAccountant(slack=job["delta"], spent_budget=charges).total()[0])

    return timed(total)


if __name__ == "__main__":
    serve({"charge": charge, "price": price}, imports)
