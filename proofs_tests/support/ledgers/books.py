"""Books with entries of every kind, and forgers who change them."""

import itertools
from collections.abc import Sequence
from typing import Any, cast

import attrs

from accountant import (
    GDP,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Budget,
    Composition,
    Description,
    Entry,
    GDPComposition,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.costs.spendable import SECURE
from accountant.entries.chain import GENESIS, Kind, digest_of
from proofs_tests.support.ledgers.doubles import RandomizedResponse


class Secure(RandomizedResponse):
    """One whose noise its description calls secure."""

    @property
    def description(self) -> Description:
        return attrs.evolve(super().description, noise=SECURE, private=True)


def sound_books(length: int, rule: Composition | None = None) -> tuple[Entry, ...]:
    """So many entries that hold together, of every kind that the rule can have, from a real ledger."""
    rule = BasicComposition() if rule is None else rule
    budget = ApproxDP(100.0, 1e-3) if isinstance(rule, BasicComposition) else ApproxDP(1.0, 1e-5)
    ledger = open_books(budget, rule)
    for turn in itertools.count():
        if len(ledger.entries) >= length:
            return tuple(ledger.entries)[:length]
        _a_day(ledger, turn)
    raise AssertionError("unreachable")


def open_books(budget: Budget, rule: Composition) -> Ledger:
    """A ledger in memory without charges."""
    return Ledger(budget, composition=rule, adjacency=ReplaceOne())


def _a_day(ledger: Ledger, turn: int) -> None:
    """What happens on one day of a study: about forty entries."""
    bit, team = ledger.protect(True), ledger.allocate(f"team-{turn}", 1e-3)
    kind, _ = _kinds(ledger.composition)
    for number in range(6):
        ledger.release(RandomizedResponse(1e-3, kind=kind), bit)
        team.release(Secure(1e-4 * (1 + number % 2), kind=kind), bit, account=f"boost {turn % 3}")
    _reservations(ledger, turn)
    inner = team.allocate("inner", 0.5)
    inner.release(Secure(1e-4, kind=kind), bit)
    team.close_account("inner")
    if turn % 2:
        ledger.close_account(f"team-{turn}")
        ledger._writer.write_checkpoint()


def _kinds(rule: Composition) -> tuple[type[PureDP] | type[GDP], type[BoundedRange] | type[GDP]]:
    """Two kinds of cost that the rule takes, one where it takes no other."""
    return (GDP, GDP) if isinstance(rule, GDPComposition) else (PureDP, BoundedRange)


def _reservations(ledger: Ledger, turn: int) -> None:
    bit, basic = ledger.protect(True), isinstance(ledger.composition, BasicComposition)
    first, kind = _kinds(ledger.composition)
    step, cost = Secure(1e-4, kind=kind), Secure(1e-4, kind=kind).cost
    plan = Plan.sequence([cost, cost, Secure(2e-4, kind=kind).cost])
    with ledger.reserve(plan, adjacency=ReplaceOne(), mechanism=step.description) as charge:
        charge.release(step, bit)
        charge.give_back()
    with ledger.reserve(Plan.of(cost, 4), adjacency=ReplaceOne(), delta=1e-9 if basic else 0.0) as charge:
        for _ in range(3):
            charge.release(step, bit)
    with ledger.reserve(Plan.of(cost, 4), adjacency=ReplaceOne(), delta=1e-9 if basic else 0.0) as charge:
        charge.give_back()
    ledger.announce(f"crashed {turn}").reserve(Plan.of(first(1e-4), 2), adjacency=ReplaceOne())


def zcdp_books(length: int) -> tuple[Entry, ...]:
    """The same under zero-concentrated privacy."""
    return sound_books(length, ZCDPComposition())


def rechained(entries: Sequence[Entry], start: int = 0) -> list[Entry]:
    """A forger's work: from entry `start` on, every digest computed anew, and the numbers in the order they stand.

    What is not ASCII has no digest, and keeps that of its entry.
    """
    done = list(entries[:start])
    for entry in entries[start:]:
        before = done[-1].digest if done else GENESIS
        digest = digest_of(before, entry.line) if entry.line.isascii() else entry.digest
        done.append(Entry(len(done), entry.kind, entry.line, digest))
    return done


def rewritten(entries: Sequence[Entry], place: int, old: str, new: str) -> list[Entry]:
    """A forger who changes one line and recomputes the chain. Raises ValueError where the line has no `old`."""
    if old not in entries[place].line:
        raise ValueError(f"{old!r} is not in {entries[place].line}")
    changed = attrs.evolve(entries[place], line=entries[place].line.replace(old, new, 1))
    return rechained([*entries[:place], changed, *entries[place + 1 :]], place)


def appended(entries: Sequence[Entry], kind: str, line: str) -> list[Entry]:
    """A forger who adds an entry at the end."""
    return rechained([*entries, Entry(len(entries), cast("Kind", kind), line, "")], len(entries))


def relabelled(entry: Entry, column: str, value: object) -> Entry:
    """An entry with something else, of whatever type, in one of its columns."""
    return Entry(**cast("dict[str, Any]", {**attrs.asdict(entry), column: value}))


def first(entries: Sequence[Entry], kind: str, containing: str = "") -> int:
    """The number of the first entry of a kind with this text in its line."""
    return next(entry.number for entry in entries if entry.kind == kind and containing in entry.line)
