"""Data sets of OpenML come out as those of UCI's files: from a server on this machine that speaks as OpenML does."""

import gzip
import hashlib
import json
import os
import random
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import attrs
import numpy as np
import pytest
from sklearn.datasets import _openml

from benchmarks.data import openml
from benchmarks.data.openml import (
    OFFERED,
    File,
    Offered,
    Unlike,
    digest,
    divided,
    explained,
    gathered,
    renamed,
    text,
)
from benchmarks.data.rado_domains import SOURCES, domain
from benchmarks.data.random_feature_domains import wine
from exchequer.datasets import DataNotFound, DataSplit, adult, found_file, mushroom
from learners.kinds.single_values import Values

NEEDS_DATA = pytest.mark.skipif(
    not os.environ.get("EXCHEQUER_DATA"), reason="needs UCI's files: set EXCHEQUER_DATA to the folder with real data"
)

# --- A server that speaks as OpenML does ------------------------------------------------------------------------------


@attrs.frozen(slots=False)
class Served:
    """A data set of the server. columns: name to cells, the class among them.  target: the name of the class."""

    columns: Mapping[str, Sequence[str]]
    target: str

    def words(self, name: str) -> list[str] | None:
        """The categories of a column; None for one of numbers."""
        values = set(self.columns[name]) - {"?"}
        if name != self.target and all(_is_number(value) for value in values):
            return None
        return sorted(values)

    @cached_property
    def arff(self) -> bytes:
        """The file."""
        kinds = ((name, self.words(name)) for name in self.columns)
        heads = [f"@ATTRIBUTE '{name}' {_kind(words)}" for name, words in kinds]
        quoted = [[_quoted(cell) for cell in cells] for cells in self.columns.values()]
        records = [",".join(record) for record in zip(*quoted, strict=True)]
        return "\n".join(["@RELATION served", *heads, "@DATA", *records, ""]).encode()

    @property
    def features(self) -> list[dict[str, str]]:
        """As the API describes them."""
        return [
            {
                "index": str(index),
                "name": name,
                "data_type": "numeric" if self.words(name) is None else "nominal",
                "is_target": str(name == self.target).lower(),
                "is_ignore": "false",
                "is_row_identifier": "false",
                "number_of_missing_values": str(list(cells).count("?")),
            }
            for index, (name, cells) in enumerate(self.columns.items())
        ]


class Broken(Served):
    """Its file has fewer cells in a record than attributes."""

    @cached_property
    def arff(self) -> bytes:
        """Cut."""
        return super().arff.replace(b"'2.5',", b"")


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _quoted(cell: str) -> str:
    return cell if cell == "?" else f"'{cell}'"


def _kind(words: Sequence[str] | None) -> str:
    return "NUMERIC" if words is None else "{" + ",".join(map(_quoted, words)) + "}"


@attrs.define
class Server:
    """base: its address.  sets: by data id.  asked: paths that were asked for."""

    base: str
    sets: dict[int, Served] = attrs.field(factory=dict)
    asked: list[str] = attrs.field(factory=list)

    def answer(self, path: str) -> tuple[int, bytes]:
        """Status and body. 412 is OpenML's answer for a data set that it has not."""
        self.asked.append(path)
        *_, kind, number = ["", *path.strip("/").split("/")] if "download" not in path else ["", "arff", *_id(path)]
        if int(number) not in self.sets:
            return 412, b"{}"
        served = self.sets[int(number)]
        if kind == "arff":
            return 200, served.arff
        found: dict[str, object] = {
            "data": {"data_set_description": self._description(int(number), served)},
            "features": {"data_features": {"feature": served.features}},
            "qualities": {"data_qualities": {"quality": [{"name": "NumberOfInstances", "value": self._size(served)}]}},
        }
        return 200, json.dumps(found[kind]).encode()

    def _size(self, served: Served) -> str:
        return str(len(served.columns[served.target]))

    def _description(self, number: int, served: Served) -> dict[str, str]:
        return {
            "id": str(number),
            "name": "served",
            "version": "1",
            "description": "of the test",
            "format": "ARFF",
            "status": "active",
            "file_id": str(number),
            "url": f"{self.base}/data/v1/download/{number}/served.arff",
            "md5_checksum": hashlib.md5(served.arff, usedforsecurity=False).hexdigest(),
        }


def _id(path: str) -> list[str]:
    return [next(part for part in path.split("/") if part.isdigit())]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Running, and scikit-learn asks it in the place of OpenML."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = found.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found = Server(f"http://127.0.0.1:{listening.server_address[1]}")
    _point(monkeypatch, found.base)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    yield found
    listening.shutdown()
    listening.server_close()


