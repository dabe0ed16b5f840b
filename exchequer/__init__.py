"""Exchequer by one name, such as `exchequer.Ledger` and `exchequer.testing`; and the command line.

The public names of `accountant`, `mechanisms`, `boosting` and `learners` are here as well, each loaded when it is asked
for. The command line is thin: it reads files, calls the folders below and prints. No mechanism, no composition and no
accounting may live here, and nothing may be printed that was computed from protected data without the ledger's release.
"""

import importlib
from typing import TYPE_CHECKING

from exchequer.own_packages import PACKAGES, refuse_strangers

refuse_strangers()

if TYPE_CHECKING:
    # ruff: noqa: F403  # types of all public names, which are looked up by name below
    from accountant import *
    from boosting import *
    from exchequer import testing as testing
    from learners import *
    from mechanisms import *
else:

    def _public() -> list[str]:
        return sorted({"testing", *(name for each in PACKAGES for name in importlib.import_module(each).__all__)})

    def __getattr__(name: str) -> object:
        if name == "__all__":
            return _public()
        if name == "testing":
            return importlib.import_module("exchequer.testing")
        if not name.startswith("_"):
            for package in map(importlib.import_module, PACKAGES):
                if name in package.__all__:
                    return getattr(package, name)
        raise AttributeError(f"module 'exchequer' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*_public(), *(name for name in globals() if name.startswith("__"))})
