"""`check_one_run`: a lower bound on what one fit of an estimator loses, from canaries in that very fit."""

import math
import time
import warnings
from typing import Any, Final, Literal, TypeAlias

import attrs
import numpy as np

from accountant import GDP, AddRemoveOne, Adjacency, ApproxDP, Cost, Ledger, Plan, PureDP, ReplaceOne, Step
from accountant.arrays import FloatArray
from accountant.costs import gaussian
from accountant.costs.converters import open_probability
from accountant.entries import Charged, decode
from mechanisms.randomness import noise_source
from proofs_tests.harness.one_run.bounds import ALTERNATIVES, family_of, lower_bound, smallest_factor, usual_guesses
from proofs_tests.harness.one_run.canaries import Canaries, Coins, as_columns, corner_canaries
from proofs_tests.harness.one_run.released import Listening, NotReleased, Release, Replaying
from proofs_tests.harness.one_run.scores import CanaryScore, Seen, black_box, white_box
from proofs_tests.harness.one_run.tails import Counts
from proofs_tests.harness.power import POWER
from proofs_tests.harness.report import Report, judged

View: TypeAlias = Literal["black-box", "white-box"]

CONFIDENCE: Final = 0.95
"""Of one bound: one run in twenty may prove too much, and with it refute a claim that holds."""

STREAM: Final = 0xC019_5EED
"""Sets coins apart from everything else that is drawn from the same seed."""

USUAL_DELTA: Final = 1e-6
"""Where neither the claim nor the estimator says at which δ an ε is to be read."""


@attrs.frozen
class OneRunAudit:
    """What one fit shows.

    report: claimed against proved, in the claim's own currency.  lower: the largest cost of that kind that is refuted,
    None where none is.  charged: the claim.  epsilon, charged_epsilon: both at `delta`.  score: how canaries were seen.
    canaries, guesses, correct: m, k and c.
    """

    report: Report
    charged: Cost
    lower: Cost | None
    delta: float
    epsilon: float
    charged_epsilon: float
    score: str
    canaries: int
    guesses: int
    correct: int

    @property
    def ratio(self) -> float:
        """Proved over charged ε at the same δ."""
        return self.epsilon / self.charged_epsilon if self.charged_epsilon else math.inf if self.epsilon else 0.0

    @property
    def mu(self) -> float | None:
        """The lower bound on μ where the claim is one of Gaussian differential privacy."""
        return None if not isinstance(self.charged, GDP) else self.lower.mu if isinstance(self.lower, GDP) else 0.0

    @property
    def refuted(self) -> bool:
        """Whether more is proved than was charged."""
        return self.report.refuted

    def __str__(self) -> str:
        return (
            f"{self.report.subject}: ε >= {self.epsilon:.4g} of {self.charged_epsilon:.4g} at δ = {self.delta:g}, "
            f"ratio {self.ratio:.3f}, {self.score}, {self.correct} of {self.guesses} guesses right, "
            f"{self.canaries} canaries"
        )


def check_one_run(
    estimator: Any,
    X: object = None,
    y: object = None,
    *,
    canaries: Canaries | int,
    claimed: Cost | None = None,
    adjacency: Adjacency | None = None,
    confidence: float = CONFIDENCE,
    guesses: int | None = None,
    score: View | CanaryScore | None = None,
    random_state: int | np.random.Generator | None = None,
) -> OneRunAudit:
    """A lower bound on what one fit loses, from canaries whose coins are guessed; refuted where it is above the claim.

    Each canary is in the data or not by a fair coin of its own (add-remove-one), or is one of two records by such a
    coin (replace-one). Canaries are scored, the coins of the highest and of as many of the lowest scores are guessed,
    and nothing that keeps a smaller cost gets that many guesses right. [one-run] [one-run-delta] [one-run-curve]

    estimator: with `fit(X, y)` and parameters as scikit-learn's; a copy of it is fitted once, and charges what one fit
      is charged. One of ours, or any other whose predictions are looked at, with `claimed` and `adjacency`.
    X, y: further records, whatever they are, or None.
    canaries: `Canaries`, or how many `corner_canaries` of an estimator's own domain.
    claimed: PureDP, ApproxDP or GDP; None is what the fit's ledger was charged: GDP where all releases are Gaussian.
    adjacency: of the claim; None is the ledger's.  confidence: of the bound, in (0, 1).
    guesses: how many, even, chosen before the fit; None is what would prove most if the claim was tight.
    score: "white-box" looks at the releases, which must be all that the estimator draws; "black-box" at predictions; or
      a function of what is seen, such as `along(directions)`. None is white-box for estimators of ours that allow it.
    random_state: of the coins; the estimator's own says what its noise is.
    Returns what was found. Raises ClaimViolated where more is proved than claimed; ValueError for canaries that do not
    go with the adjacency, before the fit where the estimator says it; NotReleased for white-box scores of what need
    not be released.
    """
    started = time.perf_counter()
    chance = 1.0 - open_probability(confidence)
    given = _canaries(estimator, canaries, adjacency)
    if guesses is not None:
        _refuse_odd(guesses, given.number)
    if claimed is not None:
        family_of(claimed)
    data = None if X is None else as_columns(X), None if y is None else np.asarray(y)
    coins = drawn_coins(given.number, random_state)
    run = _Run(estimator, given, data)
    if not run.ours and (claimed is None or adjacency is None):
        raise ValueError("claimed, adjacency: this estimator has no ledger that says them; name both")
    if not run.ours and score == "white-box":
        raise ValueError("score: white-box scores need an estimator of ours, which says what it releases")
    # nothing below depends on the coins but through what the fit releases
    run.fit(coins)
    if run.ours and (claimed is None or adjacency is None):
        _refuse_other_relation(run.adjacency, given)
    charged = run.charged if claimed is None else claimed
    number = usual_guesses(given.number, charged, confidence) if guesses is None else guesses
    scores, name = run.scored(score)
    counts = Counts(given.number, number, _right(scores, coins, number))
    return _judged(type(estimator).__name__, counts, charged, run.delta(charged), chance, name, started)


