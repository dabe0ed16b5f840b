"""Queries of SmartNoise SQL as mechanisms: at the privacy cost that its reader states, charged before they run."""

import importlib.metadata
from typing import Any, Final, Protocol, runtime_checkable

from accountant import AddRemoveOne, ApproxDP, PureDP
from mechanisms.foreign.declared import DeclaredMechanism, trust

LONGEST_QUERY: Final = 200
"""Characters of a query that its entry keeps."""


@runtime_checkable
class PrivateReader(Protocol):
    """What is used of `snsql.sql.PrivateReader`."""

    def get_privacy_cost(self, query_strings: str) -> Any:  # (ε, δ), of numpy's numbers
        """What a query would cost; nothing is run."""

    def execute(self, query_string: str) -> Any:  # rows of whatever types the table has
        """The noisy answer."""


def from_smartnoise(reader: PrivateReader, query: str) -> DeclaredMechanism[None, Any]:  # rows of any type
    """A query as a mechanism, for `Ledger.release(from_smartnoise(reader, sql), ledger.protect(None))`.

    reader: it has the data already, so nothing is protected here; whoever has it can also ask it without any ledger.
    query: SQL with noise on every column, as the reader rewrites it.
    Under add-remove-one, of what the reader's metadata calls an individual. Cost: ApproxDP as the reader states it, of
    all columns together, PureDP where its δ is 0; asked once more before the charge. [declared-elsewhere]
    Raises TypeError for what is no reader, ValueError for a cost of 0, or one that changed, and what SmartNoise raises.
    """
    if not isinstance(reader, PrivateReader):
        raise TypeError(f"reader: expected a PrivateReader of SmartNoise SQL, got {type(reader).__name__}")
    cost, library = _stated(reader, query), f"SmartNoise SQL {_version()}"

    def unchanged(data: None) -> None:
        if (now := _stated(reader, query)) != cost:
            raise ValueError(f"the reader states {now!r} now, and stated {cost!r}: make the mechanism anew")

    return DeclaredMechanism(
        run=lambda data: reader.execute(query),
        cost=cost,
        adjacency=AddRemoveOne(),
        library=library,
        name="query",
        norm="individuals",
        parameters=(
            ("query", query[:LONGEST_QUERY]),
            ("priced by", trust(f"the reader of {library}")),
        ),
        check_data=unchanged,
    )


def _stated(reader: PrivateReader, query: str) -> ApproxDP | PureDP:
    epsilon, delta = map(float, reader.get_privacy_cost(query))
    if not epsilon > 0.0:
        raise ValueError(
            f"the reader states a cost of ε = {epsilon!r}: a query that costs nothing would not be counted, whatever "
            "it shows; is there noise on each of its columns?"
        )
    return ApproxDP(epsilon, delta) if delta else PureDP(epsilon)


def _version() -> str:
    try:
        return importlib.metadata.version("smartnoise-sql")
    except importlib.metadata.PackageNotFoundError:
        return "of unknown version"
