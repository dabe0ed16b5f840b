"""Data sets of OpenML, written once as files of the layout that all loaders read: for where no data folder was given.

OpenML's copies name classes in their own way, and some have columns that UCI's files have not. A copy is used only
where it has as many records of each class as UCI's file and the same values in every column; the order of its records
is kept. Adult is one table there, which the numbers of either class divide into the training and the test file.
"""

import hashlib
import itertools
import math
import socket
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TypeAlias
from urllib.error import HTTPError

import attrs
import numpy as np
from sklearn.datasets import fetch_openml, get_data_home

from accountant.arrays import FloatArray
from benchmarks.data.random_feature_domains import WINE_BOUNDS
from exchequer.datasets import SEARCHED, DataNotFound

Record: TypeAlias = tuple[str, ...]

PATIENCE: Final = 10.0
"""Seconds until a silent server counts as none."""


class Unlike(ValueError):
    """What OpenML sent is not the data set that was meant."""


@attrs.frozen
class File:
    """A file of UCI. labels: how it writes each class, with its number of records.  header: lines before the data."""

    name: str
    labels: Mapping[str, int]
    header: Sequence[str] = ()

    @property
    def records(self) -> int:
        """How many it has."""
        return sum(self.labels.values())


@attrs.frozen
class Offered:
    """A table of OpenML, and the files that it becomes.

    number: its data id.  files: of consecutive records, in any order.  digest: of its features, as `digest` has it.
    separator, label_first: of the files.  front: cells before each record, for columns that nobody reads.
    """

    number: int
    files: Sequence[File]
    digest: str
    separator: str = ","
    label_first: bool = False
    front: Record = ()


def _numbered(*counts: int, start: int = 0) -> dict[str, int]:
    return {str(label): count for label, count in enumerate(counts, start)}


RINGS: Final = (1, 1, 15, 57, 115, 259, 391, 568, 689, 634, 487, 267, 203, 126, 103, 67, 58, 42, 32, 26, 14, 6, 9, 2, 1)
WINE_HEADER: Final = (";".join(f'"{name}"' for name in (*WINE_BOUNDS, "quality")),)
EEG_NAMES: Final = ("AF3", "F7", "F3", "FC5", "T7", "P7", "O1", "O2", "P8", "T8", "FC6", "F4", "F8", "AF4")
EEG_HEADER: Final = (
    "@RELATION EEG_DATA",
    "",
    *(f"@ATTRIBUTE {name} NUMERIC" for name in EEG_NAMES),
    "@ATTRIBUTE eyeDetection {0,1}",
    "",
    "@DATA",
)

OFFERED: Final[Mapping[str, Sequence[Offered]]] = {
    "adult": [
        Offered(
            1590,
            [
                File("adult.data", {"<=50K": 24_720, ">50K": 7_841}),
                File("adult.test", {"<=50K.": 12_435, ">50K.": 3_846}, ["|1x3 Cross validator"]),
            ],
            "6fc6cf97f4f219b2",
            separator=", ",
        )
    ],
    "mushroom": [
        Offered(24, [File("agaricus-lepiota.data", {"e": 4_208, "p": 3_916})], "e3067622fd7dbbfe", label_first=True)
    ],
    "wine-quality": [
        Offered(
            40691,
            [File("winequality-red.csv", _numbered(10, 53, 681, 638, 199, 18, start=3), WINE_HEADER)],
            "c7bf6c69e061acff",
            separator=";",
        ),
        Offered(
            40498,
            [File("winequality-white.csv", _numbered(20, 163, 1_457, 2_198, 880, 175, 5, start=3), WINE_HEADER)],
            "fcb395010ba82128",
            separator=";",
        ),
    ],
    "abalone": [
        Offered(
            183, [File("abalone.data", {**_numbered(*RINGS, start=1), "26": 1, "27": 2, "29": 1})], "25170c5b2e240e66"
        )
    ],
    "banknote": [Offered(1462, [File("data_banknote_authentication.txt", _numbered(762, 610))], "c9ab724853a6bcb7")],
    "breast-cancer-wisconsin": [
        Offered(
            15,
            [File("breast-cancer-wisconsin.data", {"2": 458, "4": 241})],
            "eb346009bc3e1d5d",
            front=("0",),  # for a sample's id
        )
    ],
    "eeg": [Offered(1471, [File("EEG_Eye_State.arff", _numbered(8_257, 6_723), EEG_HEADER)], "dbfc1f1baa48ed6f")],
    "fertility": [Offered(1473, [File("fertility_Diagnosis.txt", {"N": 88, "O": 12})], "3d687bb16e9f03f7")],
    "haberman": [Offered(43, [File("haberman.data", _numbered(225, 81, start=1))], "7f4b45a4364aee3e")],
    "ionosphere": [Offered(59, [File("ionosphere.data", {"g": 225, "b": 126})], "73cee53050405e24")],
    "magic": [Offered(1120, [File("magic04.data", {"g": 12_332, "h": 6_688})], "dd4405054b94407c")],
    "sonar": [Offered(40, [File("sonar.all-data", {"R": 97, "M": 111})], "d0618422dfb091d5")],
    "transfusion": [
        Offered(
            1464,
            [File("transfusion.data", _numbered(570, 178), ["recency,frequency,monetary,time,donated"])],
            "c7c3811e27b825a5",
        )
    ],
}
"""By folder. Ids were not tried against OpenML itself: a wrong one is refused, as are other versions of the data."""

