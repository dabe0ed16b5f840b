"""Fixtures that several folders of tests share."""

import gc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from proofs_tests.support.ledgers.durable import nursery as nursery
from proofs_tests.support.ledgers.durable import places as places
from proofs_tests.support.ledgers.durable import quick_folder as quick_folder
from proofs_tests.support.ledgers.durable import spent as spent
from proofs_tests.support.ledgers.durable import url as url
from proofs_tests.support.ledgers.postgres import postgresql_server as postgresql_server

if TYPE_CHECKING:
    from proofs_tests.support.programs.clusters import Cluster


SLOW = Path(__file__).with_name("slow_tests.txt")

settings.register_profile("quick", max_examples=20)


def pytest_addoption(parser: pytest.Parser) -> None:
    """For `make quick`."""
    parser.addoption("--cases", type=int, help="run so many cases at most of each parametrised test, evenly spread")


def few_cases(names: Sequence[str], most: int) -> list[str]:
    """Of each test `most` cases, in order: the first, the last and some in between. names: of all cases."""
    cases: dict[str, list[str]] = {}
    for name in names:
        cases.setdefault(name.partition("[")[0], []).append(name)
    chosen = {
        alike[place * (len(alike) - 1) // max(1, min(most, len(alike)) - 1)]
        for alike in cases.values()
        for place in range(min(most, len(alike)))
    }
    return [name for name in names if name in chosen]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests by what they use, and those that are on record as slow."""
    if (most := config.getoption("--cases")) is not None:
        chosen = set(few_cases([item.nodeid for item in items], most))
        items[:] = [item for item in items if item.nodeid in chosen]
    slow = set(SLOW.read_text(encoding="utf-8").split())
    for item in items:
        used: list[str] = getattr(item, "fixturenames", [])
        if "postgresql_server" in used or "postgresql" in getattr(getattr(item, "callspec", None), "id", ""):
            item.add_marker(pytest.mark.postgres)
        if "cluster" in used:
            item.add_marker(pytest.mark.cluster)
        if item.nodeid.partition("[")[0] in slow:
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Leave alone, from now on, the millions of objects that stay until the end: looking for garbage is then quick."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def nothing_left_open() -> Iterator[None]:
    """What a module's tests forgot to close is their failure, not that of whichever test runs when it is collected."""
    yield
    gc.collect()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Cluster]":
    """A Dask cluster of two workers in processes of their own.

    It ends with its module: its scheduler's threads are in this process, and other tests measure memory here.
    """
    from proofs_tests.support.programs.clusters import started  # which takes a second to import

    with started(tmp_path_factory.mktemp("cluster"), 2) as found:
        yield found


@pytest.fixture
def computing(cluster: "Cluster") -> "Iterator[Cluster]":
    """The cluster, as what Dask computes with while the test lasts, which fails where that takes too long."""
    from proofs_tests.support.programs.clusters import PATIENCE, ended_after

    with cluster.client.as_current(), ended_after(2.0 * PATIENCE):
        yield cluster
