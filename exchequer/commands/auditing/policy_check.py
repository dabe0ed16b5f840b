"""`exchequer ledger verify --policy`: which entries broke a policy."""

from pathlib import Path
from typing import Final

from accountant.entries import visible
from accountant.policies import Policy, PolicyCheck, breaches, read_policy
from exchequer.commands.ledgers.open_ledger import StoredEntries
from exchequer.console import output

MOST: Final = 50
"""Breaches in the text; JSON has them all."""


def policy_to_hold(path: Path) -> Policy:
    """The policy in a file, before anything is read of a ledger. Raises PolicyMistakes, OSError."""
    return read_policy(path)


def held_against(entries: StoredEntries, policy: Policy | None, *, sound: bool) -> PolicyCheck | str | None:
    """What broke the policy; None without one; why nobody can say, of entries that are not sound.

    sound: whether verification found them so. Raises ValueError where they are, and yet cannot be read.
    """
    if policy is None:
        return None
    try:
        with output.entries_bar("policy", len(entries)) as progress:
            return breaches(entries, policy, progress)
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        if sound:
            raise
        return visible(f"not held against the policy {policy.source}, as not all entries can be read: {error}")


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
