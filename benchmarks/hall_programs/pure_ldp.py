"""pure-LDP: clients of frequency oracles of local differential privacy."""

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from benchmarks.hall_programs.program import LOCAL, PURE, Data, Program, singles

LIBRARY: Final = "pure-ldp"
PINS: Final = (
    "pure-ldp==1.2.0",
    "numpy==2.4.6",
    "scipy==1.17.1",
    "scikit-learn==1.7.2",
    "statsmodels==0.15.0",
    "xxhash==3.5.0",
)

DOCSTRING: Final = 'docstring: "epsilon: float - the privacy budget"'
RAPPOR: Final = "rappor_server.py: epsilon = 2 k log((1 - f/2) / (f/2)), at f = 1/2 and k = 1"
FOUR: Final = singles(0, 1, 2, 3)
HASHES: Final[tuple[Callable[[str], int], ...]] = (lambda text: int(text) % 4,)


def client(module: str, name: str) -> Callable[..., Any]:
    """A class of the library."""
    found: Callable[..., Any] = getattr(import_module(f"pure_ldp.frequency_oracles.{module}"), name)
    return found


def _same(data: int) -> int:
    return data


def direct(data: Data) -> object:
    """Randomized response among four inputs."""
    return client("direct_encoding", "DEClient")(1.0, 4, index_mapper=_same).privatise(int(data[0]))


def unary(optimal: bool) -> Callable[[Data], object]:
    """A bit for each of the four inputs."""

    def drawn(data: Data) -> object:
        return client("unary_encoding", "UEClient")(1.0, 4, optimal, index_mapper=_same).privatise(int(data[0]))

    return drawn


def _histogram(data: Data) -> object:
    return client("histogram_encoding", "HEClient")(1.0, 4, index_mapper=_same).privatise(int(data[0]))


def local_hash(data: Data) -> object:
    """The seed makes a public hash function: which of the four inputs have the reported value."""
    xxhash: Any = import_module("xxhash")

    reporter = client("local_hashing", "LHClient")(1.0, 4, use_olh=True, index_mapper=_same)
    value, seed = reporter.privatise(int(data[0]))
    return [value == xxhash.xxh32(str(each), seed=seed).intdigest() % reporter.g for each in range(4)]


def _sketch(hadamard: bool) -> Callable[[Data], object]:
    def drawn(data: Data) -> object:
        return client("apple_cms", "CMSClient")(1.0, HASHES, 4, hadamard).privatise(int(data[0]))

    return drawn


def _response(data: Data) -> object:
    module = client("hadamard_response.hr_client", "HadamardResponseClient")
    return module(1.0, 4, None, index_mapper=_same).privatise(int(data[0]))


def _mechanism(data: Data) -> object:
    """The library's report as its server would get it, and its type."""
    report = client("hadamard_mechanism", "HadamardMechClient")(1.0, 4, 1, index_mapper=_same).privatise(int(data[0]))
    return [type(report).__name__, [list(each) for each in report]]


def _mechanism_listed(data: Data) -> object:
    """The same report as a list, whatever its type was."""
    report = client("hadamard_mechanism", "HadamardMechClient")(1.0, 4, 1, index_mapper=_same).privatise(int(data[0]))
    return [list(each) for each in report]


def _rappor(data: Data) -> object:
    reporter = client("rappor", "RAPPORClient")(0.5, 4, [HASHES], num_of_cohorts=1, index_mapper=_same)
    return reporter.privatise(int(data[0]))[0]


def _count_sketch(data: Data) -> object:
    signed = [(lambda text: int(text) % 4, lambda text: int(text) // 2 % 2)]
    return client("priv_count_sketch.pcs_client", "PCSClient")(1.0, 1, 4, signed).privatise(int(data[0]))[0]


PROGRAMS: Final = (
    Program("DEClient", direct, FOUR, PURE, (1.0,), DOCSTRING, LOCAL),
    Program("UEClient (SUE)", unary(False), FOUR, PURE, (1.0,), DOCSTRING, LOCAL),
    Program("UEClient (OUE)", unary(True), FOUR, PURE, (1.0,), DOCSTRING, LOCAL),
    Program("HEClient", _histogram, FOUR, PURE, (1.0,), DOCSTRING, LOCAL),
    Program("LHClient (OLH)", local_hash, FOUR, PURE, (1.0,), DOCSTRING, LOCAL),
    Program("CMSClient", _sketch(False), FOUR, PURE, (1.0,), DOCSTRING, LOCAL),
    Program("CMSClient, Hadamard", _sketch(True), FOUR, PURE, (1.0,), DOCSTRING, LOCAL),
    Program("HadamardResponseClient", _response, FOUR, PURE, (1.0,), DOCSTRING, LOCAL),
    Program("HadamardMechClient, with the type of its report", _mechanism, FOUR, PURE, (1.0,), DOCSTRING, LOCAL),
    Program("HadamardMechClient, as a list", _mechanism_listed, FOUR, PURE, (1.0,), DOCSTRING, LOCAL),
    Program("PCSClient", _count_sketch, FOUR, PURE, (1.0,), DOCSTRING, LOCAL),
    Program("RAPPORClient, f = 1/2", _rappor, FOUR, PURE, (2.0 * math.log(3.0),), RAPPOR, LOCAL),
)
