"""The PostgreSQL server of a test run: started when the first test asks for it, one for each worker of pytest-xdist."""

import contextlib
from collections.abc import Iterator

import pytest

from benchmarks.ledgers.postgres import NoServer, Server
from proofs_tests.support.programs.needs import require_or_skip


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[Server]:
    """A running server. Where there is none to start, the tests that ask for it say why they skip."""
    with contextlib.ExitStack() as stack:
        try:
            server = stack.enter_context(Server())
        except NoServer as error:
            require_or_skip("postgresql", str(error))
        yield server
