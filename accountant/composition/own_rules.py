"""Rules of composition from other packages: what they must say, and how a ledger's reader finds them again.

A package registers its rule as an entry point of the group `exchequer.composition_rules`, under the rule's name:

    [project.entry-points."exchequer.composition_rules"]
    renyi-8 = "my_package.rules:RenyiOfOrderEight"

The first entry of a ledger names the rule, its version and its parameters; whoever verifies the ledger needs the same
version installed, and replays every amount with it. [own-rule]
"""

import abc
from collections.abc import Callable, Mapping
from importlib import metadata
from typing import ClassVar, Final, TypeVar, final

import attrs

from accountant.canonical_json import canonical
from accountant.composition.rules import Amount, Composition, UnsupportedCost
from accountant.costs import ApproxDP, BeyondFloats, Budget, Cost, PureDP
from accountant.explained import Explained

T = TypeVar("T")

GROUP: Final = "exchequer.composition_rules"
"""The group of entry points in which rules are registered."""


class RuleNotInstalled(Explained, ValueError):
    """A ledger names a rule of composition that is not registered here, or in another version."""


class OwnRule(Composition):
    """A rule of composition of one's own: a privacy filter, valid when every cost may follow from what came before.

    A frozen attrs class with the methods `counted`, `epsilon` and `ceiling`, whose fields are floats and texts; it is
    equal to what its own record makes. A package registers it under its name as an entry point of the group
    `exchequer.composition_rules`. Class attributes:
    `name`, as registered; `version`, to be changed whenever anything adds up to something else; `unit`; and `claims`,
    ids in a registry of claims of yours (entry point `exchequer.claims`), beside or in place of [own-rule].
    `exchequer.testing.check_rule` checks the laws that a ledger relies on.
    """

    version: ClassVar[str]
    claims: tuple[str, ...] = ("own-rule",)

    @abc.abstractmethod
    def counted(self, cost: Cost) -> Amount:
        """What one release of this cost adds, each part at least 0. Raises UnsupportedCost."""

    @abc.abstractmethod
    def epsilon(self, amount: Amount, delta: float) -> float:
        """The ε that is guaranteed at δ in [0, 1) for that sum, rounded up; ∞ where none is."""

    def least_delta(self, amount: Amount) -> float:
        """The smallest δ at which anything is guaranteed for that sum; 0 unless the rule spends one."""
        return 0.0

    def __init_subclass__(cls, **named: object) -> None:
        super().__init_subclass__(**named)
        if own := [name for name in ("amount", "read") if getattr(cls, name) is not getattr(OwnRule, name)]:
            raise TypeError(f"{cls.__name__}: {', '.join(own)} cannot be overridden; write `counted` and `epsilon`")

    @final
    def amount(self, cost: Cost) -> Amount:
        """`counted`, refused where it would take something off the sum. Raises TypeError, and UnsupportedCost, also for
        whatever else `counted` raises."""
        found = self._asked("counted", lambda: self.counted(cost), repr(cost))
        if not isinstance(found, Amount) or not all(type(part) is int and part >= 0 for part in found):
            raise TypeError(f"rule {self.name!r}: counted({cost!r}) must give an Amount of at least 0, got {found!r}")
        return found

    @final
    def read(self, amount: Amount, delta: float) -> float:
        """`epsilon`, a number of at least 0 or ∞. Raises UnsupportedCost for anything else that it gives or raises."""
        found = self._asked("epsilon", lambda: self.epsilon(amount, delta), f"{amount!r} at δ = {delta!r}")
        if isinstance(found, bool) or not isinstance(found, float | int) or not found >= 0.0:
            raise UnsupportedCost(f"rule {self.name!r}: epsilon({amount!r}, {delta!r}) gives {found!r}, which is no ε")
        return float(found)

    def _asked(self, method: str, answer: Callable[[], T], what: str) -> T:
        """The answer of somebody else's code, which may raise anything: named, so that the ledger goes on."""
        try:
            return answer()
        except (UnsupportedCost, BeyondFloats):
            raise
        except Exception as error:
            raise UnsupportedCost(
                f"the rule of composition {self.name!r} failed in {method} of {what}: {type(error).__name__}: {error}; "
                "nothing was charged. The package that registers it has to fix that"
            ) from error

    def guarantee(self, amount: Amount, budget: Budget) -> Budget:
        """(ε, δ) at the budget's δ, ε where that is pure. Raises UnsupportedBudget for other kinds: override it."""
        match budget:
            case PureDP():
                return PureDP(self.read(amount, 0.0))
            case ApproxDP(delta=delta):
                return ApproxDP(self._kept(self.read(amount, delta), amount, budget), delta)
            case _:
                raise self._cannot_keep(budget, "it reads out ε at a δ only: open the ledger with PureDP or ApproxDP")

    @property
    def parameters(self) -> Mapping[str, str | float]:
        """What it was made with: the fields of the attrs class."""
        kind = type(self)
        return {field.name: getattr(self, field.name) for field in attrs.fields(kind)} if attrs.has(kind) else {}

    def describe(self) -> dict[str, str | float]:
        """As it stands in the ledger: its name, its version and its parameters."""
        return {"name": self.name, "version": self.version, **self.parameters}


def rule_from_record(record: Mapping[str, str | float]) -> OwnRule:
    """The registered rule that a ledger names. Raises RuleNotInstalled, and ValueError for a record that it did not
    write."""
    name, version = record.get("name"), record.get("version")
    if not isinstance(name, str) or not isinstance(version, str):
        raise ValueError(f"unknown rule of composition {dict(record)!r}; a newer version of this library may know it")
    kind = _registered(name)
    if kind.version != version:
        raise RuleNotInstalled(
            f"the rule of composition {name!r} is installed in version {kind.version!r}, the ledger names version "
            f"{version!r}: install that version, as another may add up otherwise"
        )
    try:
        rule = kind(**{key: value for key, value in record.items() if key not in ("name", "version")})
        described = rule.describe()
    except Exception as error:  # it is somebody else's code, and may raise anything
        reason = f"the rule of composition {name!r} cannot be made of {dict(record)!r}: {type(error).__name__}: {error}"
        raise RuleNotInstalled(reason) from error
    if not _same_record(described, record):
        raise ValueError(f"the rule of composition {name!r} describes itself as {described!r}, not {dict(record)!r}")
    return rule


def _same_record(one: Mapping[str, str | float], other: Mapping[str, str | float]) -> bool:
    """As they would be written: 1 is not True there, nor 8 the same as 8.0, and NaN is nothing."""
    try:
        return canonical(dict(one)) == canonical(dict(other))
    except (TypeError, ValueError):
        return False


def _registered(name: str) -> type[OwnRule]:
    points = [point for point in metadata.entry_points(group=GROUP) if point.name == name]
    if len({point.value for point in points}) != 1:
        what = (
            f"registered {len(points)} times, by {', '.join(point.value for point in points)}" if points else "unknown"
        )
        raise RuleNotInstalled(
            f"the rule of composition {name!r} is {what}: install the package that has it, once; it registers the rule "
            f"as an entry point {name!r} of the group {GROUP!r}"
        )
    try:
        kind = points[0].load()
    except Exception as error:  # it is somebody else's code, and may raise anything
        reason = f"the rule of composition {name!r} ({points[0].value}) cannot be loaded: {error}"
        raise RuleNotInstalled(reason) from error
    if not (isinstance(kind, type) and issubclass(kind, OwnRule)) or getattr(kind, "name", None) != name:
        raise RuleNotInstalled(f"{points[0].value} is no OwnRule called {name!r}, though it is registered as one")
    return kind
