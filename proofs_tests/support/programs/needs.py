"""Programs that a few tests need. Without them a test says why it skips; where they are required, it fails."""

import os
from typing import NoReturn

import pytest


def require_or_skip(what: str, reason: str) -> NoReturn:
    """Skip for this reason, or fail where EXCHEQUER_REQUIRE, a list with commas between, names `what`.

    `.ci/run` requires everything it installs, so that there no test is left out in silence.
    """
    if what in os.environ.get("EXCHEQUER_REQUIRE", "").split(","):
        pytest.fail(f"{what} is required here: {reason}", pytrace=False)
    pytest.skip(reason)
