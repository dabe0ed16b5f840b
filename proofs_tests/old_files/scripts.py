"""What happens on ledgers: charges of every kind of cost and mechanism, in the same order whenever they are made."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, Final, TypeAlias

import attrs
import numpy as np

from proofs_tests.old_files.doors import (
    GDP,
    ZCDP,
    AddRemoveOne,
    Adjacency,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Budget,
    BudgetExceeded,
    Candidates,
    Composition,
    Cost,
    Description,
    ExponentialChoice,
    FeatureValue,
    FeatureValues,
    GammaNorm,
    GammaNormNoise,
    GaussianNoise,
    GDPComposition,
    L1Sensitivity,
    L2Sensitivity,
    LaplaceDP,
    LaplaceNoise,
    LazyBoostClassifier,
    Ledger,
    NoBound,
    NoisyMaxChoice,
    PermuteAndFlip,
    PermuteAndFlipChoice,
    PlainMechanism,
    PlainSelection,
    Plan,
    PoissonStopping,
    PrivateQuantiles,
    PrivateSelection,
    PureDP,
    Query,
    RangeSensitivity,
    ReplaceOne,
    RobustGaussian,
    RobustLaplace,
    RobustQuery,
    SeededNoise,
    Slickness,
    TextbookComposition,
    Unbounded,
    UnsupportedCost,
    WeightedExponential,
    WeightedNoisyMax,
    ZCDPComposition,
    parallel,
    private_demographic_table,
    private_group_risks,
    private_margin_histogram,
    private_statistical_parity,
)
from proofs_tests.old_files.frozen import Clock
from proofs_tests.old_files.tables import bits

SECURE: Final = "secure (exact)"
SEEDED: Final = "seeded (numpy)"
"""Names of sources, as they stand in entries; not imported, as they must not change."""

NAMED: Final = (
    Description("Telling", "constant", (), "none", 0.0, None, SECURE, True, ()),
    Description("Laplace", "a sum", (("scale", 2.5), ("k", 3)), "l1", 1, None, SECURE, True, ("laplace-dp",)),
    Description(
        "Exponential", 'wörds "quoted"\\', (("eta", 1e-9), ("rule", "<i>€</i>")), "range", 0.1, 0.25, SECURE, True,
        ("L2", "basic"),
    ),
    Description("Gaussian", "Σ", (("sigma", 1e300),), "l2", 5e-324, 1.0, "secure (opendp)", True, ("gdp",)),
    Description("Odd", "of ours", (("n", 10**18),), "linf", 0.5, 0, "dice", True, ()),
)  # fmt: skip

COSTS: Final[tuple[Cost, ...]] = (
    PureDP(0.125),
    PureDP(1 / 3),
    PureDP(0.0),
    LaplaceDP(0.25),
    ApproxDP(0.1, 1e-7),
    ApproxDP(0.3, 0.0),
    ZCDP(0.02),
    GDP(0.1),
    GDP(0.0),
    BoundedRange(0.05),
    parallel([0.1, 0.2, 0.05], replace_one=True),
    parallel([0.1, 0.2], replace_one=True, public_membership=True),
)

ACCOUNTS: Final = ("main", "boost 1", "Zoë/prüfung", 'a "b" \\ c', "x/y/z")


@attrs.frozen
class Telling:
    """Releases a constant, at any cost and under any name. sampling: what to do while it is drawn."""

    cost: Cost
    adjacency: Adjacency
    description: Description = NAMED[0]
    sampling: Callable[[], object] = int

    def check(self, data: int) -> None:
        """Nothing can be wrong with it."""

    def sample(self, data: int) -> int:
        """After the charge."""
        self.sampling()
        return data


@contextlib.contextmanager
def where_taken() -> Iterator[None]:
    """What a ledger's rule and budget take; a cost that they do not is left out, as nothing is written of it."""
    with contextlib.suppress(UnsupportedCost, BudgetExceeded):
        yield


# --- every kind of entry -----------------------------------------------------------------------------------------


