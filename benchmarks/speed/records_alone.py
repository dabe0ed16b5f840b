"""What one record moves in a whole fit, against what is charged, where its type used to change all others.

[records-alone] The pairs are those of a review: a word among truth values or floats, a finer time stamp among days, a
missing time stamp among categories. Queries are recorded along a transcript, see
`proofs_tests.support.learners.recorded`. Also what it costs to read values one by one, and to predict each record
alone, beside what numpy does to all at once.
"""

import datetime
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import pandas as pd

from accountant.costs import gaussian
from benchmarks.boosted_trees import load
from benchmarks.runner import Line, Measured, Part, Report, Setting, Table, Work, in_turns, limited
from learners import (
    Bounds,
    Categorical,
    HalfspaceBoostClassifier,
    PrivateBoostClassifier,
    RadoBoostClassifier,
    Schema,
)
from learners.random_features import RandomFeatureRegressor
from learners.tables import encode
from proofs_tests.harness import Pair
from proofs_tests.support.learners.mixed_tables import CASES
from proofs_tests.support.learners.recorded import Recorder, moved
from proofs_tests.support.learners.recorded_fits import (
    DELTA,
    EPSILON,
    GAUSSIAN,
    MU,
    PURE,
    coming_or_going,
    measured,
)

ROUNDED: Final = 1e-9
"""What floating point may add to a norm that is exactly what was charged."""


# --- what moves -------------------------------------------------------------------------------------------------------


def _line(what: str, found: float, charged: float) -> Line:
    share = Measured(found / charged, unit="of what is charged", form=".4g")
    return Line(what, share, "≤ 1", found <= charged * (1.0 + ROUNDED))


def what_moves(learner: str) -> list[Table]:
    """μ of Gaussian noise, or ε of choices and Laplace noise, of each pair."""
    lines = []
    for name, case in CASES.items():
        if learner in GAUSSIAN:
            lines.append(_line(name, measured(GAUSSIAN[learner], case).mu, MU))
        else:
            lines.append(_line(name, measured(PURE[learner], case).epsilon, EPSILON))
    return [Report(f"{learner}: what a replaced record moves", lines)]


def what_comes_or_goes() -> list[Table]:
    """The recommended learner under add-remove-one."""
    lines = [
        _line(f"{name}, {len(classes)} classes", max(found.mu for found in coming_or_going(case, classes)), MU)
        for name, case in CASES.items()
        for classes in ((0, 1), (0, 1, 2))
    ]
    return [Report("boosted effects: what a record that comes or goes moves", lines)]


def on_adult(data: str | None, records: int) -> list[Table]:
    """The recommended learner on columns of Adult as lists, one of them of truth values, beside one that is text."""
    train = load(data)
    columns: dict[str, list[Any]] = {name: list(values[:records].tolist()) for name, values in train.train.items()}
    columns["sex"] = [value == "Male" for value in columns["sex"]]
    odd = {**columns, "sex": [*columns["sex"][:-1], "unknown"]}
    given = train.schema
    sex = Categorical("sex", ("0", "1", "?"), other="?")
    schema = Schema(tuple(sex if column.name == "sex" else column for column in given.columns), given.label)
    labels = train.y_train[:records].tolist()
    lines = []
    for adjacency in ("replace-one", "add-remove-one"):

        def learn(part: tuple[dict[str, list[Any]], list[Any]], noise: Recorder, promise: Any = adjacency) -> None:
            model = PrivateBoostClassifier(
                EPSILON, DELTA, adjacency=promise, rounds_per_column=2, schema=schema, random_state=noise
            )
            model.fit(*part)

        other = (columns, labels)
        if adjacency == "add-remove-one":
            other = ({name: values[:-1] for name, values in columns.items()}, labels[:-1])
        found = moved(learn, Pair((odd, labels), other))
        lines.append(_line(adjacency, found.mu, gaussian.mu(EPSILON, DELTA)))
    return [Report(f"Adult, {records} records in lists: what one of another type moves", lines)]


