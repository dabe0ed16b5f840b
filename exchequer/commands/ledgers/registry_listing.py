"""`exchequer ledger registry` and `policy`, and what other commands say of the other ledgers over a data set."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import click

from accountant.audit import in_symbols
from accountant.audit.report import moment
from accountant.costs import adjacency_record
from accountant.policies import EXAMPLE, read_policy
from accountant.registry import REGISTRY, LedgerOver, Registration, Registry, Together, over, together
from exchequer.commands.ledgers.open_ledger import without_passwords
from exchequer.console import output


def print_registry(url: str, *, create: bool, as_json: bool) -> None:
    """Print its lines. create: make it first, where there is none."""
    with without_passwords(url), Registry.create(url) if create else Registry.open(url, "read") as registry:
        found, name = registry.ledgers(), registry.name
    if as_json:
        click.echo(json.dumps({"registry": name, "ledgers": [_record(each) for each in found]}, indent=1))
        return
    ledgers = len({each.ledger for each in found})  # one that two data sets share stands on two lines
    output.title(f"{name}: {ledgers} ledger{'' if ledgers == 1 else 's'}, by data set")
    rows = [
        [each.dataset, each.location, in_symbols(each.budget), each.adjacency.name, moment(each.first)]
        for each in found
    ]
    if rows:
        output.table(["data set", "ledger", "budget", "adjacency", "first opened"], rows)


def _record(each: Registration) -> dict[str, object]:
    return {
        "dataset": each.dataset,
        "ledger": each.location,
        "id": each.ledger,
        "budget": each.budget.as_dict(),
        "composition": dict(each.rule),
        "adjacency": adjacency_record(each.adjacency),
        "first": each.first,
        "seen": each.time,
        "entries": each.entries,
        "head": each.head,
        "spent": each.spent.as_dict(),
    }


def together_record(found: Together) -> dict[str, object]:
    """For JSON. spent, budget: null where no sum can be given."""
    return {
        "dataset": found.dataset,
        "ledgers": [_part(each) for each in found.parts],
        "adjacency": None if found.adjacency is None else adjacency_record(found.adjacency),
        "spent": None if found.spent is None else found.spent.as_dict(),
        "budget": None if found.budget is None else found.budget.as_dict(),
        "why_not": found.why_not,
        "factors": list(found.factors),
    }


def _part(each: LedgerOver) -> dict[str, object]:
    return {
        "ledger": each.registration.location,
        "id": each.registration.ledger,
        "spent": each.spent.as_dict(),
        "budget": each.registration.budget.as_dict(),
        "why_unread": each.why_unread,
    }


def sums(found: Together) -> str:
    """What the ledgers come to, in a sentence."""
    if found.spent is None or found.budget is None or found.adjacency is None:
        return f"no sum: {found.why_not}"
    return (
        f"spent {in_symbols(found.spent)} of budgets that come to {in_symbols(found.budget)}, "
        f"under {found.adjacency.name}"
    )


def print_together(found: Sequence[Together]) -> None:
    """Say of each data set with more than one ledger what they come to."""
    for each in found:
        if len(each.parts) < 2:
            continue
        output.heading(f"Data set {each.dataset}: {len(each.parts)} ledgers; together {sums(each)}")
        output.facts([(part.registration.location or part.registration.ledger, _said(part)) for part in each.parts])
        for text in each.factors:
            output.paragraph(text)


def _said(part: LedgerOver) -> str:
    budget = in_symbols(part.registration.budget)
    if part.why_unread:
        return f"counts with its whole budget, {budget}: {part.why_unread}"
    return f"spent {in_symbols(part.spent)} of {budget}"


def registered_with(ledger_id: str) -> list[Together]:
    """By the registry of the environment, each data set of a ledger with all ledgers over it; [] without a registry.

    Raises as `Registry.open`.
    """
    url = os.environ.get(REGISTRY, "")
    if not url:
        return []
    with without_passwords(url), Registry.open(url, "read") as registry:
        datasets = [each.dataset for each in registry.ledgers() if each.ledger == ledger_id]
        listed = [
            (dataset, [(each, registry.heads(each.ledger)) for each in registry.ledgers(dataset)])
            for dataset in datasets
        ]
    return [together(dataset, [over(each, heads) for each, heads in parts]) for dataset, parts in listed]


def print_policy(file: Path | None) -> None:
    """Print what a policy asks for; without one, an example. Raises PolicyMistakes with all that is wrong."""
    if file is None:
        click.echo(EXAMPLE, nl=False)
        return
    found = read_policy(file)
    limits = [*found.dataset_limits(), *([] if found.release is None else [found.release])]
    output.title(f"{file}: a policy, with {len(limits)} limit(s)")
    output.facts([("limit", str(each)) for each in limits])
    texts = (
        ("users", found.users),
        ("programs", found.programs),
        ("adjacency", found.adjacency),
        ("not adjacency", found.forbidden_adjacency),
        ("not composition", found.forbidden_composition),
        ("charges say", found.about),
        ("noise", ("secure only",) if found.secure_noise else ()),
        ("sub-budgets", found.sub_budgets),
        ("who pays", ("sub-budgets only",) if found.sub_budgets_only else ()),
    )
    output.facts([(name, ", ".join(said)) for name, said in texts if said])
