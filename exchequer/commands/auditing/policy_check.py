"""`exchequer ledger verify --policy`: which entries broke a policy."""

from pathlib import Path
from typing import Final

from accountant.policies import PolicyCheck, breaches, read_policy
from exchequer.commands.ledgers.open_ledger import StoredEntries
from exchequer.console import output

MOST: Final = 50
"""Breaches in the text; JSON has them all."""


def held_against(entries: StoredEntries, path: Path | None) -> PolicyCheck | None:
    """What broke the policy; None without one. Raises PolicyMistakes, ValueError for what cannot be read."""
    if path is None:
        return None
    policy = read_policy(path)
    with output.entries_bar("policy", len(entries)) as progress:
        return breaches(entries, policy, progress)


def policy_record(found: PolicyCheck | None) -> dict[str, object]:
    """For JSON; nothing without a policy."""
    if found is None:
        return {}
    listed = [
        {"entry": each.number, "rule": each.violation.rule, "found": each.violation.found} for each in found.breaches
    ]
    return {"policy": {"file": found.policy.source, "charges": found.charges, "breaches": listed}}


def print_policy(found: PolicyCheck | None) -> None:
    """Say which entries broke it; nothing without a policy."""
    if found is None:
        return
    number = len(found.breaches)
    kept = f"kept by all {found.charges} charges" if not number else f"BROKEN {number} time(s)"
    output.heading(f"Policy {found.policy.source}: {kept}", "red" if number else "green")
    output.facts(
        [(f"entry {each.number}", f"{each.violation.rule}: {each.violation.found}") for each in found.breaches[:MOST]]
    )
    if number > MOST:
        output.paragraph(f"... and {number - MOST} more; --json lists them all")
    output.paragraph("Limits were held against this ledger alone. A policy binds whoever charges with it.")
