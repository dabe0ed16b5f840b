"""The second opinion: the same entries, composed by an independent accountant, and each cost recomputed.

Four questions. Do the entries' costs add up to more than the ledger states? Does dp-accounting (extra `pld`) come to a
larger total? Do mechanisms of these very costs lose more than our total says they can? Does an entry declare less
than its own mechanism's parameters give? The second accountant agrees if the answer is no four times. Where a total
of theirs may be above ours although ours is right, the reason stands beside it, and it does not count.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Final

import attrs

from accountant.audit import Spending, epsilon_at, gather, least_delta
from accountant.audit.second_opinion import peer_totals
from accountant.audit.second_opinion.peer_totals import Parts
from accountant.audit.second_opinion.recomputed import ROUNDING, Mismatch, Recomputation, exactly_lost, least_sum
from accountant.composition import BasicComposition, Composition, GDPComposition, OwnRule, readable
from accountant.costs import ApproxDP, BoundedRange, PureDP, SubsampledGaussian, Unbounded, open_probability
from accountant.entries import Entry, visible

TOLERANCE: Final = 1e-3
"""How far, relatively, a total of theirs may be above ours: their grid of losses rounds up by less."""

ABSOLUTE: Final = 1e-9
"""The same for totals near 0, in nats."""

READ_OUT: Final = 1e-6
"""The δ at which ledgers are compared whose budget has none, unless the caller names one."""

ADAPTIVE: Final = (
    "Their totals are composed as if all costs had been fixed in advance; ours hold for costs chosen on the way."
)

Row = tuple[str, str, str, str]


@attrs.frozen
class Total:
    """What one accountant makes of the entries.

    name: which, and how.  epsilon: in nats, None where it has no total.  delta: at which.  note: what it is.
    excuse: why it may be above ours although ours is right; empty where a theorem puts it at or below.
    left_out: which rounds it could not take, and why; the total is of the others.
    """

    name: str
    epsilon: float | None
    delta: float
    note: str
    excuse: str = ""
    left_out: tuple[str, ...] = ()

    def above(self, ours: float) -> bool:
        """Whether it is above ours by more than the tolerance."""
        return self.epsilon is not None and not self.epsilon <= ours * (1.0 + TOLERANCE) + ABSOLUTE


@attrs.frozen
class SecondOpinion:
    """What `second_opinion` found.

    ours: by the ledger's rule, as the newest entry states it.  theirs: the other totals, at the same δ unless they say.
    mismatches: entries that declare too little, at most 100 of the `wrong` ones.
    checked, unknown: rounds whose cost was recomputed from parameters, and those for which nobody knows how.
    explanations: what one has to know to compare.
    """

    ours: Total
    theirs: tuple[Total, ...]
    mismatches: tuple[Mismatch, ...]
    wrong: int
    checked: int
    unknown: Mapping[str, int] = attrs.field(hash=False)
    understated: str | None
    explanations: tuple[str, ...]

    @property
    def delta(self) -> float:
        """Where the totals are compared."""
        return self.ours.delta

    @property
    def disagreements(self) -> tuple[str, ...]:
        """One sentence each; none if the second accountant agrees."""
        assert self.ours.epsilon is not None
        ours, found = self.ours.epsilon, [] if self.understated is None else [self.understated]
        found += [
            f"{total.name} comes to ε = {total.epsilon:.6g} at δ = {total.delta:g}, the ledger to {ours:.6g}"
            for total in self.theirs
            if not total.excuse and total.above(ours)
        ]
        found += [str(mismatch) for mismatch in self.mismatches]
        if self.wrong > len(self.mismatches):
            found.append(f"{self.wrong - len(self.mismatches)} more entries declare too little")
        return tuple(found)

    @property
    def agrees(self) -> bool:
        """No total without an excuse is above ours, and no entry declares less than its parameters give."""
        return not self.disagreements

    def rows(self) -> list[Row]:
        """(name, ε, δ, note) of every total, ours first, as text for a table."""
        assert self.ours.epsilon is not None
        return [_row(total, self.ours.epsilon) for total in (self.ours, *self.theirs)]

    def as_dict(self) -> dict[str, object]:
        """For JSON; an infinite ε is None, and says so in its note."""
        return {
            "agrees": self.agrees,
            "delta": self.delta,
            "tolerance": TOLERANCE,
            "totals": [
                {**attrs.asdict(total), "epsilon": _finite(total.epsilon), "left_out": list(total.left_out)}
                for total in (self.ours, *self.theirs)
            ],
            "disagreements": list(self.disagreements),
            "recomputed": {"rounds": self.checked, "wrong": self.wrong, "unknown": dict(self.unknown)},
            "mismatches": [attrs.asdict(mismatch) for mismatch in self.mismatches],
            "explanations": list(self.explanations),
        }

    def __str__(self) -> str:
        rows = self.rows()
        wide = max(len(name) for name, *_ in rows)
        verdict = "agrees" if self.agrees else "DISAGREES"
        lines = [f"second opinion at δ = {self.delta:g}: {verdict}"]
        lines += [f"  {name:<{wide}}  {epsilon:>12}  {note}".rstrip() for name, epsilon, _, note in rows]
        lines += [f"  disagreement: {text}" for text in self.disagreements]
        return "\n".join(map(visible, [*lines, *(f"  {text}" for text in self.explanations)]))


def second_opinion(entries: Iterable[Entry], *, delta: float | None = None) -> SecondOpinion:
    """Compose the entries by dp-accounting as well, and recompute each cost; one pass over them.

    delta: where to compare, in (0, 1). None: the δ of the budget; where it has none, READ_OUT.
    All charges count, released or not, less the rounds that were given back. A plan that was charged at a price is
    ours at that price, and theirs as its rounds.
    Raises PeerMissing without dp-accounting, ValueError for entries that cannot be read, a δ that is spent already, or
    a ledger that promises nothing.
    The entries should have been verified: here sums and chains are taken as they stand.
    """
    recomputed = Recomputation()
    spending = gather(entries, recomputed)
    if isinstance(spending.promise.budget, Unbounded):
        raise ValueError("this ledger promises nothing, so there is no total that another accountant could compare")
    recomputed.finish()
    at = _where(spending, delta)
    parts = Parts.of(spending.rounds)
    ours = _ours(spending, at)
    return SecondOpinion(
        ours=ours,
        theirs=tuple(_theirs(spending, parts, at)),
        mismatches=tuple(recomputed.mismatches),
        wrong=recomputed.wrong,
        checked=recomputed.checked,
        unknown=dict(recomputed.unknown),
        understated=_understated(spending),
        explanations=tuple(_explanations(spending, recomputed, delta)),
    )


def _where(spending: Spending, delta: float | None) -> float:
    budget = spending.promise.budget
    if delta is None:
        delta = budget.delta if isinstance(budget, ApproxDP) and budget.delta else READ_OUT
    delta, least = open_probability(delta), least_delta(spending.rule, spending.stated)
    if delta < least:
        raise ValueError(f"delta: the rule has spent δ = {least!r} by now and promises nothing at {delta!r}")
    return delta


def _ours(spending: Spending, delta: float) -> Total:
    rule = spending.rule
    priced = sum(spending.prices.values())
    note = f"{rule.name} composition, {rule.unit}, as the newest entry states it"
    if priced:
        note += f"; {_counted(priced, 'plan')} at the price of a whole"
    return Total("the ledger", epsilon_at(rule, spending.stated, delta), delta, note)


def _understated(spending: Spending) -> str | None:
    """The running total against what the costs must add up to, in the rule's own unit, found by search."""
    stated, rule = spending.stated, spending.rule
    if isinstance(rule, OwnRule):
        return None  # nobody here knows its sums but itself; `verify` replays them
    loss, delta = least_sum(rule, spending.summed, spending.prices)
    if loss <= float(stated.loss) * (1.0 + ROUNDING) and delta <= float(stated.delta) * (1.0 + ROUNDING):
        return None
    needed = f"{loss:.6g}" + (f" and Σδ = {delta:.6g}" if delta else "")
    charges = _counted(spending.charges, "charge")
    return (
        f"the {charges} come to {rule.unit} = {needed} at least, the newest running total is {readable(stated, rule)}"
    )


