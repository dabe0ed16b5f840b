"""Ledgers that are held against a policy, for tests; and a process that charges one."""

import contextlib
from pathlib import Path
from typing import Final

from accountant import (
    About,
    AddRemoveOne,
    BasicComposition,
    BudgetExceeded,
    Description,
    Ledger,
    Plan,
    PolicyRefused,
    PureDP,
)
from accountant.costs import SECURE, SEEDED

HEADER: Final = 'policy = "exchequer-policy-1"\n'
SECRET: Final = Description("M", "q", (), "l1", 1.0, None, SECURE, True, ())
SIMULATED: Final = Description("M", "q", (), "l1", 1.0, None, SEEDED, False, ())
HOSPITAL: Final = About(dataset="hospital")


def policy_in(folder: Path, text: str) -> Path:
    """A policy file with this text below its first line."""
    (file := folder / "policy.toml").write_text(HEADER + text, encoding="utf-8")
    return file


def policed(
    url: str, policy: Path | None, about: About = HOSPITAL, registry: str | None = None, budget: float = 100.0
) -> Ledger:
    """A ledger of pure ε under basic composition and add-remove-one."""
    return Ledger.open(
        url,
        PureDP(budget),
        composition=BasicComposition(),
        adjacency=AddRemoveOne(),
        about=about,
        policy="" if policy is None else policy,
        registry="" if registry is None else registry,
    )


def pay(ledger: Ledger, epsilon: float, rounds: int = 1, said: Description | None = SECRET) -> None:
    """Charge a plan, and draw nothing."""
    with ledger.reserve(Plan.of(PureDP(epsilon), rounds), adjacency=AddRemoveOne(), mechanism=said):
        pass


def pay_until_refused(url: str, policy: Path, registry: str | None, epsilon: float, budget: float = 100.0) -> int:
    """In a process of its own: how often this much could be charged, by the policy and by the budget."""
    number = 0
    with (
        policed(url, policy, registry=registry, budget=budget) as ledger,
        contextlib.suppress(PolicyRefused, BudgetExceeded),
    ):
        while number < 1000:
            pay(ledger, epsilon)
            number += 1
    return number
