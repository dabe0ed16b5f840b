"""Tables of the leaderboard with two classes or more, as the files have them: 22 and 3.

The second of two classes is the one to be found: it is called positive elsewhere. What is public about each column, and
where it comes from, stands in public_bounds, in the schemas that ship with exchequer (adult, cod-rna, mushroom, wdbc)
and in random_feature_domains and regression_domains (medical costs, wine, abalone).

A record is a line of its file. In eeg neighbours in time are alike, in parkinsons several records are of one person,
and skin, transfusion and others repeat records: splits at random flatter learners there, all of them alike, and a
promise for a record of parkinsons is none for a person.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, TypeAlias

import attrs
import numpy as np

from benchmarks.adapters.protocol import Column
from benchmarks.data import COSTS, MEDICAL_SCHEMA, SOURCES, Regression, Source, abalone, medical, wine
from benchmarks.tables import public_bounds as public
from benchmarks.tables.reading import Layout, classified, columns_of, place
from benchmarks.tables.table_sets import TableSet
from exchequer.datasets import DataSplit, adult, cod_rna, mushroom

Reader: TypeAlias = Callable[[str | None], TableSet]
"""From a data folder (None: EXCHEQUER_DATA) to a table that may still lie out of its bounds. Raises DataNotFound."""

LAYOUTS: Final[Mapping[str, Layout]] = {
    "magic": Layout(SOURCES["magic"], public.MAGIC),
    "eeg": Layout(SOURCES["eeg"], public.EEG),
    "transfusion": Layout(SOURCES["transfusion"], public.TRANSFUSION),
    "ionosphere": Layout(SOURCES["ionosphere"], public.IONOSPHERE),
    "sonar": Layout(SOURCES["sonar"], public.SONAR),
    "breast-cancer-wisconsin": Layout(SOURCES["breast-cancer-wisconsin"], public.BREAST_CANCER),
    "wdbc": Layout(Source("wdbc", "wdbc.data", ["B"], ["M"]), public.WDBC),
    "banknote": Layout(SOURCES["banknote"], public.BANKNOTE),
    "fertility": Layout(SOURCES["fertility"], public.FERTILITY),
    "haberman": Layout(SOURCES["haberman"], public.HABERMAN),
    "pima-diabetes": Layout(Source("pima-diabetes", "pima-indians-diabetes.data", ["0"], ["1"]), public.PIMA),
    "german-credit": Layout(Source("german-credit", "german.data", ["1"], ["2"]), public.GERMAN_CREDIT),
    "australian-credit": Layout(
        Source("australian-credit", "australian.dat", ["0"], ["1"], separator=None), public.AUSTRALIAN_CREDIT
    ),
    "tic-tac-toe": Layout(Source("tic-tac-toe", "tic-tac-toe.data", ["negative"], ["positive"]), public.TIC_TAC_TOE),
    "house-votes-84": Layout(
        Source("house-votes-84", "house-votes-84.data", ["democrat"], ["republican"]), public.HOUSE_VOTES
    ),
    "mammographic-mass": Layout(
        Source("mammographic-mass", "mammographic_masses.data", ["0"], ["1"]), public.MAMMOGRAPHIC
    ),
    "parkinsons": Layout(Source("parkinsons", "parkinsons.data", ["0"], ["1"], header=1), public.PARKINSONS),
    "skin": Layout(Source("skin", "Skin_NonSkin.txt", ["2"], ["1"], separator="\t"), public.SKIN),
    # Four records name no class, or two.
    "clave-firm-teacher": Layout(SOURCES["firm-teacher"], public.CLAVE, odd=frozenset({"0000", "0011", "0101"})),
}

WINE_CLASSES: Final = ("5 or less", "6", "7 or more")
"""The three groups that are common for these wines: poor, middling, good."""

ABALONE_CLASSES: Final = ("1 to 8 rings", "9 or 10 rings", "11 to 29 rings")
"""The three groups of the file's own description."""


def _whole(name: str, data: DataSplit) -> TableSet:
    """Training part first."""
    assert data.schema.label is not None
    columns = columns_of(data.schema)
    # The files' readers leave numbers as texts, which the schema's encoder would parse.
    table = {
        column.name: np.concatenate([np.asarray(data.train[column.name]), np.asarray(data.test[column.name])]).astype(
            np.float64 if column.numeric else np.str_
        )
        for column in columns
    }
    texts = np.concatenate([np.asarray(data.y_train), np.asarray(data.y_test)])
    return classified(name, columns, tuple(data.schema.label.classes), table, texts)


def _with_test_part(name: str, data: DataSplit) -> TableSet:
    whole = _whole(name, data)
    return attrs.evolve(whole, test_rows=slice(len(data.y_train), whole.records))


def adult_income(folder: str | None) -> TableSet:
    """48,842 persons, 16,281 of them the test part; an income of more than $50,000 a year."""
    return _with_test_part("adult", adult(place("adult", folder)))


def cod_rna_coding(folder: str | None) -> TableSet:
    """331,152 pairs of sequences, 271,617 of them the test part; whether their RNA is non-coding."""
    return _with_test_part("cod-rna", cod_rna(place("cod-rna", folder)))


def mushroom_edible(folder: str | None) -> TableSet:
    """8,124 mushrooms, in a random order that is always the same; poisonous or not."""
    return _whole("mushroom", mushroom(place("mushroom", folder)))


def medical_smoker(folder: str | None) -> TableSet:
    """1,338 persons; whether they smoke, from all else, their charges included."""
    data = medical(folder)
    columns = tuple(column for column in medical_columns() if column.name != "smoker")
    table = {**data.table, "charges": data.labels}
    texts = np.asarray(table.pop("smoker"))
    return classified("medical-smoker", (*columns, Column("charges", *COSTS)), ("no", "yes"), table, texts)


def medical_columns() -> tuple[Column, ...]:
    """Those of MEDICAL_SCHEMA, but up to 10 children: its 5 is the most that a record has."""
    columns = columns_of(MEDICAL_SCHEMA)
    return tuple(Column("children", 0.0, 10.0) if column.name == "children" else column for column in columns)


def _grouped(name: str, data: Regression, edges: tuple[float, float], classes: tuple[str, ...]) -> TableSet:
    """Labels up to the first edge, up to the second, above."""
    texts = np.asarray(classes)[np.searchsorted(edges, data.labels)]
    return classified(name, columns_of(data.schema), classes, dict(data.table), texts)


def wine_quality(folder: str | None) -> TableSet:
    """6,497 wines of both colours; quality in three groups."""
    return _grouped("wine-quality", wine(folder), (5.0, 6.0), WINE_CLASSES)


def abalone_age(folder: str | None) -> TableSet:
    """4,177 shells; rings in three groups."""
    return _grouped("abalone-age", abalone(folder), (8.0, 10.0), ABALONE_CLASSES)


CLASSIFICATIONS: Final[Mapping[str, Reader]] = {
    "adult": adult_income,
    "cod-rna": cod_rna_coding,
    "mushroom": mushroom_edible,
    "medical-smoker": medical_smoker,
    "wine-quality": wine_quality,
    "abalone-age": abalone_age,
    **{name: partial(layout.read, name) for name, layout in LAYOUTS.items()},
}
