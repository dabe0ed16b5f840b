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
from exchequer.datasets import DataSplit, adult, breast_cancer, data_folder
from learners import LazyBoostClassifier
from learners.tables import encode


@attrs.frozen
class DemoSettings:
    """What is fixed before the data is looked at."""

    epsilon: float
    delta: float
    rounds: int
    learning_rate: float
    density: float


FEW_RECORDS = 1000
"""Below this many records the noise is large: fewer rounds, and a denser (hence quieter) weighting."""

SETTINGS_FEW = DemoSettings(epsilon=1.0, delta=1e-5, rounds=25, learning_rate=0.25, density=0.5)
SETTINGS_MANY = DemoSettings(epsilon=1.0, delta=1e-5, rounds=100, learning_rate=0.25, density=0.35)

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
    if len(found) == 1:
        output.note("For Adult (32,561 records) as well, give its folder: --data DIR, or set EXCHEQUER_DATA.")


def fit(data: DataSplit, settings: DemoSettings, seed: int | None) -> LazyBoostClassifier:
    """The private model, with a progress bar."""
    model = LazyBoostClassifier(**attrs.asdict(settings), schema=data.schema, random_state=seed)
    with output.rounds_bar(settings.rounds) as on_round:
        return model.fit(data.train, data.y_train, on_round=on_round)


def _one(data: DataSplit, settings: DemoSettings, seed: int | None) -> None:
    output.title(
        f"{data.name}: {data.y_train.size} training records, {data.y_test.size} held out, "
        f"{len(data.schema.features)} Boolean features"
    )
    output.paragraph(
        f"Settings: epsilon {settings.epsilon:g}, delta {settings.delta:g}, {settings.rounds} rounds, "
        f"learning rate {settings.learning_rate:g}, density {settings.density:g}. Unless given on the command line "
        "they are constants of this demo, picked with these two public data sets in view; trying settings out on "
        "protected data has to be paid for."
    )
    model = fit(data, settings, seed)
    private, public = _accuracies(data, model)
    output.model(model)
    output.statement(model.statement_)
    _remark(data.y_train.size, public - private, fresh=seed is None)


def _accuracies(data: DataSplit, model: LazyBoostClassifier) -> tuple[float, float]:
    """Print the comparison on the held-out records; the private and the non-private accuracy."""
    positive = model.classes_[1]
    truth = data.y_test == positive
    standing = "private" if model.statement_.private else "simulated, not private"
    margins, baseline = model.decision_function(data.test), _baseline(data, positive)
    majority = np.mean(data.y_train == positive) > 0.5
    answers = [
        (f"LazyBoostClassifier, {standing}", margins > 0.0, margins),
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
