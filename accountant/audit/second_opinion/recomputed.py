"""Costs recomputed from what the entries say about a mechanism: its noise, its sensitivity and the norm of that.

For the second opinion: the formulas are written out here once more, in a line each, and the conversions are found by
search (`extreme_pairs`), so that an entry whose declared cost is below what its own numbers give shows.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

import attrs

from accountant.arrays import FloatArray
from accountant.audit import parted
from accountant.audit.second_opinion import extreme_pairs, peer_totals
from accountant.composition import BasicComposition, Composition, GDPComposition, Plan, TextbookComposition
from accountant.costs import (
    GDP,
    ZCDP,
    ApproxDP,
    BoundedRange,
    Cost,
    Description,
    LaplaceDP,
    PureDP,
    SubsampledGaussian,
    Unbounded,
)
from accountant.entries import Charged, Record, Released, Returned, visible

ROUNDING: Final = 1e-6
"""By how much, relatively, a declared cost may be below the recomputed one: searches are that exact, and better."""

MOST_NAMED: Final = 100
"""How many mismatches are listed; the others are counted."""

MOST_KEPT: Final = 10_000
"""Answers that are kept for the next charge of the same sort."""

STEP: Final = re.compile(r"(\d+) x (PureDP|LaplaceDP|BoundedRange|GDP|ZCDP)\(\w+=([^()]+)\)")
"""A step of a lane, as `mechanisms.core.parallel` writes it."""

Rounds: TypeAlias = tuple[tuple[Cost, int], ...]
"""Costs with their numbers of rounds."""

Kind: TypeAlias = tuple[type[Cost], float]
"""A kind of cost; with δ, or a sampling rate, where it has one."""


class Unknown(Exception):
    """Nothing is known here about how this mechanism's cost follows from its parameters."""


@attrs.frozen
class Mismatch:
    """A charge that declares less than its own mechanism's parameters give.

    entry: its number.  mechanism: its name and query.  rounds: how many.
    """

    entry: int
    mechanism: str
    rounds: int
    declared: str
    recomputed: str

    def __str__(self) -> str:
        times = f"{self.rounds} rounds of " if self.rounds > 1 else ""
        said = f"declared {self.declared}, its parameters say {self.recomputed}"
        return visible(f"entry {self.entry}: {times}{self.mechanism} {said}")


# --- from parameters to a cost ------------------------------------------------------------------------------------


def least_rounds(said: Description) -> Rounds:
    """The least that this mechanism can cost, as costs that are composed. Raises Unknown.

    Raises KeyError, TypeError or ValueError where its numbers make no sense.
    For objective perturbation it is what its noise alone costs.
    """
    name, numbers = said.mechanism, dict(said.parameters)
    if "steps of a lane" in numbers:
        return _lanes(str(numbers["steps of a lane"]), int(numbers["partitions"]))
    if name == "ObjectivePerturbation":
        name = str(numbers["noise"])
    if name not in RANDOMIZERS:
        raise Unknown(name)
    norm, parameter, kind = RANDOMIZERS[name]
    if said.norm != norm:
        raise ValueError(f"{name} noise needs a bound in {norm}, this one is in {said.norm}")
    strength = float(numbers[parameter])
    size = said.sensitivity * strength if parameter == "eta" else said.sensitivity / strength
    if name.endswith("NoisyMax") and numbers.get("candidates") in (1, 2):
        kind = BoundedRange  # with two candidates their difference is all that counts
    return ((kind(size), 1),)


RANDOMIZERS: Final[Mapping[str, tuple[str, str, type[LaplaceDP] | type[BoundedRange] | type[GDP]]]] = {
    **dict.fromkeys(("Laplace", "RobustLaplace"), ("l1", "scale", LaplaceDP)),
    **dict.fromkeys(("Gaussian", "RobustGaussian"), ("l2", "sigma", GDP)),
    "GammaNorm": ("l2", "scale", LaplaceDP),
    **dict.fromkeys(("Exponential", "WeightedExponential", "PrivateQuantile"), ("range", "eta", BoundedRange)),
    **dict.fromkeys(("NoisyMax", "WeightedNoisyMax", "PermuteAndFlip"), ("range", "eta", LaplaceDP)),
    "LeafLabels": ("l1", "eta", BoundedRange),
}
"""What a mechanism's noise asks for: the norm of the sensitivity, its parameter (η multiplies), the kind of cost."""

