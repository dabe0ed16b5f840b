"""pure-LDP 1.1.2, before a known bug of its unary encoding was mended."""

from typing import Final

from benchmarks.hall_programs.program import LOCAL, PURE, Program, singles
from benchmarks.hall_programs.pure_ldp import DOCSTRING, direct, local_hash, unary
from benchmarks.hall_programs.pure_ldp import PINS as AFTER

LIBRARY: Final = "pure-ldp"
PINS: Final = ("pure-ldp==1.1.2", *AFTER[1:])

KNOWN: Final = "Samuel-Maddock/pure-LDP#11, found by Arcolezi & Gambs (arXiv 2309.01597), mended in 1.2.0"
TWO: Final = singles(0, 1)

PROGRAMS: Final = (
    Program("DEClient", direct, TWO, PURE, (1.0,), DOCSTRING, LOCAL),
    Program("UEClient (SUE)", unary(False), TWO, PURE, (1.0,), DOCSTRING, LOCAL, known=KNOWN),
    Program("UEClient (OUE)", unary(True), TWO, PURE, (1.0,), DOCSTRING, LOCAL, known=KNOWN),
    Program("LHClient (OLH)", local_hash, TWO, PURE, (1.0,), DOCSTRING, LOCAL),
)
