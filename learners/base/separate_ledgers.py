"""Fits of one estimator that each open a ledger of their own, and so must know of one another.

An estimator shares a `Family` with whatever `sklearn.clone`, `copy` and `pickle` make of it, in this process. What is
pickled takes along what is known of by then: in another process the fits of two workers do not see each other, but
what comes back brings home what was made there.
"""

import os
import threading
import uuid
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, Self

import attrs

from accountant import Adjacency, Budget, Ledger, Statement
from accountant.audit import SeparateFits, in_words
from accountant.callers import level_of_the_caller
from accountant.costs import adjacency_record


class SeparateLedgersWarning(UserWarning):
    """One estimator, its clones and its copies were fitted several times, each time on a ledger of its own.

    Each fit keeps its (epsilon, delta); no one budget bounds them together. Raised before the fit is charged, so that
    `warnings.simplefilter("error", SeparateLedgersWarning)` refuses it.
    """


REMEDY: Final = (
    "The ledger that a fit opens for itself knows of that fit only. To bound all fits by one budget share one ledger "
    "among them: ledger=Ledger(budget, ...), or the URL of a durable one, ledger='sqlite:///study.db', which other "
    "processes open, too; and for k fits give each the epsilon and delta of budget.split(k). Folds must not depend on "
    "the labels: cv=KFold(k), as scikit-learn's default moves other records between folds when one label changes."
)


@attrs.frozen
class ChargedFit:
    """What one fit was charged.

    cost: in all.  relation: the adjacency that it holds under, in words.  private: False for simulated noise.
    """

    cost: Budget
    relation: str
    private: bool


class Family:
    """The fits of one estimator and its relatives, as far as this process knows of them. Safe for threads.

    name: the same in every process.  arrived: whether it came from another process, or out of a file.
    """

    def __init__(self, name: str | None = None, *, arrived: bool = False) -> None:
        self.name = uuid.uuid4().hex if name is None else name
        self._lock = threading.Lock()
        self._made: dict[str, ChargedFit] = {}
        self._under_way: dict[str, ChargedFit] = {}
        self._arrived, self._process = arrived, os.getpid()
        self._sent, self._made_here = False, False

    @contextmanager
    def counted(self, ledger: Ledger, private: bool) -> Iterator[str]:
        """Count the fit that the block makes if its ledger was charged, also where the block fails then.

        ledger: of its own, not charged yet.  private: whether its noise is.  Yields what `told` knows the fit by.
        Warns, before anything is charged, where there are or may be others.
        """
        fit, relation = uuid.uuid4().hex, _in_words(ledger.adjacency)
        with self._lock:
            others = [*self._made.values(), *self._under_way.values()]
            self._under_way[fit] = planned = ChargedFit(ledger.budget, relation, private)
        try:
            if others or self._away or self._sent:
                self._warn([*others, planned])
            yield fit
        finally:
            charged = any(entry.kind == "charged" for entry in ledger.entries)
            with self._lock:
                del self._under_way[fit]
                if charged:
                    self._made[fit] = ChargedFit(ledger.spent, relation, private)
                    self._made_here = True

    def told(self, fit: str) -> SeparateFits | None:
        """Which of the fits this one is, as far as is known now; None where it is the only one."""
        with self._lock:
            known, made_here = dict(self._made), self._made_here
        # What was fitted before it came here is as it was there: a model that only predicts here is no further fit.
        elsewhere = self._sent or (self._away and made_here)
        if len(known) == 1 and not elsewhere:
            return None
        simulated = not all(each.private for each in known.values())
        return SeparateFits([*known].index(fit) + 1, len(known), elsewhere, _together(known.values()), simulated)

    @property
    def _away(self) -> bool:
        return self._arrived or os.getpid() != self._process  # a forked process has it, too

    def _warn(self, fits: list[ChargedFit]) -> None:
        said = []
        if len(fits) > 1:
            would = "are" if all(each.private for each in fits) else "would, with secure noise, be"
            said.append(
                f"This is one of {len(fits)} fits of this estimator, its clones and its copies, each on a ledger of "
                f"its own. If they see the same records, they {would} together {_together(fits)}."
            )
        if self._away or self._sent:
            said.append(
                "This estimator was pickled or saved, so that there may be further fits of it in other processes or "
                "files, which are not counted here."
            )
        warnings.warn(" ".join([*said, REMEDY]), SeparateLedgersWarning, stacklevel=level_of_the_caller())

    # --- to other processes and back -----------------------------------------------------------------------

    def packed(self, *, sent_to_fit: bool) -> tuple[str, dict[str, ChargedFit], bool]:
        """What another process is told. sent_to_fit: whether what goes there is not fitted yet, so that it may be."""
        with self._lock:
            self._sent = self._sent or sent_to_fit
            known = dict(self._made)
        with _LIVING_LOCK:
            _LIVING.setdefault(self.name, self)
        return self.name, known, self._sent

    def learn(self, known: Mapping[str, ChargedFit], sent: bool) -> None:
        """What another process knew."""
        with self._lock:
            self._made = {**self._made, **known}
            self._sent = self._sent or sent


_LIVING: "Final[weakref.WeakValueDictionary[str, Family]]" = weakref.WeakValueDictionary()
"""The families that were sent, or came, from process to process, so that what comes back finds its own."""

_LIVING_LOCK: Final = threading.Lock()


@attrs.frozen
class Member:
    """An estimator's place in its family. fit: the one that its model is of; None for none on a ledger of its own."""

    family: Family = attrs.field(factory=Family)
    fit: str | None = None

    def told(self, statement: Statement) -> Statement:
        """The statement of that fit, with what is known of the others by now."""
        fits = None if self.fit is None else self.family.told(self.fit)
        return statement if fits is None else statement.among(fits)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def __reduce__(self) -> tuple[Callable[..., "Member"], tuple[object, ...]]:
        return _arrived, (*self.family.packed(sent_to_fit=self.fit is None), self.fit)


def _arrived(name: str, known: Mapping[str, ChargedFit], sent: bool, fit: str | None) -> Member:
    """A member as it was pickled: of the same family, where that lives in this process."""
    with _LIVING_LOCK:
        family = _LIVING.get(name)
        if family is None:
            family = _LIVING[name] = Family(name, arrived=True)
    family.learn(known, sent)
    return Member(family, fit)


def _together(fits: Iterable[ChargedFit]) -> str:
    return in_words((fit.relation, fit.cost) for fit in fits)


def _in_words(adjacency: Adjacency) -> str:
    record = adjacency_record(adjacency)
    rest = ", ".join(f"{name} {value}" for name, value in record.items() if name != "name")
    return f"{record['name']} ({rest})" if rest else str(record["name"])