# --- their totals -------------------------------------------------------------------------------------------------


def _theirs(spending: Spending, parts: Parts, delta: float) -> Iterable[Total]:
    if isinstance(spending.promise.budget, PureDP):
        note = "the only total there is at δ = 0; dp-accounting's are infinite there, as they cut off tails"
        yield Total("sum of largest losses", parts.largest_loss, 0.0, note)
    epsilon, order = peer_totals.renyi(parts, delta)
    note = f"Rényi curves added up, best order {order:.6g}"
    yield Total("dp-accounting, RDP", epsilon, delta, note, _renyi_may_be_above(spending, order))
    yield _pld(spending, parts, delta)
    yield _reached("what they can lose", parts, delta, order)
    spent = least_delta(spending.rule, spending.stated)
    if 0.0 < spent < delta:  # where the ledger promises the same ε, and more is lost
        _, order = peer_totals.renyi(parts, spent)
        yield _reached("the same at the δ spent so far", parts, spent, order)


def _pld(spending: Spending, parts: Parts, delta: float) -> Total:
    name, note = "dp-accounting, PLD", "dominating pairs convolved, rounded up"
    without = sum(rounds for _, rounds in parts.rhos)
    left_out = (f"{_counted(without, 'round')} of zcdp: {_NO_PAIR}",) if without else ()
    if without and not parts.paired:
        return Total(name, None, delta, "nothing is left", left_out=left_out)
    try:
        epsilon = peer_totals.dominated(parts, delta)
    except ArithmeticError as error:
        return Total(name, None, delta, f"not computed: {error}", left_out=left_out)
    return Total(name, epsilon, delta, note, _pld_may_be_above(spending), left_out)


