"""Wrong learners: enumerated whole on tiny samples, or fitted twice to compare what they show."""

from collections.abc import Callable
from functools import partial

import numpy as np

from accountant import BasicComposition, Cost, Ledger, PureDP, ReplaceOne
from accountant.arrays import FloatArray
from boosting import LazyBregman, boost
from learners import LazyBoostClassifier, OneRule, PrivateOneRule, Schema
from proofs_tests.harness import Pair, PinnedNoise, Report, ScriptedNoise, check_fitted_surface
from proofs_tests.mutants.mutant import Mutant, both_ways, enumerated
from proofs_tests.mutants.queries import LAYOUT, Bits, encoded

Records = tuple[Bits, ...]
Rules = tuple[OneRule, ...]
Run = Callable[[Records, ScriptedNoise], Rules]

BOOSTER = LazyBregman(0.75, 0.5)
ETA = 2.0
PAIRS: list[Pair[Records]] = both_ways(
    [Pair(((0, 0, 0), (1, 0, 1)), ((0, 0, 1), (1, 0, 1))), Pair(((0, 0, 0), (1, 1, 1)), ((1, 0, 0), (1, 1, 1)))]
)


# --- enumerated -----------------------------------------------------------------------------------------------------


def _fit(rounds: int, records: Records, noise: ScriptedNoise) -> tuple[Rules, Cost]:
    """Boosted 1-Rules and what their ledger says."""
    ledger = Ledger(PureDP(1e6), composition=BasicComposition(), adjacency=ReplaceOne())
    sample = encoded(records)
    rules = boost(ledger.protect(sample), sample.n, BOOSTER, PrivateOneRule(LAYOUT, ETA, noise), rounds, ledger)
    return tuple(rules), ledger.spent


def fit(rounds: int, records: Records, noise: ScriptedNoise) -> Rules:
    return _fit(rounds, records, noise)[0]


def charged(run: Run, rounds: int) -> Report:
    """A learner against what the ledger says of a fit of so many rounds."""
    price = _fit(rounds, PAIRS[0].before, ScriptedNoise(()))[1]
    return enumerated("boosted 1-Rules", run, price, PAIRS)


def right(rules: Rules, records: Records) -> bool:
    """Whether the first rule makes no mistake in training."""
    sample = encoded(records)
    return bool(np.all(rules[0].predictions(sample) == sample.labels))


def until_right(records: Records, noise: ScriptedNoise) -> Rules:
    """Stops before the second round where the first rule makes no mistake in training."""
    first = fit(1, records, noise)
    return first if right(first, records) else (*first, *fit(1, records, noise))


def cross_validated(number: int, records: Records, noise: ScriptedNoise) -> Rules:
    """One fit for each choice of a parameter; all are shown."""
    return tuple(rule for _ in range(number) for rule in fit(1, records, noise))


def better_of_two(look: bool, records: Records, noise: ScriptedNoise) -> Rules:
    """The first of two fits that makes no mistake in training, or always the first."""
    candidates = fit(1, records, noise), fit(1, records, noise)
    return next((rules for rules in candidates if look and right(rules, records)), candidates[0])


def majority_start(private: bool, records: Records, noise: ScriptedNoise) -> Rules:
    """Boosting that starts from the majority's label, as many learners do, or from a public one."""
    majority = 1 if 2 * sum(label for _, _, label in records) > len(records) else -1
    return (OneRule(-1, 1 if private else majority), *fit(1, records, noise))


def second_round(density: float) -> Report:
    """A rule for the weights after a public first rule, priced as if every record weighed 1/n."""
    booster, sharp = LazyBregman(density, 2.0), 10.0
    records: Records = ((0, 0, 0), (0, 1, 0), (1, 0, 1))
    pairs: list[Pair[Records]] = both_ways([Pair(((1, 0, 0), *records[1:]), ((0, 0, 1), *records[1:]))])

    def run(given: Records, noise: ScriptedNoise) -> OneRule:
        ledger = Ledger(PureDP(1e6), composition=BasicComposition(), adjacency=ReplaceOne())
        state = booster.step(booster.start(encoded(given)), OneRule(0, 1))
        return PrivateOneRule(LAYOUT, sharp, noise).learn(ledger, ledger.protect(state), state.slickness)

    uniform = LazyBregman(1.0, 2.0).slickness(3, 2)
    return enumerated("1-Rule", run, PrivateOneRule(LAYOUT, sharp).costs(uniform)[0], pairs)


# --- what a fitted object shows -------------------------------------------------------------------------------------

TABLES: list[Pair[Records]] = [
    Pair(((0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1)), ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 1)))
]


class Shown:
    """An object with exactly these attributes."""

    def __init__(self, **attributes: object) -> None:
        vars(self).update(attributes)