_KINDS: Final = {kind.__name__: kind for kind in (PureDP, LaplaceDP, BoundedRange, GDP, ZCDP)}


def _lanes(steps: str, partitions: int) -> Rounds:
    """A program over lanes costs what the steps of one lane cost, once for each partition."""
    found = [STEP.fullmatch(step) for step in steps.split(", ")]
    if not all(found):
        raise Unknown("lanes")
    return tuple((_KINDS[step[2]](float(step[3])), partitions * int(step[1])) for step in found if step)


def least_number(rounds: Rounds, kind: Kind) -> float:
    """The smallest ε, width, ρ or μ that one cost of this kind may name for all of that; ∞ for none.

    Raises ArithmeticError where that cannot be computed.
    """
    paid = [(cost, times) for cost, times in rounds if number_of(cost)]
    if not paid:
        return 0.0
    declared, delta = kind
    if declared is ZCDP:
        return math.fsum(times * _rho(cost) for cost, times in paid)
    if declared is ApproxDP:
        return _epsilon(paid[0][0], delta) if len(paid) == 1 == paid[0][1] else _composed(paid, delta)
    kinds = {type(cost) for cost, _ in paid}
    if declared is PureDP and kinds <= {PureDP, LaplaceDP, BoundedRange}:
        return math.fsum(times * number_of(cost) for cost, times in paid)
    if declared is LaplaceDP and kinds == {LaplaceDP}:
        return math.fsum(times * number_of(cost) for cost, times in paid)
    if declared is BoundedRange and kinds <= {PureDP, LaplaceDP, BoundedRange}:
        return math.fsum(
            times * number_of(cost) * (1.0 if isinstance(cost, BoundedRange) else 2.0) for cost, times in paid
        )
    if declared is GDP and kinds == {GDP}:
        return math.sqrt(math.fsum(times * number_of(cost) ** 2 for cost, times in paid))
    return math.inf


def least_sum(rule: Composition, summed: Mapping[Cost, int], prices: Mapping[ApproxDP, int]) -> tuple[float, float]:
    """What the rule must have added up at least, in its own unit, and Σδ; similar costs are taken together."""
    parts = peer_totals.Parts.of(dict(summed))
    delta = math.fsum(
        times * cost.delta for cost, times in (*summed.items(), *prices.items()) if isinstance(cost, ApproxDP)
    )
    # No smaller ρ or μ holds of a Gaussian on a sample than without one.
    sampled = math.fsum(times * mu * mu for (mu, _), times in parts.sampled)
    if isinstance(rule, BasicComposition):
        return parts.largest_loss + math.fsum(times * price.epsilon for price, times in prices.items()), delta
    if isinstance(rule, GDPComposition):
        return parts.mu**2 + sampled, delta
    rhos = [times * extreme_pairs.response_rho(epsilon) for epsilon, times in parts.pure]
    rhos += [times * extreme_pairs.laplace_rho(epsilon) for epsilon, times in parts.laplace]
    rhos += [times * extreme_pairs.range_rho(width) for width, times in parts.widths]
    rho = math.fsum(rhos) + 0.5 * (parts.mu**2 + sampled) + math.fsum(times * number for number, times in parts.rhos)
    rho += math.fsum(times * extreme_pairs.response_rho(price.epsilon) for price, times in prices.items())
    return (2.0 * rho if isinstance(rule, TextbookComposition) else rho), delta


def exactly_lost(parts: peer_totals.Parts, delta: float) -> float | None:
    """The ε at δ of mechanisms of these costs, where they come to a single one; None where they must be convolved.

    No grid, and so neither a smallest δ nor a largest spread.
    """
    alone = parts.alone
    return None if alone is None else _epsilon(alone, parts.room(delta))


def _composed(rounds: Sequence[tuple[Cost, int]], delta: float) -> float:
    parts = peer_totals.Parts.of(dict(rounds))
    exact = exactly_lost(parts, delta)
    return peer_totals.reached(parts, delta, peer_totals.renyi(parts, delta)[1]) if exact is None else exact


