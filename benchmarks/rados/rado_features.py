"""Table 2 of 000, left: rados that protect one Boolean column, over ε, beside what that protection really costs.

Per domain one of its Boolean columns, chosen at random as in the paper, and after it the one that tells most about the
label, as a column at random is hardly missed. Stratified cross-validation, 1000 rounds, n = min(1000, half of the
training records) rados, δ = 1e-6. All other columns and the labels are public in this notion, so they cost nothing, and
so does any classifier that leaves the column out: that is the least a release must beat.

Features lie in [−1, 1] by the schema; there is a constant, and all but it are standardised by the training records.
In published rados the protected column stays at −1 and +1, which its law needs. Where the window has one value, as at
small ε, that column is the same in all rados, and boosting follows it alone. Bounds of columns are taken from the file;
those of the protected column are its two values. RadoBoost keeps the best on smoothed rados, this library's default.
"The paper's choice": unsmoothed, the fewest errors on the training records, which needs them. Over own supports what
the ε buys is how many rados there are, also of the public columns.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Final, TypeAlias

import attrs
import numpy as np
from sklearn.model_selection import StratifiedKFold

from accountant.arrays import FloatArray, SignArray
from benchmarks.data import domain
from benchmarks.rados.rado_costs import DELTA, affordable, total, windowed
from benchmarks.rados.rado_table import error, errors_by_round, learnt, percent, rados_number
from benchmarks.runner import Cell, Grid, Line, Measured, Part, Report, Setting
from boosting.rados import ada_boost, rado_boost
from exchequer.datasets import SEARCHED, DataNotFound, adult, data_folder, found_file, mushroom
from learners import RadoBoostClassifier
from learners.encoding import Coding
from learners.rados import spread
from learners.tables import Boolean, Categorical, Numeric, Schema, Values, read_csv
from mechanisms import EdgeVectors, RadoColumnLaw, SeededNoise, sample_rados, sample_truncated_rados

ROUNDS: Final = 1000
FOLDS: Final = 10
ADULT_FOLDS: Final = 3
EPSILONS: Final = (0.01, 0.1, 0.3, 1.0, 3.0)

Table: TypeAlias = Mapping[str, Values]

ADA: Final = "AdaBoost"
RADO: Final = "RadoBoost, plain rados"
ADA_WITHOUT: Final = "AdaBoost without the column"
RADO_WITHOUT: Final = "RadoBoost without the column"
PUBLISHED: Final = "published, whole vectors: not private"
PAPERS: Final = "the same, the paper's choice"
SUMS: Final = "ours, sums"
OWN: Final = "ours, own supports"


@attrs.frozen(eq=False)
class Study:
    """A table, shape (records,) each column, labels −1 or +1, its schema, and the column to protect.

    folds: of cross-validation.
    """

    name: str
    table: Table
    labels: SignArray
    schema: Schema
    column: int = 0
    folds: int = FOLDS

    @property
    def features(self) -> FloatArray:
        """In [−1, 1], and a constant at the end, shape (records, d)."""
        return Coding.of(self.schema, self.table, True).encode(self.table, "this benchmark")

    @property
    def boolean(self) -> list[int]:
        """Columns of two values, both of which occur; a column's number is that of its feature."""
        values = self.features[:, : len(self.schema.columns)]
        several = [isinstance(each, Categorical) and len(each.categories) > 2 for each in self.schema.columns]
        two = np.all(np.abs(values) == 1.0, axis=0) & (np.ptp(values, axis=0) > 0.0)
        return np.flatnonzero(two & ~np.array(several)).tolist()

    def at_random(self, seed: int = 0) -> "Study":
        """With one of its Boolean columns."""
        return attrs.evolve(self, column=int(np.random.default_rng(seed).choice(self.boolean)))

    @property
    def telling(self) -> "Study":
        """With the Boolean column that correlates most with the label."""
        values = self.features
        sizes = [abs(float(np.corrcoef(values[:, each], self.labels)[0, 1])) for each in self.boolean]
        return attrs.evolve(self, column=self.boolean[int(np.argmax(sizes))])

    @property
    def title(self) -> str:
        """The domain and its column."""
        return f"{self.name}: {self.schema.names[self.column]}"

    @property
    def training(self) -> int:
        """Records of a training fold; one more in some."""
        return self.labels.size - -(-self.labels.size // self.folds)


# --- Domains ----------------------------------------------------------------------------------------------------------


def of_numbers(
    name: str, points: FloatArray, labels: SignArray, bounds: Sequence[tuple[float, float]] | None = None
) -> Study:
    """Columns of numbers within these bounds, moved to them beyond; those of two values are Boolean, the larger is 1.

    points: shape (m, d).  bounds: one pair for each column; None takes its least and largest value. That, and which
    columns have two values, is read off public data.
    """
    if bounds is None:
        ends = zip(np.min(points, axis=0).tolist(), np.max(points, axis=0).tolist(), strict=True)
        bounds = [(low, high if high > low else low + 1.0) for low, high in ends]
    two = [np.unique(column).size == 2 for column in points.T]
    columns = tuple(
        Boolean(f"column {n}") if two[n] else Numeric(f"column {n}", low, high, outside="clip")
        for n, (low, high) in enumerate(bounds)
    )
    table = {
        column.name: np.where(points[:, n] == np.max(points[:, n]), 1.0, 0.0) if two[n] else points[:, n]
        for n, column in enumerate(columns)
    }
    return Study(name, table, labels, Schema(columns))


def of_votes(folder: Path) -> Study:
    """House votes of 1984, party to be told; a vote that is not known counts as no. Raises DataNotFound."""
    names = ["party", *(f"vote {number}" for number in range(1, 17))]
    table = dict(read_csv(found_file(folder, "house-votes-84", "house-votes-84.data"), names=names))
    labels = np.where(table.pop("party") == "democrat", 1, -1).astype(np.int8)
    return Study(
        "house-votes-84", table, labels, Schema(tuple(Categorical(n, ("n", "y"), other="n") for n in names[1:]))
    )


def of_mushrooms(folder: Path) -> Study:
    """All records, poisonous +1. Raises DataNotFound."""
    data = mushroom(folder)
    table = {name: np.concatenate([data.train[name], data.test[name]]) for name in data.train}
    poisonous = np.concatenate([data.y_train, data.y_test]) == "p"
    return Study("mushroom", table, np.where(poisonous, 1, -1).astype(np.int8), data.schema)


def of_incomes(folder: Path) -> Study:
    """Adult's training file. Raises DataNotFound."""
    data = adult(folder)
    labels = np.where(data.y_train == ">50K", 1, -1).astype(np.int8)
    return Study("adult", data.train, labels, data.schema, folds=ADULT_FOLDS)


def of_domain(name: str, folder: Path) -> Study:
    """One of `benchmarks.data.rado_domains`. Raises DataNotFound."""
    data = domain(name, folder)
    return of_numbers(name, data.points, data.labels)


# --- One fold ---------------------------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class StudyFold:
    """A fold. train, test: tables.  y, y_test: labels.  edges, test_edges: coded, standardised but for the constant.

    raw, raw_test: edge vectors whose protected column is −1 or +1.
    """

    study: Study
    train: Table
    y: SignArray
    test: Table
    y_test: SignArray
    edges: FloatArray
    test_edges: FloatArray
    raw: FloatArray
    raw_test: FloatArray

    @staticmethod
    def of(study: Study, features: FloatArray, kept: Sequence[int], held: Sequence[int]) -> "StudyFold":
        """From the numbers of records to train on and to test on."""
        scaling = spread(EdgeVectors(features[kept, :-1]).rows).within(features.shape[1], range(features.shape[1] - 1))
        scaled = scaling.apply(features)
        whole = scaled.copy()
        whole[:, study.column] = features[:, study.column]
        y = study.labels
        edges = [y[rows, None] * values[rows] for values in (scaled, whole) for rows in (kept, held)]
        tables = [{name: values[rows] for name, values in study.table.items()} for rows in (kept, held)]
        return StudyFold(study, tables[0], y[kept], tables[1], y[held], *edges)


def fewest_errors(train: FloatArray, test: FloatArray, rados: FloatArray | None, rounds: int) -> float:
    """The test error of the classifier that errs least on the training records: of AdaBoost where rados is None."""
    run = ada_boost(train, rounds) if rados is None else rado_boost(rados, rounds)
    return float(errors_by_round(run, test)[int(np.argmin(errors_by_round(run, train)))])


def without_privacy(part: StudyFold, rounds: int, noise: SeededNoise) -> dict[str, float]:
    """Errors of what does not depend on ε."""
    found, number = {}, rados_number(part.y.size)
    everything = (part.edges, part.test_edges)
    fewer = tuple(np.delete(edges, part.study.column, axis=1) for edges in everything)
    for ada, rado, (train, test) in ((ADA, RADO, everything), (ADA_WITHOUT, RADO_WITHOUT, fewer)):
        found[ada] = fewest_errors(train, test, None, rounds)
        found[rado] = error(test, learnt(sample_rados(EdgeVectors(train), number, noise), rounds, smooth=True))
    return found


def published(part: StudyFold, epsilon: float, rounds: int, noise: SeededNoise) -> dict[str, float]:
    """Whole rados of DP-FEAT at ε; nothing where its window is empty."""
    law = windowed(part.y.size, epsilon)
    if law is None:
        return {}
    number = rados_number(part.y.size)
    rados = sample_truncated_rados(EdgeVectors(part.raw), number, part.study.column, law, noise)
    ours = error(part.raw_test, learnt(rados, rounds, smooth=True))
    return {PUBLISHED: ours, PAPERS: fewest_errors(part.raw, part.raw_test, rados, rounds)}


@cache
def most_rados(records: int, epsilon: float) -> int:
    """What (ε, DELTA) buys over own supports, at most the usual number; 0 for none."""
    number = min(affordable(records, epsilon), rados_number(records))
    # `affordable` compares δ, and the ledger ε: at the edge rounding may make them differ by one rado.
    return number - (number > 0 and RadoColumnLaw(records).epsilon(DELTA, number) > epsilon)


def ours(part: StudyFold, epsilon: float, rounds: int, noise: SeededNoise) -> dict[str, float]:
    """What costs (ε, DELTA): from noisy sums, and over own supports where that buys a rado."""
    numbers = {"sums": rados_number(part.y.size), "own-supports": most_rados(part.y.size, epsilon)}
    found = {}
    for name, route in ((SUMS, "sums"), (OWN, "own-supports")):
        if not numbers[route]:
            continue
        model = RadoBoostClassifier(
            "feature",
            epsilon,
            DELTA,
            number=numbers[route],
            sensitive=part.study.schema.names[part.study.column],
            route="sums" if route == "sums" else "own-supports",
            rounds=rounds,
            schema=part.study.schema,
            classes=(-1, 1),
            random_state=noise.generator,
        ).fit(part.train, part.y)
        found[name] = float(np.mean(model.predict(part.test) != part.y_test))
    return found


# --- Tables -----------------------------------------------------------------------------------------------------------


Errors: TypeAlias = Mapping[str, Sequence[float]]


@attrs.frozen(eq=False)
class StudyErrors:
    """Test errors in [0, 1] by contender, one per fold: for all ε, and for each."""

    study: Study
    fixed: Errors
    at: Mapping[float, Errors]


def folds_of(study: Study, seed: int = 0) -> Iterator[StudyFold]:
    """The folds, each class spread evenly."""
    features = study.features
    for kept, held in StratifiedKFold(study.folds, shuffle=True, random_state=seed).split(features, study.labels):
        yield StudyFold.of(study, features, kept, held)


def measured(study: Study, epsilons: Sequence[float] = EPSILONS, rounds: int = ROUNDS, seed: int = 0) -> StudyErrors:
    """All contenders on all folds."""
    fixed: dict[str, list[float]] = {}
    at: dict[float, dict[str, list[float]]] = {epsilon: {} for epsilon in epsilons}
    for number, part in enumerate(folds_of(study, seed)):
        noise = SeededNoise(np.random.default_rng([seed, number]))
        _add(fixed, without_privacy(part, rounds, noise))
        for epsilon, found in at.items():
            _add(found, published(part, epsilon, rounds, noise))
            _add(found, ours(part, epsilon, rounds, noise))
    return StudyErrors(study, fixed, at)


def _add(found: dict[str, list[float]], errors: Mapping[str, float]) -> None:
    for name, each in errors.items():
        found.setdefault(name, []).append(each)


def cell(errors: Sequence[float]) -> Cell:
    """In per cent, over folds; "-" for none."""
    return percent(errors) if errors else "-"


def grid(found: StudyErrors, which: str) -> Grid:
    """Test errors, a column for each ε; what does not depend on it is the same in all. which: how it was chosen."""
    study, fixed = found.study, found.fixed
    rows: list[tuple[Cell, ...]] = [(name, *(cell(fixed[name]) for _ in found.at)) for name in fixed]
    rows += [(name, *(cell(errors.get(name, ())) for errors in found.at.values())) for name in (PUBLISHED, PAPERS)]
    rows += [(f"{name}: (ε, {DELTA:g})", *(cell(e.get(name, ())) for e in found.at.values())) for name in (SUMS, OWN)]
    title = f"{study.title}, {which}, is protected: test error in %, m={study.labels.size:,}, folds: {study.folds}"
    return Grid(title, ("learner", *(f"ε={epsilon:g}" for epsilon in found.at)), tuple(rows))


def costs(found: StudyErrors, which: str) -> Report:
    """What the published rados of a training fold really cost, and how many rados over own supports an ε buys."""
    records, lines = found.study.training, [Line("published, whole vectors", "δ ≥ 1/2 at every ε")]
    for epsilon in found.at:
        law = windowed(records, epsilon)
        spent = total(law.epsilon(DELTA, rados_number(records)), unit="ε") if law else "no rado exists"
        lines.append(Line(f"ε={epsilon:g}: published, its column alone", spent))
    for epsilon in found.at:
        bought = Measured(most_rados(records, epsilon), unit="rados", form=",.0f")
        lines.append(Line(f"ε={epsilon:g}: rados over own supports", bought))
    return Report(f"{found.study.title}, {which}: what protecting it costs at δ={DELTA:g}", lines)


# --- The benchmark ----------------------------------------------------------------------------------------------------


SOURCES: Final[Mapping[str, tuple[Callable[[Path], Study], float]]] = {
    "fertility": (partial(of_domain, "fertility"), 15.0),
    "ionosphere": (partial(of_domain, "ionosphere"), 15.0),
    "house-votes-84": (of_votes, 25.0),
    "mushroom": (of_mushrooms, 50.0),
    "firm-teacher": (partial(of_domain, "firm-teacher"), 40.0),
    "adult": (of_incomes, 30.0),
}
"""By records: how to read a domain, and the seconds that it takes in a full run."""

QUICK: Final = ("fertility",)
"""Domains of a quick run."""


def study_of(name: str, folder: str | None) -> Study:
    """One of SOURCES, with no column chosen yet. Raises DataNotFound."""
    place = data_folder(folder)
    if place is None:
        raise DataNotFound(f"this benchmark needs {name}: pass --data DIR or set {SEARCHED}")
    read, _ = SOURCES[name]
    return read(place)


def tables(name: str, folder: str | None, quick: bool) -> list[Report | Grid]:
    """A column at random of a domain, and the most telling one where that is another. Raises DataNotFound.

    quick: two ε, a tenth of the rounds, three folds.
    """
    study = study_of(name, folder)
    if quick:
        study = attrs.evolve(study, folds=3)
    epsilons, rounds = (EPSILONS[1::2], ROUNDS // 10) if quick else (EPSILONS, ROUNDS)
    chosen = {"a column at random": study.at_random(), "the most telling column": study.telling}
    made: list[Report | Grid] = []
    for which, each in chosen.items():
        if not made or each.column != study.at_random().column:
            found = measured(each, epsilons, rounds)
            made += [grid(found, which), costs(found, which)]
    return made


def parts(setting: Setting) -> list[Part]:
    """One for each domain. quick: a small domain."""
    quick = setting.quick
    return [
        Part(f"one column of {name}", partial(tables, name, setting.data, quick), 1.5 if quick else SOURCES[name][1])
        for name in (QUICK if quick else SOURCES)
    ]
