"""What was really drawn, put together by mechanism and query: how often, with which parameters, within which bounds.

A learner's rounds differ in a parameter or in ζ, so a group shows the range of each number.
"""

from collections.abc import Iterable
from typing import Final, TypeAlias

import attrs

from accountant.costs import Description

MOST_GROUPS: Final = 10_000
"""Groups that are kept apart; of ledgers with more, the rest goes into one."""

MOST_WORDS: Final = 3
"""Different texts of one parameter that are kept."""

Key: TypeAlias = tuple[str, str, str, str, bool]


@attrs.define
class Range:
    """The smallest and the largest of some numbers."""

    low: float
    high: float

    @staticmethod
    def of(value: float) -> "Range":
        """Of one number. Raises TypeError, ValueError or OverflowError for what is none: entries may say anything."""
        return Range(float(value), float(value))

    def take(self, value: float) -> None:
        """One more."""
        self.low, self.high = min(self.low, value), max(self.high, value)


@attrs.define
class Group:
    """Rounds of one mechanism on one query.

    norm: of the sensitivity.  zeta: None where no round was promised under one.
    numbers, words: the parameters.  more_words: whether a parameter had further texts.
    """

    mechanism: str
    query: str
    norm: str
    noise: str
    private: bool
    sensitivity: Range
    rounds: int = 0
    zeta: Range | None = None
    numbers: dict[str, Range] = attrs.field(factory=dict)
    words: dict[str, list[str]] = attrs.field(factory=dict)
    more_words: bool = False

    def take(self, said: Description, rounds: int) -> None:
        """So many rounds of it."""
        self.rounds += rounds
        self.sensitivity.take(float(said.sensitivity))
        if said.zeta is not None:
            self.zeta = self.zeta or Range.of(said.zeta)
            self.zeta.take(float(said.zeta))
        for name, value in said.parameters:
            if isinstance(value, int | float):
                self.numbers.setdefault(name, Range.of(value)).take(float(value))
            else:
                self._word(name, str(value))

    def _word(self, name: str, value: str) -> None:
        known = self.words.setdefault(name, [])
        if value not in known:
            self.more_words = self.more_words or len(known) >= MOST_WORDS
            known.extend([value] if len(known) < MOST_WORDS else [])


class ReleaseGroups:
    """All groups, in the order in which they first appeared."""

    def __init__(self) -> None:
        self._groups: dict[Key, Group] = {}

    def add(self, said: Description, rounds: int) -> None:
        """So many rounds were drawn."""
        key = (said.mechanism, said.query, said.norm, said.noise, said.private)
        group = self._groups.get(key)
        if group is None:
            if len(self._groups) >= MOST_GROUPS:
                key = ("other mechanisms", "", said.norm, said.noise, said.private)
            group = self._groups.setdefault(key, Group(*key, Range.of(said.sensitivity)))
        group.take(said, rounds)

    def groups(self) -> Iterable[Group]:
        """As they are so far."""
        return self._groups.values()