def _point(monkeypatch: pytest.MonkeyPatch, base: str) -> None:
    for name in ("_SEARCH_NAME", "_DATA_INFO", "_DATA_FEATURES", "_DATA_QUALITIES"):
        path = str(getattr(_openml, name)).split("/api/", 1)[-1].removeprefix("api/")
        monkeypatch.setattr(_openml, name, f"{base}/api/{path}")
    monkeypatch.setattr(_openml, "_OPENML_PREFIX", "", raising=False)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)


# --- Small data sets --------------------------------------------------------------------------------------------------

SMALL = {"size": ["1", "2.5", "-3", "4", "0.1"], "shape": ["round", "?", "flat", "flat", "a-b"]}


TABLE = Offered(7, [File("small.data", {"yes": 3, "no": 2})], digest(list(SMALL.values())))
"""Five records for one file."""


@pytest.fixture
def small(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """A server with one small data set, whose classes are called 1 and 2."""
    monkeypatch.setattr(openml, "OFFERED", {"small": [TABLE]})
    server.sets[7] = Served({**SMALL, "class": ["2", "1", "2", "1", "2"]}, "class")
    return server


def test_a_data_set_is_fetched_once_with_numbers_as_they_are(small: Server, tmp_path: Path) -> None:
    assert gathered(["small", "cod-rna"], tmp_path) == tmp_path
    written = (tmp_path / "small" / "small.data").read_text()
    assert written == "1,round,yes\n2.5,?,no\n-3,flat,yes\n4,flat,no\n0.1,a-b,yes\n"
    asked = list(small.asked)
    gathered(["small"], tmp_path)
    assert asked
    assert small.asked == asked


def test_files_have_the_layout_that_is_asked_for(
    small: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [File("small.data", {"yes": 3, "no": 2}, ["a header"])]
    other = attrs.evolve(TABLE, files=files, separator="; ", label_first=True, front=("0",))
    monkeypatch.setattr(openml, "OFFERED", {"small": [other]})
    small.sets[7] = Served({"ID": ["9", "8", "7", "6", "5"], **small.sets[7].columns}, "class")
    gathered(["small"], tmp_path)
    assert (tmp_path / "small" / "small.data").read_text().splitlines()[:2] == ["a header", "0; yes; 1; round"]


def test_a_copy_with_other_data_is_refused_with_a_warning(small: Server, tmp_path: Path) -> None:
    columns = small.sets[7].columns
    for changed in (
        {**columns, "size": ["1", "2.5", "-3", "4", "0.2"]},
        {"shape": columns["shape"], "size": columns["size"], "class": columns["class"]},
        {**columns, "class": ["2", "1", "1", "1", "1"]},
    ):
        small.sets[7] = Served(changed, "class")
        cache = tmp_path / str(len(small.asked))
        with pytest.warns(UserWarning, match="data set 7 of OpenML is not small as UCI has it: "):
            gathered(["small"], cache)
        assert not (cache / "small").exists()


def test_a_data_set_that_openml_has_not_does_not_keep_others_away(
    small: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openml, "OFFERED", {"gone": [attrs.evolve(TABLE, number=8)], "small": [TABLE]})
    gathered(["gone", "small"], tmp_path)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["openml", "small"]


def test_neither_does_one_that_cannot_be_read(small: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openml, "OFFERED", {"broken": [attrs.evolve(TABLE, number=8)], "small": [TABLE]})
    small.sets[8] = Broken(small.sets[7].columns, "class")
    gathered(["broken", "small"], tmp_path)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["openml", "small"]


def test_without_openml_loaders_say_all_three_ways_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _point(monkeypatch, "http://127.0.0.1:9")  # where nobody listens
    folder = gathered(["adult", "mushroom"], tmp_path)
    with pytest.raises(DataNotFound) as caught:
        adult(folder)
    said = explained(caught.value)
    for way in ("adult.data", "--data DIR", "EXCHEQUER_DATA", "be online for what OpenML has (adult, mushroom"):
        assert way in said, way


def test_the_default_is_below_the_data_home_of_scikit_learn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    assert gathered([]) == tmp_path / "exchequer"


def test_one_table_is_divided_in_the_order_that_its_classes_have() -> None:
    files = [File("train", {"a": 3, "b": 1}), File("test", {"a.": 2, "b.": 1})]
    for order in ("aabaaba", "abaaaab"):
        parts = {file.name: (order[block], names) for file, block, names in divided(order, files)}
        assert {name: len(records) for name, (records, _) in parts.items()} == {"train": 4, "test": 3}
        assert parts["train"][1] == list(parts["train"][0])
        assert parts["test"][1] == [f"{label}." for label in parts["test"][0]]
    for order in ("aaaaabb", "aabaabaa"):
        with pytest.raises(Unlike, match="do not divide into train with"):
            divided(order, files)


def test_classes_of_equal_numbers_are_told_by_their_names_only() -> None:
    assert renamed("xyz", {"x": 1, "y": 1, "z": 1}) == ["x", "y", "z"]
    with pytest.raises(Unlike, match="3 records of classes"):
        renamed("xyz", {"a": 1, "b": 1, "c": 1})


def test_a_digest_knows_columns_and_not_records() -> None:
    assert digest(["ab", "cd"]) == digest(["ba", "cd"])
    assert len({digest(["ab", "cd"]), digest(["cd", "ab"]), digest(["ab", "ce"]), digest(["abcd"])}) == 4
    assert [text(value) for value in (3.0, -0.0, 0.1, 1e-7, float("nan"))] == ["3", "0", "0.1", "1e-07", "?"]


# --- The real ones ----------------------------------------------------------------------------------------------------


def _shared() -> Path:
    return Path(os.environ["EXCHEQUER_DATA"])


def _lines(path: Path) -> list[str]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        return str(file.read()).splitlines()


def serve(server: Server, name: str) -> None:
    """Give the server what UCI's files have, with the class at the end; of several files the last comes first."""
    for each in OFFERED[name]:
        records: list[list[str]] = []
        for file in reversed(each.files):
            lines = _lines(found_file(_shared(), name, file.name))[len(file.header) :]
            cells = [[cell.strip() for cell in line.split(each.separator.strip())] for line in lines if line]
            records += [[*row[1:], row[0]] if each.label_first else row[len(each.front) :] for row in cells]
        *columns, labels = map(list, zip(*records, strict=True))
        features = {f"V{place}": column for place, column in enumerate(columns, 1)}
        server.sets[each.number] = Served({**features, "Class": [label.rstrip(".") for label in labels]}, "Class")


def same(ours: Mapping[str, Values], others: Mapping[str, Values]) -> None:
    """Every column, its values and its type."""
    assert list(ours) == list(others)
    for name, values in ours.items():
        assert values.dtype == others[name].dtype, name
        assert np.array_equal(values, others[name]), name


def same_dataset(ours: DataSplit, other: DataSplit) -> None:
    """All arrays."""
    same(ours.train, other.train)
    same(ours.test, other.test)
    same({"train": ours.y_train, "test": ours.y_test}, {"train": other.y_train, "test": other.y_test})


@pytest.mark.data
@NEEDS_DATA
def test_adult_is_that_of_the_files_and_none_where_records_are_mixed(server: Server, tmp_path: Path) -> None:
    serve(server, "adult")
    found = adult(gathered(["adult"], tmp_path))
    assert (found.y_train.size, int(np.sum(found.y_train == ">50K"))) == (32_561, 7_841)
    same_dataset(found, adult(_shared()))
    labels = [*found.y_test.tolist(), *found.y_train.tolist()]
    random.Random(0).shuffle(labels)
    with pytest.raises(Unlike, match=r"do not divide into adult\.data"):
        divided(labels, OFFERED["adult"][0].files)


@pytest.mark.data
@NEEDS_DATA
def test_mushroom_is_that_of_the_file(server: Server, tmp_path: Path) -> None:
    serve(server, "mushroom")
    same_dataset(mushroom(gathered(["mushroom"], tmp_path)), mushroom(_shared()))


@pytest.mark.data
@NEEDS_DATA
def test_wines_are_those_of_the_files(server: Server, tmp_path: Path) -> None:
    serve(server, "wine-quality")
    ours, others = wine(gathered(["wine-quality"], tmp_path)), wine(_shared())
    same({**ours.table, "quality": ours.labels}, {**others.table, "quality": others.labels})


@pytest.mark.data
@NEEDS_DATA
@pytest.mark.parametrize("name", [name for name, source in SOURCES.items() if source.folder in OFFERED])
def test_domains_are_those_of_the_files(name: str, server: Server, tmp_path: Path) -> None:
    folder = SOURCES[name].folder
    serve(server, folder)
    ours, others = domain(name, gathered([folder], tmp_path)), domain(name, _shared())
    assert np.array_equal(ours.points, others.points)
    assert np.array_equal(ours.labels, others.labels)
