"""Test vectors of the ledger's format, for whoever implements LEDGER.md in another language: `verifier/vectors.json`.

`python -m proofs_tests.support.programs.vectors` writes them anew.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from accountant import (
    GDP,
    ZCDP,
    About,
    AddRemoveOne,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Budget,
    Composition,
    Cost,
    Entry,
    GDPComposition,
    LaplaceDP,
    Ledger,
    NoBound,
    Plan,
    PureDP,
    Step,
    SubsampledGaussian,
    TextbookComposition,
    Unbounded,
    ZCDPComposition,
    verify,
)
from accountant.canonical_json import canonical
from accountant.composition import Amount, amount_record
from accountant.entries import Charged, State, decode
from proofs_tests.support.ledgers.first_format import in_memory_in_first_format
from proofs_tests.support.ledgers.forgeries import rechained, records_of
from proofs_tests.support.programs.signed_vectors import forged, signed_entries
from proofs_tests.support.programs.vector_entries import NOISE, entries_of, spend

FILE: Final = Path(__file__).parents[3] / "verifier" / "vectors.json"

COSTS: Final[Sequence[Cost]] = (
    PureDP(0.125),
    LaplaceDP(0.5),
    LaplaceDP(2.0),
    BoundedRange(0.25),
    BoundedRange(2.0**-8),
    ApproxDP(0.25, 2.0**-20),
    ZCDP(0.03125),
    GDP(0.75),
    SubsampledGaussian(1.0, 0.5),
)
RULES: Final[Sequence[tuple[str, Composition, Budget]]] = (
    ("basic, pure", BasicComposition(), PureDP(4.0)),
    ("basic", BasicComposition(), ApproxDP(4.0, 2.0**-16)),
    ("zcdp", ZCDPComposition(), ZCDP(1.0)),
    ("zcdp, converted", ZCDPComposition(), ApproxDP(4.0, 1e-6)),
    ("gdp", GDPComposition(), GDP(2.0)),
    ("gdp, converted", GDPComposition(), ApproxDP(8.0, 1e-6)),
    ("advanced-tight", AdvancedComposition(2.0**-21), ApproxDP(4.0, 2.0**-16)),
    ("advanced", TextbookComposition(2.0**-21), ApproxDP(8.0, 2.0**-16)),
    ("no-bound", NoBound(), Unbounded()),
)


def of_every_cost(rule: Composition, budget: Budget) -> Ledger:
    """A charge of each cost that the rule takes and the budget affords."""
    ledger = Ledger(budget, composition=rule, adjacency=AddRemoveOne())
    for cost in COSTS:
        try:
            affordable = ledger.affords(Plan.of(cost))
        except TypeError:
            continue
        if affordable:
            spend(ledger, cost)
    return ledger


def shared_out() -> Ledger:
    """Sub-budgets, labels, rounds given back, a price, a model, checkpoints."""
    ledger = Ledger(ApproxDP(4.0, 2.0**-10), composition=BasicComposition(), adjacency=AddRemoveOne())
    team = ledger.allocate("team", Fraction(1, 2))
    inner = team.allocate("inner", Fraction(1, 4))
    pilot = ledger.announce("pilot")
    spend(inner, PureDP(0.125), 2)
    spend(pilot, PureDP(0.25))
    with team.reserve(Plan((Step(PureDP(0.125), 2), Step(PureDP(0.25), 2))), adjacency=AddRemoveOne()) as charge:
        charge.note_drawn_elsewhere(NOISE, 1)
        charge.give_back()
    with ledger.reserve(Plan.of(GDP(0.25), 4), adjacency=AddRemoveOne(), delta=2.0**-12) as charge:
        charge.note_drawn_elsewhere(NOISE, 4)
    ledger._writer.write_checkpoint()
    team.close_account("inner")
    spend(team.concerning(About(dataset="hôpital", purpose="a pilot")), PureDP(0.5))
    ledger.note_model("ab" * 32, [4])
    ledger.reserve(Plan.of(PureDP(0.03125), 3), adjacency=AddRemoveOne())
    ledger._writer.write_checkpoint()
    return ledger


def upgraded() -> Ledger:
    """Of the first format, until a charge says something."""
    ledger = in_memory_in_first_format(ApproxDP(1.0, 0.0), composition=BasicComposition(), adjacency=AddRemoveOne())
    spend(ledger, PureDP(0.125))
    spend(ledger.concerning(About(user="ada")), PureDP(0.125))
    spend(ledger, PureDP(0.125))
    return ledger


def ledger_vector(name: str, entries: Sequence[Entry]) -> dict[str, Any]:
    """A sound ledger, and what a reader must find in it."""
    state, amounts = State(), dict[str, Any]()
    for entry in entries:
        record = decode(entry)
        state.apply(entry.number, record)
        if isinstance(record, Charged):
            amounts[str(entry.number)] = amount_record(record.amount(state.rule))
    return {
        "name": name,
        "verdict": verify(entries).verdict,
        "head": entries[-1].digest,
        "entries": [_row(entry) for entry in entries],
        "amounts": amounts,
        "total": amount_record(state.total),
        "spent": state.rule.guarantee(state.total, state.budget).as_dict(),
    }


def _row(entry: Entry) -> dict[str, Any]:
    return {"number": entry.number, "kind": entry.kind, "line": entry.line, "digest": entry.digest}


def _said(place: int, **parts: Any) -> Callable[[list[dict[str, Any]]], None]:
    return lambda records: records[place].update(parts)


EIGHTH: Final = {"delta": "0p0", "loss": "1p-3"}
SIXTEENTH: Final = {"delta": "0p0", "loss": "1p-4"}
DOCTORED: Final[Mapping[str, tuple[Callable[[list[dict[str, Any]]], object], int, str]]] = {
    "a cost made smaller": (
        lambda records: records[1]["steps"][0]["cost"].update(epsilon=0.0625),
        1,
        "its running total is not the sum of the costs so far",
    ),
    "an amount that is not the cost's": (_said(1, amount=SIXTEENTH), 1, "its amount is not what its costs come to"),
    "no amount": (lambda records: records[1].pop("amount"), 1, "it does not say its amount"),
    "a total that is not the sum": (_said(3, after=EIGHTH), 3, "its running total is not the sum of the costs so far"),
    "a smaller budget": (
        lambda records: records[0]["budget"].update(epsilon=0.0625),
        1,
        "it takes the total above the budget",
    ),
    "back-dated": (_said(3, time=1_699_999_999_999_999_999), 3, "its time is before that of the entry before it"),
    "released twice": (_said(4, charge=1), 4, "it releases charge 1, which is not open"),
    "left out": (lambda records: records.pop(3), 3, "it releases charge 3, which is not open"),
    "another relation": (_said(1, adjacency={"name": "replace-one"}), 1, "its adjacency is not that of the ledger"),
    "a part too many": (_said(1, note="fine"), 1, "it says more than an entry of its kind"),
}


def doctored_vectors() -> list[dict[str, Any]]:
    """Two charges of ε = 1/8, doctored, the chain computed anew; and ones whose chain no longer holds."""
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=AddRemoveOne())
    for _ in range(2):
        spend(ledger, PureDP(0.125))
    entries, found = entries_of(ledger), list[tuple[str, list[Entry], int, str]]()
    for name, (doctor, place, finding) in DOCTORED.items():
        records = records_of(entries)
        doctor(records)
        found.append((name, rechained(records), place, finding))
    linked = "its digest does not match its content and the entry before it"
    spaced = [entries[0], _with_line(entries[1], entries[1].line.replace(":", ": ", 1)), *entries[2:]]
    found += [("a space, and no digest computed anew", spaced, 1, linked)]
    found += [("two swapped", [*entries[:2], entries[3], entries[2], entries[4]], 2, linked)]
    return [_doctored(*each) for each in found]


def _doctored(name: str, forged: Sequence[Entry], place: int, finding: str) -> dict[str, Any]:
    rows = [_row(entry) for entry in forged]
    return {"name": name, "verdict": "not sound", "entry": place, "finding": finding, "entries": rows}


def _with_line(entry: Entry, line: str) -> Entry:
    return Entry(entry.number, entry.kind, line, entry.digest)


def vectors() -> dict[str, Any]:
    """All of them."""
    ledgers = [(f"every cost, {name}", of_every_cost(rule, budget)) for name, rule, budget in RULES]
    ledgers += [("shared out", shared_out()), ("upgraded", upgraded())]
    chains = [(name, entries_of(ledger)) for name, ledger in ledgers] + [("signed", signed_entries())]
    numbers = (0.0, 1.0, 0.1, 0.75, 1e-6, 2.0**-1074, 123456.75, 1e16, 1e15, 0.0001, 1e-5, 1.7976931348623157e308)
    return {
        "canonical": [
            [value, canonical(value)] for value in ("é\u007f\n/\U0001f600", {"b": 1, "a": [True, None, 0.5]})
        ],
        "numbers": [{"float": canonical(x), "amount": amount_record(Amount.of(x))["loss"]} for x in numbers],
        "ledgers": [ledger_vector(name, entries) for name, entries in chains],
        "doctored": doctored_vectors() + [_doctored(*each) for each in forged()],
    }


def text() -> str:
    """As the file has it."""
    return json.dumps(vectors(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="ascii")