def every_kind(ledger: Ledger, clock: Clock, *, checkpoint: Callable[[Ledger], None] | None = None) -> None:
    """All costs that the rule takes, plans, sub-budgets, labels, rounds given back, and what was interrupted."""
    data = ledger.protect(7)
    for number, cost in enumerate(COSTS):
        with where_taken():
            what = NAMED[number % len(NAMED)]
            ledger.release(Telling(cost, ledger.adjacency, what), data, account=ACCOUNTS[number % len(ACCOUNTS)])
        clock.tick()
    plans(ledger, clock)
    with contextlib.suppress(ZeroDivisionError):
        failing = Telling(step(ledger), ledger.adjacency, sampling=lambda: 1 / 0)
        ledger.release(failing, data, account="interrupted")
    clock.tick()
    if not isinstance(ledger.budget, Unbounded):
        parts(ledger, clock)
    if checkpoint is not None:
        checkpoint(ledger)
        clock.tick()
        ledger.release(Telling(step(ledger), ledger.adjacency, NAMED[1]), data)


def step(ledger: Ledger, size: float = 2.0**-7) -> Cost:
    """A cost that its rule takes."""
    return GDP(size) if isinstance(ledger.composition, GDPComposition) else PureDP(size)


def plans(ledger: Ledger, clock: Clock) -> None:
    """Reservations: used, used in part, given back, left open; priced as one where the rule buys that."""
    data, relation = ledger.protect(7), ledger.adjacency
    small, large = step(ledger), step(ledger, 2.0**-6)
    first, second = Telling(small, relation, NAMED[1]), Telling(small, relation, NAMED[2])
    with ledger.reserve(
        Plan.sequence([small, small, large, small]), adjacency=relation, account="mixed", mechanism=NAMED[1]
    ) as charge:
        clock.tick()
        charge.release(first, data)
        charge.release(second, data)
        charge.release(first, data)
        charge.give_back()
    clock.tick()
    with ledger.reserve(Plan.of(small, 5), adjacency=relation, account="unused") as charge:
        charge.give_back()
    clock.tick()
    with where_taken(), ledger.reserve(Plan.of(BoundedRange(0.001), 30), adjacency=relation) as charge:
        for _ in range(3):
            charge.release(Telling(BoundedRange(0.0005), relation, NAMED[2]), data)
    clock.tick()
    ledger.reserve(Plan.of(small, 2), adjacency=relation, account="left open", mechanism=NAMED[3])
    clock.tick()
    if isinstance(ledger.composition, BasicComposition) and isinstance(ledger.budget, ApproxDP):
        priced(ledger, clock)


def priced(ledger: Ledger, clock: Clock) -> None:
    """Plans that are charged at one price, by several theorems."""
    data, relation = ledger.protect(7), ledger.adjacency
    mixed = Plan.sequence([PureDP(0.01), ZCDP(0.0001), BoundedRange(0.02), LaplaceDP(0.01), GDP(0.01)])
    several = (Plan.of(PureDP(0.01), 40), Plan.of(BoundedRange(0.01), 100), Plan.of(GDP(0.05), 20), mixed)
    for plan in (*several, Plan.of(LaplaceDP(0.02), 30), Plan.of(ZCDP(0.001), 3)):
        with ledger.reserve(plan, adjacency=relation, delta=1e-6, account="priced", mechanism=NAMED[0]) as charge:
            clock.tick()
            charge.release(Telling(next(iter(plan)), relation, NAMED[0]), data)
        clock.tick()
    with ledger.reserve(Plan.of(PureDP(0.25), 8), adjacency=relation, delta=1e-6, account="priced") as charge:
        charge.give_back()
    clock.tick()


def parts(ledger: Ledger, clock: Clock) -> None:
    """Sub-budgets in sub-budgets, closed and open, and labels beside them."""
    data, relation, small = ledger.protect(7), ledger.adjacency, step(ledger)
    team = ledger.allocate("team-a", 0.25)
    inner = team.allocate("inner", Fraction(1, 3))
    spare = ledger.allocate("Zoë's", Fraction(1, 100))
    apart = ledger.allocate("own", own(ledger.composition))
    clock.tick()
    for number, view in enumerate((team, inner, spare, apart, team)):
        for label in ("main", "boost/2"):
            if label == "main" or view is not team:  # it has a sub-budget, so who draws on it must say so
                view.release(Telling(small, relation, NAMED[number % 3]), data, account=label)
        clock.tick()
    ledger.announce("pilot").release(Telling(small, relation), data)
    ledger.announce("later/first")
    team.announce("first").release(Telling(small, relation), data, account="below")
    ledger.labelled("main").release(Telling(small, relation), data, account="last")
    ledger.labelled("pilot/second").release(Telling(small, relation), data)
    clock.tick()
    charge = spare.reserve(Plan.of(small, 3), adjacency=relation)
    ledger.close_account("Zoë's")
    clock.tick()
    with charge:
        charge.release(Telling(small, relation), data)
        charge.give_back()
    team.close_account("inner")
    ledger.close_account("own")
    clock.tick()
    inner_again = team.allocate("inner again", 0.125)
    inner_again.reserve(Plan.of(small, 3), adjacency=relation, account="waiting")
    clock.tick()


