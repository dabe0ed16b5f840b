"""Which function of diffprivlib asks for a charge, and what its ε is worth under an adjacency, as far as that is known.

Read off release 0.6.6: its documentation names no adjacency. [declared-elsewhere]
"""

import sys
from collections.abc import Iterator, Mapping
from types import CodeType, FrameType
from typing import Final, NamedTuple

from accountant import AddRemoveOne, Adjacency, AdjacencyMismatch, ReplaceOne

LIBRARY: Final = "diffprivlib"


class Caller(NamedTuple):
    """Where `check` or `spend` was called.

    code, place: of the caller.  function: its qualified name where it is diffprivlib's, else "".
    shown: the function that was called from outside of the library, for the entry.
    """

    code: CodeType
    place: int
    function: str
    shown: str


def caller(frame: FrameType) -> Caller:
    """Whose code a frame runs; keeps nothing of its data."""
    code = frame.f_code
    if not _theirs(frame):
        return Caller(code, frame.f_lasti, "", "a call by hand")
    outermost = frame
    for each in _above(frame):
        if not _theirs(each):
            break
        outermost = each
    module = str(outermost.f_globals.get("__name__", LIBRARY)).removeprefix(f"{LIBRARY}.")
    return Caller(code, frame.f_lasti, code.co_qualname, f"{module}.{outermost.f_code.co_qualname}"[:99])


def frame_of_caller() -> FrameType:
    """Of whoever called the function that calls this one."""
    return sys._getframe(2)


def builds_a_tree_of_a_forest(frame: FrameType) -> bool:
    """Whether scikit-learn's loop over the trees of a forest is what runs this fit of a tree, in whatever thread."""
    names = (each.f_code.co_name for each in _above(frame) if not _theirs(each))
    return next(names, "") == "_parallel_build_trees"


def _above(frame: FrameType) -> Iterator[FrameType]:
    above = frame.f_back
    while above is not None:
        yield above
        above = above.f_back


def _theirs(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == LIBRARY


# --- what an ε of theirs is worth ---------------------------------------------------------------------------------

_ON_SIZE: Final = "its noise, or where it is cut off, depends on the number of records, which add-remove-one protects"
_PER_CELL: Final = "it adds noise to counts for a record that comes or goes; one that is replaced changes two of them"
_PER_CLASS: Final = (
    "it describes each class or cluster by itself, and a replaced record may leave one and enter another"
)
_SHARED_OUT: Final = "it shares records out among trees by their places, which all move where one comes or goes"

FACTORS: Final[Mapping[str, tuple[type[Adjacency], int, str]]] = {
    "histogram": (ReplaceOne, 2, _PER_CELL),
    "histogramdd": (ReplaceOne, 2, _PER_CELL),
    "DecisionTreeClassifier.fit": (ReplaceOne, 2, _PER_CELL),
    "RandomForestClassifier.fit": (ReplaceOne, 2, _PER_CELL),
}
"""Functions whose ε is to be charged several times under an adjacency, and why. A record that is replaced leaves, and
another comes: what is ε-DP for either is 2ε-DP for both. A forest's trees have disjoint records, by their places."""

_ON_RANGE: Final = (
    "its noise covers the width of the bounds, and a record that comes or goes moves a sum by as much as the bounds "
    "are away from 0, and the number of records, which is used as it is"
)

_SQUARES: Final = "it noises sums of squares for the lower bound alone, not at all where that is 0 (AUDITS.md)"

REFUSED: Final[Mapping[str, Mapping[type[Adjacency], str]]] = {
    "_mean": {AddRemoveOne: _ON_SIZE},
    "_var": {AddRemoveOne: _ON_SIZE},
    "_sum": {AddRemoveOne: _ON_SIZE},
    "StandardScaler.partial_fit": {AddRemoveOne: _ON_SIZE},
    "PCA._fit_full": {AddRemoveOne: _ON_SIZE},
    "LinearRegression.fit": {ReplaceOne: _SQUARES, AddRemoveOne: _SQUARES},
    "RandomForestClassifier.fit": {AddRemoveOne: _SHARED_OUT},
    "GaussianNB._partial_fit": {ReplaceOne: _PER_CLASS, AddRemoveOne: _ON_RANGE},
    "KMeans.fit": {ReplaceOne: _PER_CLASS, AddRemoveOne: _ON_RANGE},
}
"""Functions whose ε is known not to hold under an adjacency, and why. Some have means, sums or numbers of records of
their own inside, which they charge to nobody."""


def times_charged(function: str, adjacency: Adjacency) -> int:
    """How many times its ε a function costs under an adjacency; 1 where nothing else is known.

    function: its qualified name.  Raises AdjacencyMismatch where its ε does not hold.
    """
    reasons = REFUSED.get(function, {})
    if (reason := reasons.get(type(adjacency))) is not None:
        other = AddRemoveOne() if isinstance(adjacency, ReplaceOne) else ReplaceOne()
        remedy = (
            "Charge it by declared_elsewhere, at a cost that you vouch for"
            if type(other) in reasons
            else f"Use a ledger that promises {other.name}, if that is what you mean to promise"
        )
        raise AdjacencyMismatch(
            f"{function} of {LIBRARY} is not private under {adjacency.name} at the ε that it declares: {reason}. "
            f"Nothing was charged. {remedy}",
            other,
        )
    under, factor, _ = FACTORS.get(function, (None, 1, ""))
    return factor if under is not None and isinstance(adjacency, under) else 1
