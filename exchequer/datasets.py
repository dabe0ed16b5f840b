"""The real data sets that the demo, the benchmarks and the tests run on.

Adult, Cod-RNA and Mushroom are found in a folder that the caller names (or `EXCHEQUER_DATA`); breast cancer
ships with scikit-learn. Schemas ship with this package.
"""

import os
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import attrs
import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_breast_cancer, load_svmlight_file

from accountant.arrays import IntArray
from accountant.explained import Explained
from accountant.renamed import old_names
from learners import Schema, read_csv
from learners.tables import Values

SEARCHED = "EXCHEQUER_DATA"


class DataNotFound(Explained, FileNotFoundError):
    """A data set is not where it was looked for."""


@attrs.frozen(eq=False)
class DataSplit:
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


def adult(folder: str | Path) -> DataSplit:
    """Adult with its canonical test set, from `folder` or `folder/adult`. Raises DataNotFound."""
    schema = packaged_schema("adult")
    assert schema.label is not None
    names = [*schema.names, schema.label.name]
    train = _adult_part(Path(folder), "adult.data", names)
    test = _adult_part(Path(folder), "adult.test", names)
    label = schema.label.name
    return DataSplit("adult", schema, train, train.pop(label), test, test.pop(label))


def _adult_part(folder: Path, name: str, columns: list[str]) -> dict[str, Values]:
    table: dict[str, Values] = dict(read_csv(found_file(folder, "adult", name), names=columns, comment="|"))
    # The canonical test file ends its labels in a dot.
    table["income"] = np.char.rstrip(np.asarray(table["income"], dtype=np.str_), ".")
    return table


def found_file(folder: Path, home: str, name: str) -> Path:
    """The file, compressed or not, in `folder` or in `folder/home`. Raises DataNotFound."""
    tried = [place / (name + end) for place in (folder, folder / home) for end in ("", ".gz")]
    path = next((path for path in tried if path.is_file()), None)
    if path is None:
        raise DataNotFound(f"no {name}[.gz] in {folder} or {folder / home}; set {SEARCHED} or pass the folder")
    return path


def cod_rna(folder: str | Path) -> DataSplit:
    """Cod-RNA, cod-rna.txt to train and cod-rna.t to test, from `folder` or `folder/cod-rna`. Raises DataNotFound.

    The paper cross-validates on the training file: `folds(cod_rna(folder), rows="train")`.
    """
    schema = packaged_schema("cod_rna")
    train, y_train = _cod_rna_part(Path(folder), "cod-rna.txt", schema)
    test, y_test = _cod_rna_part(Path(folder), "cod-rna.t", schema)
    return DataSplit("cod_rna", schema, train, y_train, test, y_test)


def _cod_rna_part(folder: Path, name: str, schema: Schema) -> tuple[dict[str, Values], Values]:
    features, target = load_svmlight_file(str(found_file(folder, "cod-rna", name)), n_features=len(schema.names))
    values: npt.NDArray[np.float64] = features.toarray()
    labels: Values = np.where(target > 0.0, "1", "-1")
    return {column: values[:, number] for number, column in enumerate(schema.names)}, labels


def mushroom(folder: str | Path, seed: int = 0) -> DataSplit:
    """Mushroom from `folder` or `folder/mushroom`, a fifth held out at random by `seed`. Raises DataNotFound."""
    schema = packaged_schema("mushroom")
    assert schema.label is not None
    path = found_file(Path(folder), "mushroom", "agaricus-lepiota.data")
    table: dict[str, Values] = dict(read_csv(path, names=[schema.label.name, *schema.names]))
    labels = table.pop(schema.label.name)
    return _divided("mushroom", schema, table, labels, *_shuffled(labels.size, 0.2, seed))


def breast_cancer(seed: int = 0) -> DataSplit:
    """Breast cancer (Wisconsin, diagnostic; bundled with scikit-learn), a quarter held out at random."""
    schema = packaged_schema("breast_cancer")
    bunch = load_breast_cancer()
    values: npt.NDArray[np.float64] = bunch.data
    labels: Values = np.asarray(bunch.target_names)[bunch.target]
    table: dict[str, Values] = {str(name): values[:, column] for column, name in enumerate(bunch.feature_names)}
    return _divided("breast_cancer", schema, table, labels, *_shuffled(labels.size, 0.25, seed))


def _shuffled(n: int, held: float, seed: int) -> tuple[IntArray, IntArray]:
    """Rows kept and rows held out, at random by `seed`."""
    order = np.random.default_rng(seed).permutation(n)
    return order[int(held * n) :], order[: int(held * n)]


def _divided(
    name: str, schema: Schema, table: dict[str, Values], labels: Values, kept: IntArray, held: IntArray
) -> DataSplit:
    """The rows `kept` to train and the rows `held` to test."""
    train = {column: values[kept] for column, values in table.items()}
    test = {column: values[held] for column, values in table.items()}
    return DataSplit(name, schema, train, labels[kept], test, labels[held])


Rows = Literal["all", "train"]
"""All rows of a data set together, or its training rows only."""


def _pool(data: DataSplit, rows: Rows) -> tuple[dict[str, Values], Values]:
    if rows == "train":
        return data.train, data.y_train
    table = {name: np.concatenate([data.train[name], data.test[name]]) for name in data.schema.names}
    return table, np.concatenate([data.y_train, data.y_test])


def random_split(data: DataSplit, seed: int = 0, held: float = 0.2, *, rows: Rows = "all") -> DataSplit:
    """The same rows, a share `held` of them held out at random by `seed`."""
    table, labels = _pool(data, rows)
    return _divided(data.name, data.schema, table, labels, *_shuffled(labels.size, held, seed))


def folds(data: DataSplit, k: int = 5, seed: int = 0, *, rows: Rows = "all") -> list[DataSplit]:
    """The k data sets of a k-fold cross-validation, shuffled by `seed`; folds do not depend on labels."""
    table, labels = _pool(data, rows)
    parts = np.array_split(np.random.default_rng(seed).permutation(labels.size), k)
    return [
        _divided(data.name, data.schema, table, labels, np.concatenate([*parts[:i], *parts[i + 1 :]]), parts[i])
        for i in range(k)
    ]


if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)