def drawn_coins(number: int, random_state: int | np.random.Generator | None) -> Coins:
    """Fair coins, shape (number,). A seed starts a stream of their own: an estimator or canaries made with the same one
    must have nothing to do with them. So does what a generator draws, or `default_rng(0)` would give the labels of
    `corner_canaries` once more, and a fit that says one label always would guess every coin."""
    if isinstance(random_state, np.random.Generator):
        random_state = int.from_bytes(random_state.bytes(16), "big")
    sequence = np.random.SeedSequence(random_state, spawn_key=(STREAM,))
    return np.random.Generator(np.random.PCG64(sequence)).integers(0, 2, number).astype(bool)


def _refuse_odd(guesses: int, canaries: int) -> None:
    if guesses % 2 or not 2 <= guesses <= canaries:
        raise ValueError(f"guesses: expected an even number from 2 to {canaries}, that of canaries, got {guesses}")


def _canaries(estimator: Any, canaries: Canaries | int, adjacency: Adjacency | None) -> Canaries:
    found = canaries
    if not isinstance(found, Canaries):
        schema = getattr(estimator, "schema", None)
        if schema is None or not hasattr(schema, "columns"):
            raise ValueError("canaries: this estimator has no schema to make them from; give Canaries(X, y, …)")
        named = getattr(estimator, "adjacency", "replace-one") if adjacency is None else None
        replaced = adjacency == ReplaceOne() or named == "replace-one"
        labels = (0, 1) if schema.label is None else schema.label.classes
        found = corner_canaries(schema, found, labels, replaced=replaced)
    for relation in (adjacency, _promised(estimator)):
        if relation is not None:
            _refuse_other_relation(relation, found)
    return found


def _promised(estimator: Any) -> Adjacency | None:
    """What an estimator of ours says before a fit, if it does."""
    ledger = getattr(estimator, "ledger", None)
    if isinstance(ledger, Ledger):
        return ledger.adjacency
    named: dict[object, Adjacency] = {"add-remove-one": AddRemoveOne(), "replace-one": ReplaceOne()}
    return named.get(getattr(estimator, "adjacency", None))


def _refuse_other_relation(relation: Adjacency, canaries: Canaries) -> None:
    if relation == AddRemoveOne() and canaries.replaced:
        raise ValueError(
            "canaries: under add-remove-one adjacency two records are two steps apart; leave out other_X and other_y"
        )
    if relation == ReplaceOne() and not canaries.replaced:
        raise ValueError(
            "canaries: under replace-one adjacency the number of records is public; say what else is in their place, "
            "by other_y or other_X"
        )
    if relation not in (AddRemoveOne(), ReplaceOne()):
        raise ValueError(f"adjacency: coins of whole records say nothing about {relation}")


def _right(scores: FloatArray, coins: Coins, guesses: int) -> int:
    """How many guesses are right: of half of them, the highest scores, that the coin is up; of the lowest, down."""
    order = np.argsort(np.nan_to_num(scores), kind="stable")
    half = guesses // 2
    return int(np.sum(coins[order[-half:]])) + int(np.sum(~coins[order[:half]]))


