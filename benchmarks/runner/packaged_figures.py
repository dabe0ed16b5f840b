"""The accuracy on public data that `exchequer advise` goes by: a small file in its package, from full runs.

`python -m benchmarks.runner.results` writes it with everything else that is made of them.
"""

import json
from pathlib import Path
from typing import Final

import attrs

from benchmarks.runner.readme import Runs, table
from benchmarks.runner.report import Measured

PACKAGED: Final = Path(__file__).parents[2] / "exchequer" / "prices" / "public_accuracy.json"

OURS: Final = "PrivateBoost, add-remove-one"
WITHOUT: Final = "gradient boosting on raw columns (scikit-learn), no privacy"
DIGITS: Final = 4


@attrs.frozen
class PublicData:
    """A data set as it is in the runs. records: to train.  columns: that are learnt from."""

    name: str
    records: int
    columns: int
    classes: int = 2


DATA: Final = (
    PublicData("Adult", 32_561, 14),
    PublicData("Cod-RNA", 59_535, 8),
    PublicData("Mushroom", 6_500, 22),
)


def packaged(runs: Runs) -> str:
    """The file. Raises NotThere for a figure that the runs lack."""
    return json.dumps([_of(runs, data) for data in DATA], indent=1) + "\n"


def _of(runs: Runs, data: PublicData) -> dict[str, object]:
    title = f"{data.name}, δ=1e-05, test set"
    accuracy, area = (_row(runs, "peers", f"{what}: {title}", OURS) for what in ("accuracy", "AUC"))
    without = _row(runs, "boosted-trees", f"accuracy: {data.name}, all systems", WITHOUT)
    by_epsilon = [
        {"epsilon": float(column.removeprefix("ε=")), "accuracy": value, "auc": area[column]}
        for column, value in accuracy.items()
    ]
    return {**attrs.asdict(data), "delta": 1e-5, "without_privacy": max(without.values()), "by_epsilon": by_epsilon}


def _row(runs: Runs, benchmark: str, title: str, row: str) -> dict[str, float]:
    """The numbers of a row, by their columns."""
    cells = [each for each in table(runs, benchmark, title).cells() if each.row == row]
    return {each.column: round(each.cell.value, DIGITS) for each in cells if isinstance(each.cell, Measured)}
