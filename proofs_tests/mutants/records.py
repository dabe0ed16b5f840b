"""What becomes of a record where its company has a say: types, dictionaries, products, means and ranks of a batch."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from accountant.arrays import FloatArray
from learners import Categorical, LazyBoostClassifier, Schema
from learners.tables.columns import boxed
from learners.tables.labels import class_numbers
from proofs_tests.harness import Report, check_records_alone
from proofs_tests.mutants.mutant import Mutant

METHOD: Final = "records alone"
MIXED: Final = (np.float32(0.1), True, 2.5, "unknown")
STAMPS: Final = (np.datetime64("2020-01-01", "ns"), np.datetime64("2021-02-03", "ns"), None)
WHOLE: Final = (1, 7, 2**53 + 1, None)
WORDS: Final = ("b", "a", "c")
COLUMN: Final = Categorical("c", ("1", "0.1", "0.10000000149011612", "2.5", "?"), other="?")
POINTS: Final = [tuple(row) for row in np.random.default_rng(7).normal(size=(40, 33)).tolist()]
NORMAL: Final = np.random.default_rng(8).normal(size=33)

Batch = Callable[[Any], Iterable[object]]


def _alone(become: Batch, records: Sequence[object]) -> Report:
    return check_records_alone("a mutant", become, list, records)


def _points(become: Batch) -> Report:
    return check_records_alone("a mutant", become, np.array, POINTS)


# --- encoding ---------------------------------------------------------------------------------------------------------


def common_type(values: Sequence[object]) -> Iterable[object]:
    return COLUMN.codes(np.asarray(values))


def own_types(values: Sequence[object]) -> Iterable[object]:
    return COLUMN.codes(boxed(values, "column"))


def fitted_list(values: Sequence[object]) -> Iterable[object]:
    return np.unique(np.array(values, dtype=str), return_inverse=True)[1]


def own_dictionary(values: Sequence[object]) -> Iterable[object]:
    known: dict[object, int] = {}
    return [known.setdefault(value, len(known)) for value in values]


def public_list(values: Sequence[object]) -> Iterable[object]:
    return [sorted(WORDS).index(str(value)) for value in values]


def stamps_as_objects(values: Sequence[object]) -> Iterable[object]:
    stamps = np.array(["NaT" if value is None else value for value in values], dtype="M8[ns]")
    return [str(each) for each in (stamps.astype(object) if None in values else stamps)]


def stamps_as_stamps(values: Sequence[object]) -> Iterable[object]:
    return [str(each) for each in np.array(["NaT" if value is None else value for value in values], dtype="M8[ns]")]


def floats_where_one_is_missing(values: Sequence[object]) -> Iterable[object]:
    kind: type = float if None in values else int
    return [str(each) for each in np.array([np.nan if value is None else value for value in values], dtype=kind)]


def whole_where_one_is_missing(values: Sequence[object]) -> Iterable[object]:
    return [str(value) for value in values]


def two_classes_asked_for(values: Sequence[object]) -> Iterable[object]:
    if len(set(values)) < 2:
        raise ValueError("one class only")
    return class_numbers(values, ("no", "yes"))


# --- weights, scores and predictions ----------------------------------------------------------------------------------


def product(points: FloatArray) -> Iterable[object]:
    return points @ NORMAL


def product_in_order(points: FloatArray) -> Iterable[object]:
    total = np.zeros(len(points))
    for column, weight in zip(points.T, NORMAL.tolist(), strict=True):
        total += weight * column
    return total


def centred(mean: bool, points: FloatArray) -> Iterable[object]:
    return points - (points.mean(axis=0) if mean else 0.5)


def ranked(points: FloatArray) -> Iterable[object]:
    return np.argsort(np.argsort(points[:, 0]))


def binned(points: FloatArray) -> Iterable[object]:
    return np.searchsorted(np.linspace(-3.0, 3.0, 9), points[:, 0])


def scaled(own: bool, points: FloatArray) -> Iterable[object]:
    return points[:, 0] / (3.0 if own else np.abs(points[:, 0]).max())


def hashed(everybody: bool, points: FloatArray) -> Iterable[object]:
    salt = points.tobytes() if everybody else b"public"
    return [hashlib.sha256(salt + row.tobytes()).hexdigest() for row in points]


def scores_of_a_fit(between: bool, points: FloatArray) -> Iterable[object]:
    """Of a learner that encodes by the batch's median, or by a public number."""
    cut = np.median(points[:, 0]) if between else 0.0
    schema = Schema.boolean(["a"])
    model = LazyBoostClassifier(4.0, rounds=1, schema=schema, random_state=0)
    model.fit(np.array([[0], [1]] * 40), [0, 1] * 40)
    return model.decision_function((points[:, :1] > cut).astype(int))


