"""DataSynthesizer: descriptions of a table of two columns of 0 and 1."""

import contextlib
import json
import os
import random
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from benchmarks.hall_programs.program import PURE, REPLACE, Data, Pair, Program

LIBRARY: Final = "DataSynthesizer"
PINS: Final = (
    "DataSynthesizer==0.1.13",
    "numpy==2.4.6",
    "scipy==1.17.1",
    "scikit-learn==1.7.2",
    "pandas==3.1.1",
)

SOURCE: Final = 'docstring: "epsilon: A parameter in Differential Privacy"'
PUBLIC: Final = f"{REPLACE} (the description holds the exact number of rows)"
ACTIVE: Final = 'README: noise is injected "within active domain"; here all values of the domain are active'
ROWS: Final[tuple[Pair, ...]] = (((0, 0, 0, 1, 1, 0, 1, 1, 0, 0, 1, 1), (1, 1, 0, 1, 1, 0, 1, 1, 0, 0, 1, 1)),)
"""a, b of six rows; the first is replaced, and both columns keep both values."""


def _described(mode: str, keys: tuple[str, ...], **more: Any) -> Callable[[Data], object]:
    """What a description says of distributions; a seed of its own each time unless one is given."""

    def drawn(data: Data) -> object:
        describer: Any = import_module("DataSynthesizer.DataDescriber").DataDescriber()
        seed = more.get("seed", random.SystemRandom().randrange(2**31))
        with tempfile.TemporaryDirectory() as folder:
            table, domain = Path(folder) / "table.csv", Path(folder) / "domain.json"
            rows = [f"{a},{b}" for a, b in zip(data[::2], data[1::2], strict=True)]
            table.write_text("\n".join(["a,b", *rows]), encoding="utf-8")
            domain.write_text(json.dumps({"a": [0, 1], "b": [0, 1]}), encoding="utf-8")
            settings = dict.fromkeys(("a", "b"), True), dict.fromkeys(("a", "b"), False)
            with open(os.devnull, "w") as silent, contextlib.redirect_stdout(silent):  # it prints its progress
                getattr(describer, f"describe_dataset_in_{mode}_attribute_mode")(
                    str(table),
                    epsilon=1.0,
                    attribute_to_datatype={"a": "Integer", "b": "Integer"},
                    attribute_to_is_categorical=settings[0],
                    attribute_to_is_candidate_key=settings[1],
                    categorical_attribute_domain_file=str(domain),
                    **({"k": 1} if mode == "correlated" else {}),
                    **({} if more.get("default") else {"seed": seed}),
                )
        return _parts(describer.data_description, keys)

    return drawn


def _parts(description: Any, keys: tuple[str, ...]) -> object:
    columns = description["attribute_description"]
    found: list[object] = [columns[name]["distribution_probabilities"] for name in ("a", "b")] if "one" in keys else []
    return found + ([description["conditional_probabilities"]] if "many" in keys else [])


PROGRAMS: Final = (
    Program(
        "independent attributes, a seed each time",
        _described("independent", ("one",)),
        ROWS,
        PURE,
        (1.0,),
        SOURCE,
        PUBLIC,
        disclaimed=ACTIVE,
        samples=2_000,
    ),
    Program(
        "independent attributes, the default seed",
        _described("independent", ("one",), default=True),
        ROWS,
        PURE,
        (1.0,),
        SOURCE,
        PUBLIC,
        samples=250,
    ),
    Program(
        "correlated attributes, the default seed",
        _described("correlated", ("one", "many"), default=True),
        ROWS,
        PURE,
        (1.0,),
        SOURCE,
        PUBLIC,
        samples=100,
    ),
    Program(
        "correlated attributes, a seed each time",
        _described("correlated", ("one", "many")),
        ROWS,
        PURE,
        (1.0,),
        SOURCE,
        PUBLIC,
        samples=250,
    ),
)
