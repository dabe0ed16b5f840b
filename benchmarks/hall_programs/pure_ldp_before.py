"""pure-LDP 1.1.2, before a known bug of its unary encoding was mended."""

from typing import Final

from benchmarks.hall_programs.program import LOCAL, PURE, Program, singles
from benchmarks.hall_programs.pure_ldp import DOCSTRING, _direct, _local_hash, _unary

LIBRARY: Final = "pure-ldp"
PINS: Final = ("pure-ldp==1.1.2", *(pin for pin in ("numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.7.2", "statsmodels==0.14.6", "xxhash==3.5.0")))

KNOWN: Final = "Samuel-Maddock/pure-LDP#11, found by Arcolezi & Gambs (arXiv 2309.01597), mended in 1.2.0"
TWO: Final = singles(0, 1)

PROGRAMS: Final = (
    Program("DEClient", _direct, TWO, PURE, (1.0,), DOCSTRING, LOCAL),
    Program("UEClient (SUE)", _unary(False), TWO, PURE, (1.0,), DOCSTRING, LOCAL, known=KNOWN),
    Program("UEClient (OUE)", _unary(True), TWO, PURE, (1.0,), DOCSTRING, LOCAL, known=KNOWN),
    Program("LHClient (OLH)", _local_hash, TWO, PURE, (1.0,), DOCSTRING, LOCAL),
)
