"""Gradient boosting on public partitions: no split is ever chosen, so every bit of budget goes into the leaves.

Each round takes one column, cuts it into bins that depend on nothing but what was released before, releases the noisy
gradient and curvature of *all* its bins at once, and moves the column's effect by a Kalman-filtered Newton step. All
rounds are Gaussian with one cost, so they compose exactly.
"""

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Final

import attrs
import numpy as np
import numpy.typing as npt

from accountant import Description, Plan, Protected, Step
from accountant.arrays import FloatArray, IntArray
from accountant.costs import count, positive, probability_below_one
from boosting import Spender
from learners.additive.additive_model import SLOPE, AdditiveModel, Term
from learners.additive.averages import Averages, mean_release
from learners.additive.curvatures import Shares, Total
from learners.additive.grids import STAGES, followed_grids, measured
from learners.additive.interactions import (
    PAIR_SHARE,
    cells_per_column,
    chosen_pairs,
    most_pairs,
    pair_rounds,
    pair_views,
    pays,
    repeats,
    with_pure_pairs,
)
from learners.additive.monotone import in_bins, monotone
from learners.additive.posteriors import Effect, deviations
from learners.additive.round_bins import FIRST_BINS, round_bins
from learners.additive.scored_records import Records, Scored, partitioned, score_bins
from learners.additive.views import View, pair_columns, views
from learners.base import BinCounts, Calibrator, Progress, log_odds_edges
from learners.tables import Schema
from mechanisms.additive import GaussianNoise
from mechanisms.core import L2Sensitivity, Mechanism, PlainMechanism
from mechanisms.gradients import CURVATURE_SCALE, SCORE_UNIT, ScoredCells, ScoredRows, gradient_query
from mechanisms.queries import HistogramRows, Neighbours, histogram_rows_query
from mechanisms.randomness import NoiseSource

ROUNDS_PER_COLUMN: Final = 8
"""On average."""

EVEN_TURNS: Final = 3
"""Rounds per column in which all columns take turns; later ones prefer columns with large effects."""

EVEN_SHARE: Final = 0.7
"""Of the later rounds, the share that is still spread evenly."""

PRIOR_VARIANCE: Final = 7.0
"""A priori variance of a record's log-odds, shared evenly by the columns."""

HISTOGRAM_SHARE: Final = 0.03
"""Share of the budget (of the sum of squared μ) for the histograms that the grids follow, all together."""

DRIFT: Final = 0.2
"""How far a column's optimum is taken to have moved, as a share of how far the others moved."""

MOST_EFFECT: Final = 64.0
"""Effects beyond it count as that, in nats, so that the scores of thousands of columns are no overflow."""

UNCLIPPED: Final = 0.7
"""How much of the curvature is taken for the clipped loss's, which is flat where gradients are clipped."""

GradientRelease = PlainMechanism[ScoredCells | ScoredRows, FloatArray, L2Sensitivity, FloatArray]
Counter = PlainMechanism[HistogramRows, FloatArray, L2Sensitivity, FloatArray]