def _rho(cost: Cost) -> float:
    match cost:
        case PureDP(epsilon=epsilon):
            return extreme_pairs.response_rho(epsilon)
        case LaplaceDP(epsilon=epsilon):
            return extreme_pairs.laplace_rho(epsilon)
        case BoundedRange(epsilon=width):
            return extreme_pairs.range_rho(width)
        case GDP(mu=mu):
            return 0.5 * mu * mu
        case SubsampledGaussian():
            return 0.5 * cost.mu**2 if cost.sampling_rate else 0.0
        case ZCDP(rho=rho):
            return rho
        case _:
            return math.inf


def _epsilon(cost: Cost, delta: float) -> float:
    """The exact ε of the worst mechanism of this cost at δ."""
    number = number_of(cost)
    if isinstance(cost, GDP) and delta:
        highest = 0.5 * number**2 + number * math.sqrt(-2.0 * math.log(delta))
        return extreme_pairs.least_epsilon(lambda x: extreme_pairs.normal_profile(number, x), delta, highest)
    profile = _PROFILES.get(type(cost))
    if profile is None:
        return math.inf

    def at(losses: FloatArray) -> FloatArray:
        return profile(number, losses)

    return extreme_pairs.least_epsilon(at, delta, number) if delta else number


_PROFILES: Final[Mapping[type[Cost], Callable[[float, FloatArray], FloatArray]]] = {
    PureDP: extreme_pairs.response_profile,
    LaplaceDP: extreme_pairs.laplace_profile,
    BoundedRange: extreme_pairs.range_profile,
}


# --- entry by entry -----------------------------------------------------------------------------------------------