UNREAD: Final = "id"
"""The name of a column that some copies have, in whatever letters."""


def text(value: float) -> str:
    """As UCI's files have it: whole numbers without a point, ? for what is missing."""
    if math.isnan(value):
        return "?"
    return str(int(value)) if value.is_integer() else repr(float(value))


def digest(columns: Sequence[Sequence[str]]) -> str:
    """Of the values of every column: the same for any order of records, another for another order of columns."""
    found = hashlib.sha256()
    for column in columns:
        found.update("\n".join([str(len(column)), *sorted(column), ""]).encode())
    return found.hexdigest()[:16]


def features(names: Sequence[str], values: FloatArray, words: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Columns as text. names: of all.  values: shape (n, columns).  words: of columns that hold their numbers."""
    columns = []
    for name, column in zip(names, values.T.tolist(), strict=True):
        if name.casefold() == UNREAD:
            continue
        found = words.get(name)
        columns.append([text(value) if found is None or math.isnan(value) else found[int(value)] for value in column])
    return columns


def renamed(labels: Sequence[str], wanted: Mapping[str, int]) -> list[str]:
    """Labels as a file writes them. Raises Unlike where they are not those of the file.

    Classes are told by their names, or else by their numbers of records, where these differ.
    """
    found = Counter(labels)
    if found == wanted:
        return list(labels)
    by_count = {count: name for name, count in wanted.items()}
    if len(by_count) < len(wanted) or sorted(found.values()) != sorted(wanted.values()):
        raise Unlike(f"{len(labels)} records of classes {dict(found)}, expected {dict(wanted)}")
    return [by_count[found[label]] for label in labels]


def divided(labels: Sequence[str], files: Sequence[File]) -> list[tuple[File, slice, list[str]]]:
    """Each file with its records and their labels, in the order in which they fit. Raises Unlike where none does."""
    whole = sum(file.records for file in files) == len(labels)
    for order in itertools.permutations(files) if whole else ():
        ends = list(itertools.accumulate(file.records for file in order))
        blocks = [(file, slice(end - file.records, end)) for file, end in zip(order, ends, strict=True)]
        with suppress(Unlike):
            return [(file, block, renamed(labels[block], file.labels)) for file, block in blocks]
    wanted = " and ".join(f"{file.name} with {dict(file.labels)}" for file in files)
    raise Unlike(f"{len(labels)} records of classes {dict(Counter(labels))} do not divide into {wanted}")


def contents(offered: Offered, columns: Sequence[Sequence[str]], labels: Sequence[str]) -> dict[str, str]:
    """The text of each file. Raises Unlike where these are not its records."""
    parts = divided(labels, offered.files)
    if digest(columns) != offered.digest:
        raise Unlike("other columns, or other values in them, than UCI's file")
    records, found = list(zip(*columns, strict=True)), {}
    for file, block, names in parts:
        lines = list(file.header)
        for record, label in zip(records[block], names, strict=True):
            cells = (label, *record) if offered.label_first else (*record, label)
            lines.append(offered.separator.join([*offered.front, *cells]))
        found[file.name] = "\n".join([*lines, ""])
    return found


@contextmanager
def _patient() -> Iterator[None]:
    """Without the retries' warnings, and not for ever."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(PATIENCE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        socket.setdefaulttimeout(before)


def fetched(offered: Offered, cache: Path) -> dict[str, str]:
    """The text of each file. Raises Unlike, or what scikit-learn raises where OpenML does not answer, or refuses."""
    with _patient():
        bunch = fetch_openml(data_id=offered.number, data_home=cache, as_frame=False, parser="liac-arff")
    labels = [text(label) if isinstance(label, float) else str(label) for label in np.ravel(bunch.target).tolist()]
    return contents(offered, features(bunch.feature_names, bunch.data, bunch.categories), labels)


def _write(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        unfinished = folder / f"{name}.unfinished"
        unfinished.write_text(content, encoding="utf-8")
        unfinished.replace(folder / name)


def gathered(names: Sequence[str], cache: Path | None = None) -> Path:
    """A data folder with those of these sets that OpenML has: fetched where they are not there yet.

    names: folders of OFFERED; others are left out.  cache: the folder; None: one below scikit-learn's data home.
    Nothing is raised for sets that cannot be fetched, which loaders then do not find. A copy with other data is
    refused with a warning that says what differs.
    """
    folder = Path(get_data_home()) / "exchequer" if cache is None else cache
    for name in names:
        for offered in OFFERED.get(name, ()):
            if all((folder / name / file.name).is_file() for file in offered.files):
                continue
            try:
                files = fetched(offered, folder)
            except Unlike as error:
                warnings.warn(f"data set {offered.number} of OpenML is not {name} as UCI has it: {error}", stacklevel=2)
            except OSError as error:
                if not isinstance(error, HTTPError):  # nobody answers
                    return folder
            except Exception:  # OpenML answers with something else: each layer of fetch_openml says so in its own way
                continue
            else:
                _write(folder / name, files)
    return folder


def explained(error: DataNotFound) -> str:
    """What a loader says, and all ways out."""
    offered = ", ".join(OFFERED)
    return f"{error}; pass --data DIR, set {SEARCHED}, or be online for what OpenML has ({offered})"