@attrs.frozen(slots=False)
class AdditiveDesign:
    """What a fit will release, fixed before it starts. Everything here is public.

    classes: K >= 2.  rounds_per_column: and per pair, on average.  pairs: columns to be looked at together.
    calibration: share of the budget for a last histogram of scores by label; for two classes.
    directions: of each column's effect, see `learners.additive.monotone.directions`; () leaves all free.
    paired: whether columns whose effects are large are also looked at in pairs, see `learners.additive.interactions`.
    Raises ValueError for a pair that the schema lacks, or that has too many cells.
    """

    schema: Schema
    adjacency: Neighbours
    classes: int
    noise: NoiseSource
    rounds_per_column: int = attrs.field(default=ROUNDS_PER_COLUMN, converter=count)
    pairs: tuple[tuple[str, str], ...] = ()
    calibration: float = attrs.field(default=0.0, converter=probability_below_one)
    directions: tuple[int, ...] = ()
    paired: bool = False

    def __attrs_post_init__(self) -> None:
        if self.calibration and self.classes > 2:
            raise ValueError("calibration: for two classes only")
        for pair in self.pairs:
            pair_columns(self.schema, pair)

    @property
    def views(self) -> int:
        """Columns and pairs."""
        return len(self.schema.columns) + len(self.pairs)

    @cached_property
    def _measured(self) -> int:
        return len(measured(self.schema))

    @property
    def rounds(self) -> int:
        """Releases of gradients."""
        return self.views * self.rounds_per_column * self.repeats

    @cached_property
    def repeats(self) -> int:
        """How often each of them is made where pairs are not looked at; 1 where none may be chosen."""
        may = self.paired and not self.pairs and most_pairs(self.schema, self.directions) > 0
        return repeats(self.schema, self.rounds_per_column, self.directions) if may else 1

    @cached_property
    def unpaired(self) -> int:
        """The round in which pairs are chosen, 0-based, where they are."""
        further = pair_rounds(self.schema, self.rounds_per_column, self.directions)
        return max(self.views, int((1.0 - PAIR_SHARE) * (self.rounds - self.repeats - further)))

    def gradients(self, eta: float) -> GradientRelease:
        """The release of a round. eta: 1/σ, positive."""
        query = gradient_query(self.adjacency, self.classes)
        return PlainMechanism(query, GaussianNoise(1.0 / positive(eta)), self.noise)

    def histograms(self, eta: float) -> Counter | None:
        """The releases before the first round, STAGES alike; None where no grid needs them."""
        if self._measured == 0:
            return None
        query = histogram_rows_query(self.adjacency, self._measured)
        ratio = query.sensitivity.value / gradient_query(self.adjacency, self.classes).sensitivity.value
        odds = HISTOGRAM_SHARE / (1.0 - HISTOGRAM_SHARE) / STAGES
        return PlainMechanism(query, GaussianNoise(ratio / (eta * math.sqrt(self.rounds * odds))), self.noise)

    @cached_property
    def calibrator(self) -> Calibrator | None:
        """What the last release is, if any."""
        if not self.calibration:
            return None
        return Calibrator(self.calibration, log_odds_edges(), 1.0, self.adjacency, True, self.noise)

    def boosting(self, eta: float) -> Plan:
        """The cost of histograms and rounds."""
        first = self.histograms(eta)
        steps = [] if first is None else [Step(first.cost, STAGES)]
        return Plan((*steps, Step(self.gradients(eta).cost, self.rounds)))

    def plan(self, eta: float) -> Plan:
        """The cost of everything."""
        boosting = self.boosting(eta)
        return boosting if self.calibrator is None else self.calibrator.added(boosting)

    def announced(self, eta: float) -> Description:
        """What the entry says before the first release: every query of the plan, with its noise."""
        others = [(mechanism.description, times) for mechanism, times in self._others(eta)]
        rounds = self.gradients(eta).description
        queries = [f"{rounds.query} x {self.rounds}", *(f"{other.query} x {times}" for other, times in others)]
        noise = [(f"sigma of {other.query}", dict(other.parameters)["sigma"]) for other, _ in others]
        return attrs.evolve(
            rounds,
            query=", ".join(queries),
            parameters=(*rounds.parameters, *noise),
            claims=tuple(dict.fromkeys([*rounds.claims, *(claim for other, _ in others for claim in other.claims)])),
        )

    def _others(self, eta: float) -> Iterator[tuple[Counter | Mechanism[BinCounts, FloatArray], int]]:
        """And how often each is made."""
        first = self.histograms(eta)
        if first is not None:
            yield first, STAGES
        if self.calibrator is not None:
            yield self.calibrator.mechanism(self.boosting(eta)), 1