@attrs.define
class Recomputation:
    """Compares what was charged with what the mechanisms' parameters give; shown every record, then `finish`.

    checked, unknown: rounds that were compared, and those of mechanisms that nothing is known about, by name.
    mismatches: the first MOST_NAMED.  wrong: how many there are.
    """

    checked: int = 0
    unknown: Counter[str] = attrs.field(factory=Counter)
    mismatches: list[Mismatch] = attrs.field(factory=list)
    wrong: int = 0
    _open: dict[int, tuple[Plan, Description | None]] = attrs.field(factory=dict)
    _asked: dict[tuple[Description, Plan], tuple[Kind, float] | None] = attrs.field(factory=dict)
    _numbers: dict[tuple[Rounds, Kind], float | None] = attrs.field(factory=dict)

    def take(self, number: int, record: Record) -> None:
        """The next record."""
        match record:
            case Charged(plan=plan, mechanism=said):
                # What is announced for several rounds names them together, and is not compared.
                self._open[number] = plan, said if plan.rounds == 1 else None
            case Returned(charge=charge, rounds=rounds) if charge in self._open:
                plan, said = self._open.pop(charge)
                kept, _ = parted(plan, plan.rounds - rounds)
                if kept is not None:
                    self._open[charge] = kept, said
            case Released(charge=charge, used=used) if charge in self._open:
                plan, said = self._open.pop(charge)
                self._compare(charge, used or _once(said), plan)
            case _:
                pass

    def finish(self) -> None:
        """Compare what was charged and never released, where the entry says what it was for."""
        for number, (plan, said) in self._open.items():
            self._compare(number, _once(said), plan)
        self._open.clear()

    def _compare(self, entry: int, used: Iterable[tuple[Description, int]], plan: Plan) -> None:
        """Each drawn mechanism needs a round of the plan that pays for it, and no round pays twice."""
        wanted: dict[Kind, list[tuple[float, int, Description]]] = {}
        for said, rounds in used:
            found = self._needs(said, plan)
            if found is None:
                self.unknown[said.mechanism] += rounds
                continue
            self.checked += rounds
            wanted.setdefault(found[0], []).append((found[1], rounds, said))
        for kind, needs in wanted.items():
            paid = [(number_of(step.cost), step.rounds) for step in plan.steps if kind_of(step.cost) == kind]
            self._cover(entry, sorted(needs, key=lambda need: -need[0]), paid, kind)

    def _least(self, said: Description) -> Rounds | str | None:
        """What it costs at least; a text for parameters that make no sense, None where nothing is known."""
        try:
            return least_rounds(said)
        except Unknown:
            return None
        except (KeyError, TypeError, ValueError, ArithmeticError) as error:
            return f"nothing that makes sense ({type(error).__name__}: {error})"

    def _needs(self, said: Description, plan: Plan) -> tuple[Kind, float] | None:
        """The kind of cost in the plan that is to pay, the mechanism's own before others, and the number it needs."""
        try:
            if (said, plan) not in self._asked:
                if len(self._asked) >= MOST_KEPT:  # a ledger in which every charge is another
                    self._asked.clear()
                self._asked[said, plan] = self._ask(said, plan)
        except TypeError:  # parameters that are no numbers and texts
            return self._ask(said, plan)
        return self._asked[said, plan]

    def _ask(self, said: Description, plan: Plan) -> tuple[Kind, float] | None:
        least = self._least(said)
        if least is None:
            return None
        kinds = sorted({kind_of(step.cost) for step in plan.steps}, key=str)
        if isinstance(least, str):
            return kinds[0], math.inf
        own = kind_of(least[0][0])
        kinds = [own] if own in kinds else kinds
        found = [(kind, number) for kind in kinds if (number := self._number(least, kind)) is not None]
        return min(found, key=lambda each: each[1]) if found else None

    def _number(self, least: Rounds, kind: Kind) -> float | None:
        if (least, kind) not in self._numbers:
            if len(self._numbers) >= MOST_KEPT:
                self._numbers.clear()
            try:
                self._numbers[least, kind] = least_number(least, kind)
            except ArithmeticError:
                self._numbers[least, kind] = None
        return self._numbers[least, kind]

    def _cover(
        self, entry: int, needs: Sequence[tuple[float, int, Description]], paid: Sequence[tuple[float, int]], kind: Kind
    ) -> None:
        """needs: largest first. As many rounds as ask for at least a number must be paid at least that."""
        asked = 0
        for number, rounds, said in needs:
            asked += rounds
            short = [value for value, _ in paid if number > value * (1.0 + ROUNDING)]
            missing = asked - sum(times for value, times in paid if value not in short)
            if missing > 0:
                self.wrong += 1
                if len(self.mismatches) < MOST_NAMED:
                    declared = _text(kind, max(short, default=0.0))
                    name = f"{said.mechanism}({said.query})"
                    self.mismatches.append(
                        Mismatch(entry, name, min(rounds, missing), declared, self._says(said, kind, number))
                    )
                return

    def _says(self, said: Description, kind: Kind, number: float) -> str:
        if math.isfinite(number):
            return _text(kind, number)
        least = self._least(said)
        return least if isinstance(least, str) else f"{', '.join(f'{n} x {cost!r}' for cost, n in least or ())}"


def _once(said: Description | None) -> tuple[tuple[Description, int], ...]:
    return () if said is None else ((said, 1),)


def kind_of(cost: Cost) -> Kind:
    """Its kind, with its δ, or its sampling rate."""
    if isinstance(cost, SubsampledGaussian):
        return SubsampledGaussian, cost.sampling_rate
    return type(cost), cost.delta if isinstance(cost, ApproxDP) else 0.0


def number_of(cost: Cost) -> float:
    """Its ε, width, ρ or μ; ∞ for none. Of a Gaussian on a sample its μ, to be compared at one rate."""
    match cost:
        case GDP(mu=number) | ZCDP(rho=number) | SubsampledGaussian(mu=number):
            return number
        case (
            PureDP(epsilon=number) | LaplaceDP(epsilon=number) | BoundedRange(epsilon=number) | ApproxDP(epsilon=number)
        ):
            return number
        case Unbounded():
            return math.inf


_NAMES: Final = {
    PureDP: "ε",
    LaplaceDP: "Laplace ε",
    ApproxDP: "ε",
    BoundedRange: "a range of",
    GDP: "μ",
    SubsampledGaussian: "μ on a sample",
    ZCDP: "ρ",
}


def _text(kind: Kind, number: float) -> str:
    at = "at rate" if kind[0] is SubsampledGaussian else "at δ"
    return f"{_NAMES[kind[0]]} {number:.6g}" + (f" {at} {kind[1]:g}" if kind[1] else "")
