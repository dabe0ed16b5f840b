"""What a mechanism is: a query, noise, and a declared cost."""

import abc
from typing import Generic, Protocol, TypeVar

from accountant import Adjacency, Cost, Description, Protected, Spendable
from accountant.arrays import FloatArray

D_contra = TypeVar("D_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)


D = TypeVar("D")
R = TypeVar("R")


class Spender(Protocol):
    """Whatever pays for a release: a ledger, or a reservation for one plan."""

    def release(self, mechanism: Spendable[D, R], data: Protected[D]) -> R:
        """Check, pay, sample: see `Ledger.release`."""


class Mechanism(abc.ABC, Generic[D_contra, R_co]):
    """Something the ledger can charge for and sample once. See `accountant.Spendable`."""

    @property
    @abc.abstractmethod
    def cost(self) -> Cost:
        """The declared cost of one release."""

    @property
    @abc.abstractmethod
    def adjacency(self) -> Adjacency:
        """The relation under which the cost was proved."""

    @property
    @abc.abstractmethod
    def description(self) -> Description:
        """What the ledger's entry says about it."""

    def check(self, data: D_contra) -> None:
        """Raise where the data's public facts do not fit; runs before the charge."""

    @abc.abstractmethod
    def sample(self, data: D_contra) -> R_co:
        """Draw one output; runs after the charge, inside the ledger only."""


class FiniteMechanism(Mechanism[D_contra, int]):
    """A mechanism with finitely many outcomes 0 … k − 1, whose distribution the verification kit computes exactly."""

    @abc.abstractmethod
    def log_probabilities(self, data: D_contra) -> FloatArray:
        """Natural logarithms of the outcome probabilities, shape (k,)."""