@attrs.define(eq=False)
class Column:
    """What is known of one view: a posterior per class, and the tables that the records were scored with.

    weight: share of the records or of the curvature per cell, as last known.  shares: of the curvature, class by class.
    energy: variance of its effect.
    direction: 1 where the effect must rise, −1 where fall.  last: the number of its last round.
    """

    view: View
    effects: list[Effect]
    table: npt.NDArray[np.int32]
    weight: FloatArray
    shares: Shares
    direction: int = 0
    energy: float = 0.0
    last: int = -1

    @staticmethod
    def start(view: View, classes: int, prior: float, direction: int = 0) -> "Column":
        """Before any release."""
        heads = 1 if classes == 2 else classes
        shape = (view.number,) if heads == 1 else (view.number, heads)
        even = np.full(view.number, 1.0 / view.number) if view.mass is None else view.mass
        effects, table = [view.effect(prior) for _ in range(heads)], np.zeros(shape, dtype=np.int32)
        return Column(view, effects, table, even, Shares.start(even, heads, told=view.mass is not None), direction)

    def learn(self, part: IntArray, sums: FloatArray, sigma: float, drift: float, total: Total) -> tuple[float, float]:
        """Take in one release. sums: shape (bins, 2) or (bins, K, 2).  sigma: its noise.  drift: variance.

        total: the curvature of all records, which learns of it, too.
        Returns how far the effect moved, as variance in nats squared without the noise's part, so that it may be below
        0, and the curvature.
        """
        heads = sums.reshape(sums.shape[0], -1, 2)
        seen, variance = heads[..., 1] / CURVATURE_SCALE, (sigma / CURVATURE_SCALE) ** 2
        total.observe(seen.sum(axis=0), len(seen) * variance)
        curvatures = UNCLIPPED * self.shares.learn(part, seen, total.known(), variance)
        moved, energy = 0.0, 0.0
        for head, effect in enumerate(self.effects):
            curvature = curvatures[:, head]
            weight = curvature / curvature.sum()
            effect.drift(drift)
            noise = (sigma / curvature) ** 2 + 1.0 / curvature
            step = heads[:, head, 0] / curvature
            if self.direction:
                # The step starts from what the records were scored with, which is not the posterior's mean.
                step = step + in_bins(self.table * SCORE_UNIT - effect.mean, self.weight, part)
            change, unsure = effect.update(part, step, noise)
            moved += float(weight @ (change**2 - unsure))
            energy += effect.spread(part, weight)
        self.energy = energy / len(self.effects)
        if not self.view.ordered:
            self.weight = (curvatures / curvatures.sum(axis=0)).mean(axis=1)
        return moved / len(self.effects), float(seen.sum()) / len(self.effects)

    def rounded(self) -> npt.NDArray[np.int32]:
        """The posterior means, those next to them that keep the order, in whole SCORE_UNITs, shaped as `table`."""
        means = np.stack([effect.mean for effect in self.effects], axis=-1).reshape(self.table.shape)
        if self.direction:
            means = monotone(means, self.weight, self.direction, self.view.own)
        return np.rint(np.clip(means, -MOST_EFFECT, MOST_EFFECT) / SCORE_UNIT).astype(np.int32)


@attrs.define(eq=False)
class Schedule:
    """Which view comes next, and how far the others moved since it had its turn.

    credit: of rounds, per view.  even: rounds in which all take turns.  moved, carried: how far each round moved its
    view, and the curvature that it saw.  waiting: views before all others.
    """

    columns: list[Column]
    credit: FloatArray
    even: int
    moved: list[float] = attrs.Factory(list)
    carried: list[float] = attrs.Factory(list)
    waiting: list[Column] = attrs.Factory(list)

    @staticmethod
    def of(columns: list[Column]) -> "Schedule":
        """Before the first round."""
        return Schedule(columns, np.zeros(len(columns)), EVEN_TURNS * len(columns))

    def admit(self, columns: list[Column]) -> None:
        """Further views, which have their first rounds next."""
        self.columns = [*self.columns, *columns]
        self.credit, self.even, self.waiting = np.zeros(len(self.columns)), 0, list(columns)

    def next(self, number: int) -> Column:
        """The view of round `number`, 0-based: in turn at first, then more often where effects are large."""
        views = len(self.columns)
        if self.waiting:
            return self.waiting.pop(0)
        if number < self.even:
            return self.columns[number % views]
        energy = np.sqrt(np.maximum([column.energy for column in self.columns], 0.0))
        share = energy / energy.sum() if energy.sum() > 0.0 else np.full(views, 1.0 / views)
        self.credit += EVEN_SHARE / views + (1.0 - EVEN_SHARE) * share
        chosen = int(np.argmax(self.credit))
        self.credit[chosen] -= 1.0
        return self.columns[chosen]

    def drift(self, column: Column) -> float:
        """Variance to allow for before the column's update. Moves that were noise cancel in the sum."""
        return DRIFT * max(0.0, sum(self.moved[column.last + 1 :]))