class Lazy(Shown):
    """Shows a property that is computed from a private attribute."""

    @property
    def class_prior_(self) -> float:
        return float(np.mean(vars(self)["_labels"]))


def classifier(records: Records, noise: PinnedNoise) -> LazyBoostClassifier:
    table = np.array(records)
    model = LazyBoostClassifier(1.0, rounds=2, schema=Schema.boolean(["a", "b"]), random_state=noise)
    return model.fit(table[:, :2], table[:, 2])


def surface(build: Callable[[Records, LazyBoostClassifier], object]) -> list[str]:
    """What is fitted by a sound learner, and shown by `build`."""
    return check_fitted_surface(lambda records, noise: build(records, classifier(records, noise)), TABLES)


def labels(records: Records) -> FloatArray:
    return np.array([float(label) for _, _, label in records])


def mistakes(records: Records, model: LazyBoostClassifier) -> FloatArray:
    return np.asarray(model.predict(np.array(records)[:, :2]) != labels(records)) * 1.0


def itself(records: Records, model: LazyBoostClassifier) -> object:
    return model


def with_error(records: Records, model: LazyBoostClassifier) -> object:
    return Shown(model_=model, err_=float(np.mean(mistakes(records, model))))


def with_node_weights(records: Records, model: LazyBoostClassifier) -> object:
    return Shown(tree_={"leaves": [{"label": 1, "n": int(np.sum(labels(records)))}]})


def with_own_bins(records: Records, model: LazyBoostClassifier) -> object:
    return Shown(edges_=np.linspace(labels(records)[:2].min(), labels(records)[:2].max(), 3))


def with_public_bins(records: Records, model: LazyBoostClassifier) -> object:
    return Shown(edges_=np.linspace(0.0, 1.0, 3))


def with_property(records: Records, model: LazyBoostClassifier) -> object:
    return Lazy(_labels=labels(records))


def with_closure(records: Records, model: LazyBoostClassifier) -> object:
    return Shown(nearest_=lambda x: labels(records)[x])


def with_classes_seen(records: Records, model: LazyBoostClassifier) -> object:
    return Shown(classes_=np.unique(labels(records)[:2]))


def with_private_name(records: Records, model: LazyBoostClassifier) -> object:
    return Shown(model_=model, _training_labels=labels(records))


UNDERSCORE = """Public means: no leading underscore. Pickling and `vars` show more, as LIMITS.md should say."""

MUTANTS = (
    Mutant("two fits charged as one", "cross-validation on one budget", "peers.md §8: k fits charge k times",
           partial(charged, partial(cross_validated, 2), 1), partial(charged, partial(cross_validated, 2), 2),
           "enumeration"),
    Mutant("early stopping on training accuracy", "the number of rounds is a function of the records", "issue 4",
           partial(charged, until_right, 2), partial(charged, partial(fit, 2), 2), "enumeration"),
    Mutant("the better of two fits by training error", "the comparison is exact, and charged as nothing",
           "001 experiments; claims.md §1", partial(charged, partial(better_of_two, True), 1),
           partial(charged, partial(better_of_two, False), 1), "enumeration"),
    Mutant("start from the majority's label", "the first hypothesis has no noise", "issue 4: un-noised statistics",
           partial(charged, partial(majority_start, False), 1), partial(charged, partial(majority_start, True), 1),
           "enumeration"),
    Mutant("a round priced at density 1", "κ forgotten: reweighted records count for more than 1/n", "claims.md §0, L0",
           partial(second_round, 0.4), partial(second_round, 1.0), "enumeration"),
    Mutant("training error as an attribute", "LazyBB keeps err_ of every round without noise", "LazyBB",
           partial(surface, with_error), partial(surface, itself), "surface"),
    Mutant("record counts in the leaves", "n of every leaf, deep in a dictionary", "scikit-learn's tree_",
           partial(surface, with_node_weights), partial(surface, itself), "surface"),
    Mutant("bins fitted on the data", "edges from the data's own minimum and maximum",
           "issue 4: bins fitted on the data", partial(surface, with_own_bins), partial(surface, with_public_bins),
           "surface"),
    Mutant("classes as seen in training", "whether anyone has the label", "scikit-learn's unique_labels",
           partial(surface, with_classes_seen), partial(surface, itself), "surface"),
    Mutant("a property over a private attribute", "class_prior_ is computed when it is read", "kit review",
           partial(surface, with_property), None, "surface"),
    Mutant("a function that holds the records", "a closure over the training labels", "kit review",
           partial(surface, with_closure), None, "surface"),
    Mutant("labels under an underscore", "_training_labels is kept and pickled", "kit review",
           partial(surface, with_private_name), None, "surface", UNDERSCORE),
)  # fmt: skip
