"""The real data sets that the demo, the benchmarks and the tests run on.

Adult is found in a folder that the caller names (or `EXCHEQUER_DATA`); breast cancer ships with
scikit-learn. Schemas ship with this package.
"""

import os
from importlib import resources
from pathlib import Path

import attrs
import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_breast_cancer

from learners import Schema, read_csv
from learners.schema import Values

SEARCHED = "EXCHEQUER_DATA"


class DataNotFound(FileNotFoundError):
    """A data set is not where it was looked for."""


@attrs.frozen(eq=False)
class Dataset:
    """Training and test tables by column, with labels, and the public schema.

    train, test: column name to values, shape (n,).  y_train, y_test: labels, shape (n,).
    """

    name: str
    schema: Schema
    train: dict[str, Values]
    y_train: Values
    test: dict[str, Values]
    y_test: Values


def packaged_schema(name: str) -> Schema:
    """A schema that ships with this package."""
    with resources.as_file(resources.files("exchequer.schemas") / f"{name}.toml") as path:
        return Schema.from_toml(path)


def data_folder(given: str | Path | None = None) -> Path | None:
    """The folder with real data: the one given, else EXCHEQUER_DATA, else None."""
    chosen = given if given is not None else os.environ.get(SEARCHED)
    return Path(chosen) if chosen else None


def adult(folder: str | Path) -> Dataset:
    """Adult with its canonical test set, from `folder` or `folder/adult`. Raises DataNotFound."""
    schema = packaged_schema("adult")
    assert schema.label is not None
    names = [*schema.names, schema.label.name]
    train = _adult_part(Path(folder), "adult.data", names)
    test = _adult_part(Path(folder), "adult.test", names)
    label = schema.label.name
    return Dataset("adult", schema, train, train.pop(label), test, test.pop(label))


def _adult_part(folder: Path, name: str, columns: list[str]) -> dict[str, Values]:
    tried = [place / (name + end) for place in (folder, folder / "adult") for end in ("", ".gz")]
    path = next((path for path in tried if path.is_file()), None)
    if path is None:
        raise DataNotFound(f"no {name}[.gz] in {folder} or {folder / 'adult'}; set {SEARCHED} or pass the folder")
    table: dict[str, Values] = dict(read_csv(path, names=columns, comment="|"))
    # The canonical test file ends its labels in a dot.
    table["income"] = np.char.rstrip(np.asarray(table["income"], dtype=np.str_), ".")
    return table


def breast_cancer(seed: int = 0) -> Dataset:
    """Breast cancer (Wisconsin, diagnostic; bundled with scikit-learn), a quarter held out at random."""
    schema = packaged_schema("breast_cancer")
    bunch = load_breast_cancer()
    values: npt.NDArray[np.float64] = bunch.data
    labels: Values = np.asarray(bunch.target_names)[bunch.target]
    order = np.random.default_rng(seed).permutation(labels.size)
    held, kept = order[: labels.size // 4], order[labels.size // 4 :]

    def part(rows: npt.NDArray[np.intp]) -> dict[str, Values]:
        return {str(name): values[rows, column] for column, name in enumerate(bunch.feature_names)}

    return Dataset("breast_cancer", schema, part(kept), labels[kept], part(held), labels[held])