def _judged(
    subject: str, counts: Counts, charged: Cost, delta: float, chance: float, score: str, started: float
) -> OneRunAudit:
    family = family_of(charged)
    found = lower_bound(counts, family, chance)
    lower = family(found) if found else None
    quantity, bound = (
        ("μ", charged.mu) if isinstance(charged, GDP) else (f"ε at δ = {delta:g}", _epsilon(charged, delta))
    )
    factor = smallest_factor(counts.canaries, counts.guesses, charged, chance)
    report = Report(
        f"{subject}, one run",
        repr(charged),
        quantity,
        bound,
        found,
        "statistical",
        f"{counts.correct} of {counts.guesses} guesses right about {counts.canaries} canaries, {score}",
        counts.canaries,
        time.perf_counter() - started,
        factor,
        None if factor is None else POWER,
        1.0 - chance,
        ALTERNATIVES,
    )
    epsilon = 0.0 if lower is None else _epsilon(lower, delta)
    numbers = counts.canaries, counts.guesses, counts.correct
    judged(report)
    return OneRunAudit(report, charged, lower, delta, epsilon, _epsilon(charged, delta), score, *numbers)


def _epsilon(cost: Cost, delta: float) -> float:
    match cost:
        case GDP(mu=mu):
            return gaussian.epsilon(mu, delta) if mu else 0.0
        case PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon):
            return epsilon
        case _:
            return math.nan


@attrs.define(eq=False)
class _Run:
    """One fit, and replays of it."""

    estimator: Any
    canaries: Canaries
    data: tuple[Any, Any]
    fitted: Any = None
    releases: list[Release] = attrs.field(factory=list)

    def _copy(self, **changed: object) -> Any:
        """Not a clone, which counts as one more fit of the same estimator."""
        return type(self.estimator)(**{**self.estimator.get_params(deep=False), **changed})

    @property
    def ours(self) -> bool:
        """Whether it draws through a noise source that can be listened to, and says what it was charged."""
        return hasattr(self.estimator, "_plan") and hasattr(self.estimator, "ledger")

    def fit(self, coins: Coins) -> None:
        """The one fit."""
        model = self._copy()
        if self.ours:
            listening = Listening(noise_source(self.estimator.random_state, self.estimator.ledger))
            model = self._copy(random_state=listening)
            self.releases = listening.releases
        self.fitted = model.fit(*self.canaries.data(*self.data, coins))

    def replay(self, coins: Coins) -> list[FloatArray]:
        """What would have been noised in a fit on these coins with the same outputs; nobody's ledger is charged."""
        source = Replaying(self.releases)
        ledger = self.estimator.ledger
        if isinstance(ledger, str):
            raise ValueError("ledger: a replay needs one in memory to be planned with; give a Ledger, or none")
        own = (
            None
            if ledger is None
            else Ledger(ledger.budget, composition=ledger.composition, adjacency=ledger.adjacency)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._copy(random_state=source, ledger=own).fit(*self.canaries.data(*self.data, coins))
        return source.values

    def scored(self, score: View | CanaryScore | None) -> tuple[FloatArray, str]:
        """Scores, shape (m,), and how they were made."""
        seen = Seen(self.fitted, self.canaries, tuple(self.releases), self.replay)
        if callable(score):
            return np.asarray(score(seen), dtype=np.float64), getattr(score, "__name__", "score of its own")
        if score == "black-box" or (score is None and not self.ours):
            return black_box(seen), "black-box"
        refused = getattr(self.estimator, "tune", None) is not None
        try:
            if refused:
                raise NotReleased("tune: what the settings that were not chosen released is hidden; take 'black-box'")
            return white_box(seen), "white-box"
        except NotReleased:
            if score is not None:
                raise
            return black_box(seen), "black-box"

    # --- the claim ---------------------------------------------------------------------------------------

    @property
    def adjacency(self) -> Adjacency:
        """Of the ledger."""
        relation: Adjacency = self.fitted.ledger_.adjacency
        return relation

    @property
    def charged(self) -> PureDP | ApproxDP | GDP:
        """What the fit was charged: the μ of all its releases where they are Gaussian, else its price."""
        records = self._charges()
        steps = [step for record in records for step in record.plan.steps]
        if all(isinstance(step.cost, GDP) for step in steps):
            return GDP(_together(steps))
        spent = self.fitted.ledger_.spent
        if self.estimator.ledger is None and isinstance(spent, PureDP | ApproxDP):
            return spent
        return Plan(tuple(steps)).price(float(self.estimator.delta)).best

    def _charges(self) -> list[Charged]:
        ledger = self.fitted.ledger_
        own = None if self.estimator.ledger is None else {receipt.number for receipt in self.fitted.receipts_}
        entries = [entry for entry in ledger.entries if own is None or entry.number in own]
        return [record for record in map(decode, entries) if isinstance(record, Charged)]

    def delta(self, charged: Cost) -> float:
        """Where ε is read."""
        if isinstance(charged, ApproxDP):
            return charged.delta
        return 0.0 if isinstance(charged, PureDP) else float(getattr(self.estimator, "delta", 0.0) or USUAL_DELTA)


def _together(steps: list[Step]) -> float:
    return math.hypot(*(step.cost.mu * math.sqrt(step.rounds) for step in steps if isinstance(step.cost, GDP)))