def own(rule: Composition) -> Budget:
    """A small budget that a rule can keep."""
    match rule:
        case ZCDPComposition():
            return ZCDP(0.01)
        case GDPComposition():
            return GDP(0.25)
        case AdvancedComposition():
            return ApproxDP(0.5, 6e-5)
        case _:
            return PureDP(0.25)


def sound(ledger: Ledger, clock: Clock, **given: object) -> None:
    """Books with nothing to be said against them: noise that is secure, all of it released."""
    data, relation = ledger.protect(7), ledger.adjacency
    for number in range(5):
        what = NAMED[1 + number % 2]
        ledger.release(Telling(step(ledger), relation, what), data, account=f"analyst-{number % 2}")
        clock.tick()
    team = ledger.allocate("team-a", 0.5)
    with team.reserve(Plan.of(step(ledger), 4), adjacency=relation, mechanism=NAMED[1]) as charge:
        for _ in range(4):
            charge.release(Telling(step(ledger), relation, NAMED[1]), data)
    clock.tick()


# --- the library's own mechanisms --------------------------------------------------------------------------------


def mechanisms(ledger: Ledger, clock: Clock, **given: object) -> None:
    """Plain and weighted mechanisms, quantiles, and a choice among several."""
    relation, noise = ledger.adjacency, SeededNoise(5)
    vector, scores = np.array([3.0, 1.0, 2.0]), np.array([0.0, 2.0, 1.5])
    sums: Any = Query("sums", lambda each: vector, L1Sensitivity(2.0), relation, ("mine",))
    lengths: Any = Query("lengths", lambda each: vector, L2Sensitivity(1.5), relation)
    counts: Any = Query("counts", lambda each: scores, RangeSensitivity(1.0), relation)
    plain: tuple[Any, ...] = (
        PlainMechanism(sums, LaplaceNoise(40.0), noise),
        PlainMechanism(lengths, GaussianNoise(30.0), noise),
        PlainMechanism(lengths, GammaNormNoise(60.0), noise),
        PlainSelection(counts, ExponentialChoice(0.05), noise),
        PlainSelection(counts, NoisyMaxChoice(0.05), noise),
        PlainSelection(counts, NoisyMaxChoice(0.05, 2), noise),
        PlainSelection(counts, PermuteAndFlipChoice(0.05), noise),
    )
    for mechanism in plain:
        with where_taken(), contextlib.suppress(ValueError):  # of two candidates that are three, after the charge
            ledger.release(mechanism, ledger.protect(7), account="plain")
        clock.tick()
    weighted(ledger, clock, noise)
    with where_taken():
        choices(ledger, clock, noise)


@attrs.frozen
class Weighted:
    """Data under a certificate."""

    slickness: Slickness


def weighted(ledger: Ledger, clock: Clock, noise: SeededNoise) -> None:
    """The robust ones, under a certificate."""
    relation, vector = ledger.adjacency, np.array([0.25, 0.75])
    given = Slickness(0.125, 50, relation, "By hand(3)", ("001-per-round-zeta",))
    l1: Any = RobustQuery("weights", lambda each: vector, lambda zeta: L1Sensitivity(2 * zeta), relation, ("L1",))
    l2: Any = RobustQuery("means", lambda each: vector, lambda zeta: L2Sensitivity(zeta), relation, ())
    choice: Any = RobustQuery("edges", lambda each: vector, lambda zeta: RangeSensitivity(2 * zeta), relation, ("L2",))
    robust: tuple[Any, ...] = (
        RobustLaplace(l1, 8.0, 0.125, noise),
        RobustGaussian(l2, 5.0, 0.25, noise),
        GammaNorm(l2, 9.0, 0.125, noise),
        WeightedExponential(choice, 0.5, 0.125, noise),
        WeightedNoisyMax(choice, 0.5, 0.5, noise),
        WeightedNoisyMax(choice, 0.5, 0.125, noise, 2),
        PermuteAndFlip(choice, 0.5, 0.125, noise),
    )
    for mechanism in robust:
        with where_taken():
            ledger.release(mechanism.under(given), ledger.protect(Weighted(given)), account="weighted")
        clock.tick()


