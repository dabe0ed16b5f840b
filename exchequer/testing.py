"""The verification kit: `check_mechanism`, `check_learner` and all other names of `proofs_tests.harness`.

It stands above this package, so it is found by its name when it is asked for, as `exchequer audit` is.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # ruff: noqa: F403  # types of all names, which are looked up by name below
    from proofs_tests.harness import *
else:

    def __getattr__(name: str) -> object:
        kit = importlib.import_module("proofs_tests.harness")
        if name == "__all__":
            return list(kit.__all__)
        if name.startswith("_") or name not in (
            *kit.__all__,
            "output_law",
            "check_kernel",
        ):  # these two go on for one version
            raise AttributeError(f"module 'exchequer.testing' has no attribute {name!r}")
        return getattr(kit, name)

    def __dir__() -> list[str]:
        return sorted(importlib.import_module("proofs_tests.harness").__all__)