def boost_additively(
    sample: Protected[Records], design: AdditiveDesign, eta: float, spender: Spender, on_round: Progress | None
) -> AdditiveModel:
    """Release what the design says with noise 1/eta, and put it together. Everything kept is post-processing."""
    coins = np.random.default_rng(np.packbits(design.noise.bits(64)).tolist())
    seen = _views(sample, design, eta, spender)
    prior, free = PRIOR_VARIANCE / len(seen), (0,) * len(seen)
    held = zip(seen, design.directions + free, strict=False)  # pairs come last, and are free
    columns = [Column.start(view, design.classes, prior, direction) for view, direction in held]
    schedule, mechanism = Schedule.of(columns), design.gradients(eta)
    state = sample.map(lambda records: Scored.start(records, design.classes))
    turns, often = design.views * design.rounds_per_column, design.repeats
    averaged, total = Averages.of(turns, columns), Total()
    carried, number, told = FIRST_BINS, 0, 0
    while number < turns:
        if often < design.repeats and number == design.unpaired:
            columns = _with_pairs(schedule, design, prior, eta)
            averaged = Averages.of(turns, columns, number)
        column = schedule.next(number)
        part = round_bins(column.view, carried, coins)
        released = mean_release(spender, mechanism, _binned(state, column.view, part), often, told, on_round)
        clear = eta * math.sqrt(often)
        moved, curvature = column.learn(part, released, 1.0 / clear, schedule.drift(column), total)
        carried = curvature * clear
        schedule.moved.append(moved)
        schedule.carried.append(curvature)
        column.last = number
        state = _moved(state, column)
        averaged.add(number)
        number, told = number + 1, told + often
        if number == 1 and often > 1 and _pays(curvature, part, design, eta):
            # Each of the other releases is a turn of its own.
            turns, often = 1 + design.rounds - often, 1
            averaged = Averages.of(turns, columns, turns)
    model = _model(design.schema, columns, averaged.means())
    return model if design.calibrator is None else _calibrated(model, sample, design, eta, spender)


def _pays(curvature: float, part: IntArray, design: AdditiveDesign, eta: float) -> bool:
    """Whether pairs are worth their rounds. curvature: as first released, in these bins; the mean over classes."""
    whole = eta * math.sqrt(design.rounds)
    heads = 1 if design.classes == 2 else design.classes
    deviation = math.sqrt((int(part.max()) + 1) / (heads * design.repeats)) / (CURVATURE_SCALE * eta)
    return pays(curvature * whole, deviation * whole)


def _calibrated(
    model: AdditiveModel, sample: Protected[Records], design: AdditiveDesign, eta: float, spender: Spender
) -> AdditiveModel:
    calibrator = design.calibrator
    assert calibrator is not None
    counted = sample.map(lambda records: score_bins(records, model, calibrator.edges))
    return model.calibrated(calibrator.release(spender, design.boosting(eta), counted))


def _with_pairs(schedule: Schedule, design: AdditiveDesign, prior: float, eta: float) -> list[Column]:
    """The columns, and the pairs of those that matter most. Post-processing."""
    single = schedule.columns[: len(design.schema.columns)]
    carried = float(np.mean(schedule.carried[-design.views :])) * eta * math.sqrt(design.rounds)
    pairs = chosen_pairs(design.schema, [column.energy for column in single], design.directions)
    seen, weights = [column.view for column in single], [column.weight for column in single]
    coarse = pair_views(seen, weights, pairs, prior, cells_per_column(carried))
    schedule.admit([Column.start(view, design.classes, prior) for view in coarse])
    return schedule.columns


def _views(sample: Protected[Records], design: AdditiveDesign, eta: float, spender: Spender) -> list[View]:
    counter, schema = design.histograms(eta), design.schema
    if counter is None:
        return views(schema, None, design.pairs)
    assert isinstance(counter.randomizer, GaussianNoise)
    sigma, columns = counter.randomizer.sigma, measured(schema)

    def count(parts: list[IntArray]) -> FloatArray:
        return spender.release(counter, sample.map(lambda records: partitioned(records, columns, parts)))

    whole = 1.0 / (eta * math.sqrt(design.rounds) * design.gradients(eta).query.sensitivity.value)
    return views(schema, followed_grids(schema, count, sigma, 1.0 / eta, whole), design.pairs)


def _binned(state: Protected[Scored], view: View, part: IntArray) -> Protected[ScoredCells | ScoredRows]:
    return state.map(lambda scored: scored.binned(view, part))


def _moved(state: Protected[Scored], column: Column) -> Protected[Scored]:
    """Scores after the column's new table."""
    table = column.rounded()
    change, column.table = table - column.table, table
    return state.map(lambda scored: scored.moved(column.view, change))


def _model(schema: Schema, columns: list[Column], tables: list[FloatArray]) -> AdditiveModel:
    """Effects centred by what is known of the cells' shares, the rest in the intercept."""
    tables = with_pure_pairs([each.view for each in columns], tables, [each.weight for each in columns])
    intercept = np.zeros(tables[0].shape[1:])
    terms = []
    for column, table in zip(columns, tables, strict=True):
        centre = column.weight @ table
        intercept = intercept + centre
        values = (table - centre).reshape(*column.view.shape, *intercept.shape)
        unsure = deviations(column.effects).reshape(values.shape)
        terms.append(Term(column.view.columns, column.view.maps, values, unsure))
    return AdditiveModel(schema, np.asarray(intercept), terms, slope=SLOPE)
