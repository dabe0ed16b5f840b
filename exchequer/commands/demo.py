"""`exchequer demo`: a private model on public data, beside what the same data gives without privacy.

The data sets are published, so the non-private numbers may be shown. With data of your own only the first
line of the comparison could be printed, and only on records that were held out.
"""

from collections.abc import Iterator
from pathlib import Path

import attrs
import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from accountant.arrays import FloatArray
from exchequer.console import output
from exchequer.console.text_plots import curve_rows
from exchequer.datasets import DataSplit, adult, breast_cancer, data_folder
from learners import PrivateBoostClassifier, scorecard
from learners.tables import encode


@attrs.frozen
class DemoSettings:
    """What is fixed before the data is looked at. rounds: of each column."""

    epsilon: float
    delta: float
    rounds: int


FEW_RECORDS = 1000
"""Below this many records the noise is large, and a larger delta is still far below 1/n."""

SETTINGS_FEW = DemoSettings(epsilon=1.0, delta=1e-5, rounds=8)
SETTINGS_MANY = DemoSettings(epsilon=1.0, delta=1e-6, rounds=8)

SHOWN_CURVES = 8
SHOWN_TABLES = 3
"""Of the most influential columns; `exchequer explain` prints all of them."""

NOTABLE_GAP = 0.01


def settings_for(n: int) -> DemoSettings:
    """The demo's constants; they depend on the public number of records alone."""
    return SETTINGS_FEW if n < FEW_RECORDS else SETTINGS_MANY


def datasets(folder: str | Path | None) -> Iterator[DataSplit]:
    """Breast cancer, and Adult where its folder is known. Raises DataNotFound."""
    yield breast_cancer()
    place = data_folder(folder)
    if place is not None:
        yield adult(place)


def run(
    folder: str | Path | None, epsilon: float | None, delta: float | None, rounds: int | None, seed: int | None
) -> None:
    """Train on each data set and print what came out. None takes the demo's constants."""
    found = list(datasets(folder))
    for number, data in enumerate(found):
        if number:
            output.paragraph("\n")
        default = settings_for(data.y_train.size)
        settings = attrs.evolve(
            default,
            epsilon=default.epsilon if epsilon is None else epsilon,
            delta=default.delta if delta is None else delta,
            rounds=default.rounds if rounds is None else rounds,
        )
        _one(data, settings, seed)
    _next()
    if len(found) == 1:
        output.note("For Adult (32,561 records) as well, give its folder: --data DIR, or set EXCHEQUER_DATA.")


def fit(data: DataSplit, settings: DemoSettings, seed: int | None) -> PrivateBoostClassifier:
    """The private model, with a progress bar."""
    model = PrivateBoostClassifier(
        settings.epsilon,
        settings.delta,
        rounds_per_column=settings.rounds,
        schema=data.schema,
        random_state=seed,
    )
    with output.rounds_bar(settings.rounds * len(data.schema.columns)) as on_round:
        return model.fit(data.train, data.y_train, on_round=on_round)


def _one(data: DataSplit, settings: DemoSettings, seed: int | None) -> None:
    output.title(
        f"{data.name}: {data.y_train.size} training records, {data.y_test.size} held out, "
        f"{len(data.schema.columns)} columns"
    )
    output.paragraph(
        f"Settings: epsilon {settings.epsilon:g}, delta {settings.delta:g}, {settings.rounds} rounds per column. "
        "Nothing was tuned: trying settings out on protected data has to be paid for (--tune of `exchequer train`)."
    )
    model = fit(data, settings, seed)
    private, public = _accuracies(data, model)
    _curves(model)
    _card(model)
    output.statement(model.statement_, most=output.SHOWN_FACTS)
    _remark(data.y_train.size, public - private, fresh=seed is None)


def _curves(model: PrivateBoostClassifier) -> None:
    """The model in pictures: what a column does to the score, from its lower to its upper bound."""
    output.heading("Its curves")
    rows = curve_rows(model.model_, SHOWN_CURVES)
    picture = f"higher speaks for {model.classes_[1]}"
    output.table(["column", picture, "from, to"], rows, whole=["column", picture])


def _card(model: PrivateBoostClassifier) -> None:
    """The same in points, as somebody adds them up by hand."""
    how, *tables = scorecard(model, lines=None).sections()
    for section in [how, *tables[:SHOWN_TABLES]]:
        output.section(section)
    rest = len(model.model_.terms) - SHOWN_TABLES
    output.paragraph(f"{rest} more columns are not shown; `exchequer explain` prints all of a saved model.")


def _next() -> None:
    """What to type for data of one's own."""
    output.heading("Next, with a table of your own")
    for command in NEXT:
        output.paragraph(f"  {command}")


NEXT = (
    "exchequer schema draft people.csv --label income --out people.toml",
    "exchequer train people.csv --schema people.toml --epsilon 1 --out model.json",
)
"""Between the two, the draft asks for what must come from public knowledge."""


def _accuracies(data: DataSplit, model: PrivateBoostClassifier) -> tuple[float, float]:
    """Print the comparison on the held-out records; the private and the non-private accuracy."""
    positive = model.classes_[1]
    truth = data.y_test == positive
    standing = "private" if model.statement_.private else "simulated, not private"
    margins, baseline = model.decision_function(data.test), _baseline(data, positive)
    majority = np.mean(data.y_train == positive) > 0.5
    answers = [
        (f"PrivateBoostClassifier, {standing}", margins > 0.0, margins),
        ("gradient boosting, NOT private", baseline > 0.0, baseline),
        ("always the larger class, NOT private", np.full(truth.size, majority), np.zeros(truth.size)),
    ]
    rows = [(name, _share(said == truth), f"{roc_auc_score(truth, score):.3f}") for name, said, score in answers]
    output.table(["model", "accuracy", "AUC"], rows, numbers=["accuracy", "AUC"])
    return float(np.mean(answers[0][1] == truth)), float(np.mean(answers[1][1] == truth))


def _share(right: npt.NDArray[np.bool_]) -> str:
    return f"{np.mean(right):.1%}"


def _baseline(data: DataSplit, positive: object) -> FloatArray:
    """Scores of scikit-learn's gradient boosting on the same encoded columns, without any privacy."""
    categorical = [not hasattr(column, "lower") for column in data.schema.columns]
    model = HistGradientBoostingClassifier(categorical_features=categorical, random_state=0)
    model.fit(encode(data.train, data.schema).T, data.y_train == positive)
    return np.asarray(model.decision_function(encode(data.test, data.schema).T), dtype=np.float64)


def _remark(n: int, gap: float, *, fresh: bool) -> None:
    if n < FEW_RECORDS and gap > NOTABLE_GAP:
        output.paragraph(
            f"\n{n} records are few for differential privacy: the noise has to hide any one of them, and here it "
            f"costs {100 * gap:.1f} points of accuracy. More records shrink that cost in proportion; a larger "
            "--epsilon shrinks it too, for a weaker promise."
            + (" The noise is drawn afresh in every run, so the accuracy moves by some points." if fresh else "")
        )
