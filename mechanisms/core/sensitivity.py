"""How far a query moves, with the norm in the type: an ℓ2 bound cannot be handed to a Laplace mechanism.

Conversions have names and only exist where they are true without knowing the dimension.
"""

from typing import ClassVar

import attrs

from accountant.costs import non_negative, up


@attrs.frozen
class RangeSensitivity:
    """max − min, over the candidates, of the change of their scores. In the score's unit, >= 0."""

    norm: ClassVar[str] = "range"
    value: float = attrs.field(converter=non_negative)


@attrs.frozen
class LInfSensitivity:
    """The largest change of any one coordinate. In the query's unit, >= 0."""

    norm: ClassVar[str] = "linf"
    value: float = attrs.field(converter=non_negative)

    def to_range(self) -> RangeSensitivity:
        """One score may rise while another falls: twice the bound. [L1]"""
        return RangeSensitivity(up(2.0 * self.value))


@attrs.frozen
class L2Sensitivity:
    """The Euclidean length of the change. In the query's unit, >= 0."""

    norm: ClassVar[str] = "l2"
    value: float = attrs.field(converter=non_negative)

    def to_linf(self) -> LInfSensitivity:
        """No coordinate moves further than the whole vector."""
        return LInfSensitivity(self.value)


@attrs.frozen
class L1Sensitivity:
    """The sum of the changes of all coordinates. In the query's unit, >= 0."""

    norm: ClassVar[str] = "l1"
    value: float = attrs.field(converter=non_negative)

    def to_l2(self) -> L2Sensitivity:
        """The Euclidean length is at most the sum."""
        return L2Sensitivity(self.value)

    def to_linf(self) -> LInfSensitivity:
        """No coordinate moves further than the whole vector."""
        return LInfSensitivity(self.value)


Sensitivity = RangeSensitivity | LInfSensitivity | L2Sensitivity | L1Sensitivity
