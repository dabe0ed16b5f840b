"""multi-freq-ldpy: clients of protocols of local differential privacy."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Final

from benchmarks.hall_programs.program import LOCAL, PURE, Data, Pair, Program, singles

LIBRARY: Final = "multi-freq-ldpy"
PINS: Final = ("multi-freq-ldpy==0.2.5", "numpy==2.4.6", "scipy==1.17.1", "xxhash==3.5.0")
"""Newer releases of xxhash refuse texts, which its clients give it."""

DOCSTRING: Final = 'docstring: ":param epsilon: privacy guarantee"'
PERMANENT: Final = 'docstring: ":param eps_1: lower bound of privacy guarantee (a single report)"'
FOUR: Final = singles(0, 1, 2, 3)
TUPLES: Final[tuple[Pair, ...]] = (((0, 0), (1, 1)), ((0, 0), (0, 1)))
ONE_ATTRIBUTE: Final[tuple[Pair, ...]] = (((0, 0), (0, 1)), ((0, 0), (1, 0)))


def _client(module: str, name: str) -> Callable[..., object]:
    found: Callable[..., object] = getattr(import_module(f"multi_freq_ldpy.{module}"), name)
    return found


def _pure(protocol: str, k: int, epsilon: float, data: Data) -> object:
    return _client(f"pure_frequency_oracles.{protocol}", f"{protocol}_Client")(int(data[0]), k, epsilon)


def _symmetric(data: Data) -> object:
    return _client("pure_frequency_oracles.UE", "UE_Client")(int(data[0]), 4, 1.0, optimal=False)


def _hashed(data: Data) -> object:
    """The seed makes a public hash function: what it makes of the four inputs is what it says."""
    xxhash: Any = import_module("xxhash")  # the library's own hash function
    client: Any = _client("pure_frequency_oracles.LH", "LH_Client")
    value, seed = client(int(data[0]), 4, 1.0)
    return [value == xxhash.xxh32(str(each), seed=seed).intdigest() % 4 for each in range(4)]


def _longitudinal(protocol: str, data: Data) -> object:
    return _client(f"long_freq_est.L_{protocol}", f"L_{protocol}_Client")(int(data[0]), 4, 2.0, 1.0)


def _flipped(data: Data) -> object:
    return _client("long_freq_est.dBitFlipPM", "dBitFlipPM_Client")(int(data[0]), 4, 4, 2, 1.0)


def _tuples(solution: str, data: Data) -> object:
    folder = {"SPL": "SPL_solution", "SMP": "SMP_solution", "RSpFD": "RSpFD_solution"}[solution.partition("_")[0]]
    values = [int(each) for each in data]
    return _client(f"mdim_freq_est.{folder}", f"{solution}_Client")(values, [2, 2], 2, 1.0)


PROGRAMS: Final = (
    Program("GRR_Client, k = 4", partial(_pure, "GRR", 4, 1.0), FOUR, PURE, (1.0,), DOCSTRING, LOCAL),
    Program("UE_Client (OUE), k = 4", partial(_pure, "UE", 4, 1.0), FOUR, PURE, (1.0,), DOCSTRING, LOCAL),
    Program("UE_Client (SUE), k = 4", _symmetric, FOUR, PURE, (1.0,), DOCSTRING, LOCAL),
    Program("LH_Client, k = 4", _hashed, FOUR, PURE, (1.0,), DOCSTRING, LOCAL),
    Program("HE_Client, k = 4", partial(_pure, "HE", 4, 1.0), FOUR, PURE, (1.0,), DOCSTRING, LOCAL),
    Program("HE_Client, last bits", partial(_pure, "HE", 4, 1.0), FOUR[:1], PURE, (1.0,), DOCSTRING, LOCAL, True),
    Program("SS_Client, k = 4", partial(_pure, "SS", 4, 0.5), FOUR, PURE, (0.5,), DOCSTRING, LOCAL),
    Program("SS_Client, k = 10", partial(_pure, "SS", 10, 1.0), singles(0, 1, 2), PURE, (1.0,), DOCSTRING, LOCAL),
    Program("dBitFlipPM_Client", _flipped, FOUR, PURE, (1.0,), 'docstring: ":param eps_perm: upper bound"', LOCAL),
    *(
        Program(f"L_{name}_Client, one report", partial(_longitudinal, name), FOUR, PURE, (1.0,), PERMANENT, LOCAL)
        for name in ("GRR", "OSUE", "SUE", "OUE", "SOUE")
    ),
    Program("SPL_GRR_Client, 2 attributes", partial(_tuples, "SPL_GRR"), TUPLES, PURE, (1.0,), DOCSTRING, LOCAL),
    Program("SMP_GRR_Client, 2 attributes", partial(_tuples, "SMP_GRR"), TUPLES, PURE, (1.0,), DOCSTRING, LOCAL),
    Program("RSpFD_GRR_Client, 2 attributes", partial(_tuples, "RSpFD_GRR"), TUPLES, PURE, (1.0,), DOCSTRING, LOCAL),
    Program(
        "RSpFD_GRR_Client, one attribute differs",
        partial(_tuples, "RSpFD_GRR"),
        ONE_ATTRIBUTE,
        PURE,
        (1.0,),
        DOCSTRING,
        "one attribute of a person's tuple",
    ),
    Program(
        "RSpFD_UE_zero_Client, 2 attributes", partial(_tuples, "RSpFD_UE_zero"), TUPLES, PURE, (1.0,), DOCSTRING, LOCAL
    ),
)