def _mutant(
    name: str, reason: str, check: Callable[[], object], sound: Callable[[], object], source: str = ""
) -> Mutant:
    return Mutant(name, reason, source or "a mistake that a review looked for", check, sound, METHOD)


FOUND: Final = "this project, until a review found it"

MUTANTS: Final = (
    _mutant(
        "a common dtype",
        "numpy picks one type for a column, so a word makes text of every number",
        partial(_alone, common_type, MIXED),
        partial(_alone, own_types, MIXED),
        FOUND,
    ),
    _mutant(
        "a fitted category list",
        "categories are numbered as they occur, sorted",
        partial(_alone, fitted_list, WORDS),
        partial(_alone, public_list, WORDS),
        "scikit-learn's OrdinalEncoder, fitted on protected data",
    ),
    _mutant(
        "astype(object) of a whole column",
        "a missing time stamp makes numbers of nanoseconds of the others",
        partial(_alone, stamps_as_objects, STAMPS),
        partial(_alone, stamps_as_stamps, STAMPS),
        FOUND,
    ),
    _mutant(
        "floats where one is missing",
        "integers beyond 2^53 change where another record has none",
        partial(_alone, floats_where_one_is_missing, WHOLE),
        partial(_alone, whole_where_one_is_missing, WHOLE),
        "what pandas, Polars and Arrow give to numpy",
    ),
    _mutant(
        "a block's own dictionary",
        "values are numbered in the order in which a block has them",
        partial(_alone, own_dictionary, WORDS),
        partial(_alone, public_list, WORDS),
        "a dictionary of Arrow, read by its numbers",
    ),
    _mutant(
        "two classes asked for",
        "one record decides whether there is a model at all",
        partial(_alone, two_classes_asked_for, ("no", "yes")),
        partial(_alone, lambda values: class_numbers(values, ("no", "yes")), ("no", "yes")),
        FOUND,
    ),
    _mutant(
        "a batch product",
        "which randomizer of BLAS a row falls into depends on how many rows there are",
        partial(_points, product),
        partial(_points, product_in_order),
        FOUND,
    ),
    _mutant(
        "a mean taken off the batch",
        "points are centred by their own mean",
        partial(_points, partial(centred, True)),
        partial(_points, partial(centred, False)),
        "batch normalisation; scikit-learn's StandardScaler, fitted on protected data",
    ),
    _mutant(
        "a rank within the batch",
        "a value becomes its rank among the others",
        partial(_points, ranked),
        partial(_points, binned),
        "scikit-learn's QuantileTransformer, fitted on protected data",
    ),
    _mutant(
        "a scale of the batch",
        "values are divided by the largest of them",
        partial(_points, partial(scaled, False)),
        partial(_points, partial(scaled, True)),
        "scikit-learn's MaxAbsScaler, fitted on protected data",
    ),
    _mutant(
        "a hash of all records",
        "coins of a record are drawn from a digest of everybody",
        partial(_points, partial(hashed, True)),
        partial(_points, partial(hashed, False)),
    ),
    _mutant(
        "a median of the batch before a model",
        "a saved model's inputs are cut at the median of those that it predicts",
        partial(_points, partial(scores_of_a_fit, True)),
        partial(_points, partial(scores_of_a_fit, False)),
    ),
)