def choices(ledger: Ledger, clock: Clock, noise: SeededNoise) -> None:
    """Quantiles one by one, and the best of a number of runs that stays hidden; proved where one record is replaced."""
    if not isinstance(ledger.adjacency, ReplaceOne):
        return
    quantiles = PrivateQuantiles((0.25, 0.5, 0.75), Candidates.between(0.0, 10.0, 16), 20, 0.03125, noise)
    quantiles.release(ledger, ledger.protect(np.arange(20.0) / 2))
    clock.tick()
    counts: Any = Query("counts", lambda each: np.array([0.0, 1.0]), RangeSensitivity(1.0), ReplaceOne())
    runs: tuple[Any, ...] = tuple(PlainSelection(counts, ExponentialChoice(eta), noise) for eta in (0.03125, 0.0625))
    ledger.release(PrivateSelection(runs, float, PoissonStopping(2.0), None, noise), ledger.protect(7))
    clock.tick()


def analyses(ledger: Ledger, clock: Clock, **given: object) -> None:
    """What `learners` releases beside models: margins, parity, risks and tables by group."""
    X = bits()
    y, outputs = X[:, 0], np.linspace(-1.0, 1.0, len(X))
    asked: dict[str, Any] = {"public_groups": (0, 1), "epsilon": 0.5, "delta": 1e-6, "ledger": ledger}
    model = LazyBoostClassifier(1.0, rounds=2, random_state=0).fit(X, y)
    private_margin_histogram(ledger, model, X, y, epsilon=0.5, bins=4, random_state=SeededNoise(1))
    clock.tick()
    private_statistical_parity(outputs, y, bounds=(-1.0, 1.0), random_state=SeededNoise(2), **asked)
    clock.tick()
    private_group_risks(outputs, y, y, bound=4.0, random_state=SeededNoise(3), **asked)
    clock.tick()
    private_demographic_table(outputs, y, y, bounds=(-1.0, 1.0), threshold=0.0, random_state=SeededNoise(4), **asked)
    clock.tick()


# --- ledgers -----------------------------------------------------------------------------------------------------

Script: TypeAlias = Callable[..., None]


@attrs.frozen
class Promise:
    """What a ledger is opened with, and what happens on it."""

    budget: Budget
    composition: Composition
    adjacency: Adjacency = attrs.field(factory=ReplaceOne)
    script: Script = every_kind


LEDGERS: Final[Mapping[str, Promise]] = {
    "basic": Promise(ApproxDP(40.0, 1e-3), BasicComposition()),
    "basic-pure": Promise(PureDP(20.0), BasicComposition(), AddRemoveOne()),
    "zcdp": Promise(ZCDP(5.0), ZCDPComposition()),
    "zcdp-at-delta": Promise(ApproxDP(20.0, 1e-5), ZCDPComposition(), AddRemoveOne()),
    "gdp": Promise(GDP(3.0), GDPComposition(), AddRemoveOne()),
    "gdp-at-delta": Promise(ApproxDP(9.0, 1e-5), GDPComposition()),
    "advanced-tight": Promise(ApproxDP(30.0, 1e-4), AdvancedComposition(5e-5)),
    "textbook": Promise(ApproxDP(30.0, 1e-4), TextbookComposition(5e-5)),
    "unbounded": Promise(Unbounded(), NoBound()),
    "feature-value": Promise(ApproxDP(40.0, 1e-3), BasicComposition(), FeatureValue(2)),
    "feature-values": Promise(ZCDP(5.0), ZCDPComposition(), FeatureValues((3, 1))),
    "sound": Promise(ApproxDP(2.0, 1e-6), BasicComposition(), AddRemoveOne(), sound),
    "sound-zcdp": Promise(ApproxDP(1.0, 1e-6), ZCDPComposition(), ReplaceOne(), sound),
    "sound-gdp": Promise(GDP(0.5), GDPComposition(), ReplaceOne(), sound),
    "mechanisms": Promise(PureDP(20.0), BasicComposition(), script=mechanisms),
    "mechanisms-at-delta": Promise(ApproxDP(20.0, 1e-5), ZCDPComposition(), AddRemoveOne(), mechanisms),
    "mechanisms-gdp": Promise(GDP(3.0), GDPComposition(), script=mechanisms),
    "analyses": Promise(ApproxDP(20.0, 1e-3), BasicComposition(), AddRemoveOne(), analyses),
}