_NO_PAIR: Final = "a bound on Rényi curves has no dominating pair of its own"


def _reached(name: str, parts: Parts, delta: float, order: float) -> Total:
    try:
        exact = exactly_lost(parts, delta)
        epsilon = peer_totals.reached(parts, delta, order) if exact is None else exact
    except ArithmeticError as error:
        return Total(name, None, delta, f"not computed: {error}")
    if exact is not None:
        return Total(name, epsilon, delta, "the exact curve of these costs, searched: no sound total is smaller")
    note = "dp-accounting's PLD of mechanisms that have these costs, rounded down: no sound total is smaller"
    return Total(name, epsilon, delta, note)


def _renyi_may_be_above(spending: Spending, order: float) -> str:
    """Why adding Rényi curves may give more than the ledger; "" where a theorem says that it cannot."""
    if isinstance(spending.rule, OwnRule):
        return _NOT_OURS
    if isinstance(spending.rule, GDPComposition):
        return "sums of μ² are read on the exact Gaussian curve, which no Rényi curve attains"
    if any(isinstance(cost, SubsampledGaussian) for cost in +spending.rounds):
        return "Rényi curves of Gaussians on samples are asked for at whole orders only"
    tighter = sorted((+spending.routes).keys() - {"basic", "zcdp", "renyi"})
    if not tighter:
        return "its conversion stops at order 1.01" if order < peer_totals.LOWEST else ""
    return f"plans were priced by {', '.join(tighter)}, which no Rényi curve attains"


def _pld_may_be_above(spending: Spending) -> str:
    """The same for dominating pairs."""
    if isinstance(spending.rule, OwnRule):
        return _NOT_OURS
    ranges = any(isinstance(cost, BoundedRange) for cost in +spending.summed)
    if ranges and not _adds_epsilons(spending.rule):
        return _ONE_PAIR
    tighter = (+spending.routes).keys() & {"zcdp", "renyi", "bounded-range"}
    return _ONE_PAIR if tighter and any(isinstance(cost, BoundedRange) for cost in +spending.priced) else ""


_NOT_OURS: Final = "the ledger's rule is another package's, and no theorem here puts that total below"

_ONE_PAIR: Final = (
    "one pair that dominates every bounded-range mechanism is no such mechanism, and loses more over many rounds"
)


def _adds_epsilons(rule: Composition) -> bool:
    return isinstance(rule, BasicComposition)


# --- what one has to know -----------------------------------------------------------------------------------------


def _explanations(spending: Spending, recomputed: Recomputation, delta: float | None) -> Iterable[str]:
    budget = spending.promise.budget
    if delta is None and not (isinstance(budget, ApproxDP) and budget.delta):
        yield f"The budget has no δ: totals are read at δ = {READ_OUT:g}, for comparison only."
    if any(isinstance(cost, ApproxDP) and cost.delta for cost in spending.rounds):
        yield "The δ of (ε, δ) costs are set aside, 1 − Π(1 − δ), and their totals read at what is left."
    if any(isinstance(cost, BoundedRange) for cost in spending.rounds):
        yield "Bounded range is unknown to dp-accounting: its worst two-point pair was searched here, by brute force."
    if len(spending.rounds) > peer_totals.MOST_DISTINCT:
        yield f"Of {len(spending.rounds)} distinct costs, similar ones were put together at their means for them."
    if spending.charges > 1 or spending.rounds.total() > 1:
        yield ADAPTIVE
    yield _recomputed(recomputed)


def _recomputed(recomputed: Recomputation) -> str:
    text = f"Rounds whose cost was recomputed from the mechanism's own parameters: {recomputed.checked}"
    if recomputed.unknown:
        names = ", ".join(f"{name} ({rounds})" for name, rounds in sorted(recomputed.unknown.items()))
        text += f"; nothing is known of {names}"
    return text + "."


def _row(total: Total, ours: float) -> Row:
    excuse = (f"above the ledger, as {total.excuse}",) if total.excuse and total.above(ours) else ()
    note = "; ".join((total.note, *excuse, *(f"without {text}" for text in total.left_out)))
    epsilon = "-" if total.epsilon is None else f"{total.epsilon:.6g}"
    return total.name, epsilon, f"{total.delta:g}", note


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _finite(epsilon: float | None) -> float | None:
    return None if epsilon is None or math.isinf(epsilon) else epsilon
