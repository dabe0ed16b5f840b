"""Sixty digits for every test here, so that no truth is rounded where it is written."""

from collections.abc import Iterator

import mpmath as mp
import pytest


@pytest.fixture(autouse=True)
def _sixty_digits() -> Iterator[None]:
    with mp.workdps(60):
        yield