# --- what it costs ----------------------------------------------------------------------------------------------------


def _ratio(what: str, works: Mapping[str, Work], repeats: int) -> Line:
    """The first over the second, each with one thread of BLAS."""
    times = in_turns({name: limited(work, 1) for name, work in works.items()}, repeats)
    first, second = (np.array(times[name]) for name in works)
    return Line(what, Measured.median((first / second).tolist(), unit=f"times {list(works)[1]}"))


def predicting(records: int, repeats: int) -> list[Table]:
    """Scores of each record alone beside BLAS' product of all points and a vector."""
    rng = np.random.default_rng(0)
    few, lines = rng.uniform(-1.0, 1.0, size=(500, 20)), []
    labels = (few[:, 0] > 0.0).astype(int)
    box = Bounds(-1.0, 1.0)
    fitted: Sequence[tuple[str, Any]] = (
        ("halfspace", HalfspaceBoostClassifier(1.0, 1e-6, radius=5.0, classes=(0, 1), rounds=2, random_state=0)),
        ("rados", RadoBoostClassifier("examples", 1.0, 1e-6, schema=box, rounds=5, random_state=0)),
        ("200 random features", RandomFeatureRegressor(1.0, 1e-6, label_bounds=(0, 1), schema=box, random_state=0)),
    )
    points = rng.uniform(-1.0, 1.0, size=(records, 20))
    direction = rng.normal(size=20)
    for name, learner in fitted:
        model = learner.fit(few, labels)
        predict = model.predict if name.endswith("features") else model.decision_function
        works: dict[str, Work] = {"ours": partial(predict, points), "a plain product": lambda: points @ direction}
        lines.append(_ratio(f"{name}, reading the table included, {records} x 20", works, repeats))
    return [Report("Scores of each record alone, from a table, one thread", lines)]


def reading(records: int, repeats: int) -> list[Table]:
    """Categories of lists, which are read value by value, beside arrays of one type."""
    rng = np.random.default_rng(0)
    words, lines = np.array(["clerk", "smith", "cook"])[rng.integers(3, size=records)], []
    schema = Schema((Categorical("c", ("clerk", "smith", "cook")),))
    days = pd.Series(np.array(["2020-01-01", "2020-01-02"], dtype="M8[ns]")[rng.integers(2, size=records)])
    stamps = [f"2020-01-0{day}T00:00:00.000000000" for day in (1, 2)]
    dated = Schema((Categorical("c", (*stamps, "?"), missing="?"),))
    late = days.astype("category")
    late.iloc[0] = None
    assert isinstance(late.cat.categories[0], datetime.datetime)
    lines.append(
        _ratio(
            f"a list of {records} words",
            {
                "ours": lambda: encode({"c": words.tolist()}, schema),
                "an array of the same": lambda: encode({"c": words}, schema),
            },
            repeats,
        )
    )
    lines.append(
        _ratio(
            f"{records} categories of time stamps with a missing one",
            {
                "ours": lambda: encode({"c": late}, dated),
                "an array of words": lambda: encode({"c": words}, schema),
            },
            repeats,
        )
    )
    return [Report("Values read one by one, one thread", lines)]


def parts(setting: Setting) -> list[Part]:
    """Each learner on all pairs; Adult; speed."""
    quick = setting.quick
    learners = [*GAUSSIAN, *PURE]
    chosen = ["boosted effects", "rados", "boosted 1-Rules"] if quick else learners
    size, repeats = (10_000, 3) if quick else (1_000_000, 9)
    return [
        *(Part(learner, partial(what_moves, learner), 3.0) for learner in chosen),
        Part("records that come or go", what_comes_or_goes, 5.0),
        Part("Adult in lists", partial(on_adult, setting.data, 2_000), 10.0),
        Part("speed of scores", partial(predicting, size, repeats), 1.0 if quick else 30.0),
        Part("speed of reading", partial(reading, size // 10, repeats), 1.0 if quick else 20.0),
    ]
