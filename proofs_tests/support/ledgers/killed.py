"""Processes that are killed while they work on a durable ledger, and what reached the outside before that.

Everything here runs in a `nursery`: a process with one thread and everything imported, so that its forks are quick
and clean. A child opens the ledger itself; what it tells through its pipe has reached the outside.
"""

import contextlib
import functools
import os
import random
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any, Final, NoReturn

import attrs

import accountant
from accountant import Ledger, Plan, PureDP, ReplaceOne
from accountant.storage.sql_store import SqlStore
from proofs_tests.support.ledgers.durable import CHEAP, Telling, opened

Tell = Callable[[object], None]

OURS: Final = os.path.dirname(accountant.__file__)


def kill_myself() -> NoReturn:
    """The end, without any clearing up."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("a killed process went on")


@attrs.frozen
class Told:
    """A child's end. finished: it was not killed.  lines: what it told.  child: its running number."""

    child: int
    finished: bool
    lines: tuple[str, ...]


@attrs.frozen
class Forked:
    """A child at work."""

    number: int
    pid: int
    pipe: int

    @staticmethod
    def of(number: int, work: Callable[[Tell], None]) -> "Forked":
        """Start one. It ends with status 0, or tells why not."""
        reading, writing = os.pipe()
        pid = os.fork()
        if pid:
            os.close(writing)
            return Forked(number, pid, reading)

        def tell(what: object) -> None:
            os.write(writing, f"{what}\n".encode())

        try:
            work(tell)
        except BaseException as error:
            tell(f"failed: {error!r}")
        os._exit(0)

    def kill(self) -> Told:
        """SIGKILL, and everything it told before."""
        os.kill(self.pid, signal.SIGKILL)
        return self.wait()

    def wait(self) -> Told:
        """Its end, whichever comes."""
        with open(self.pipe, "rb") as pipe:
            told = pipe.read().decode()
        _, status = os.waitpid(self.pid, 0)
        if "failed: " in told:
            raise AssertionError(f"child {self.number} {told[told.index('failed: ') :].strip()}")
        # What follows the last line end was cut off by the kill: it is no whole message.
        return Told(self.number, os.WIFEXITED(status), tuple(told.split("\n")[:-1]))


# --- killed at a random moment ------------------------------------------------------------------------------


def storm(url: str, seed: int, kills: int, together: int) -> list[Told]:
    """So many children are killed, one after another, at random moments; `together` of them share the ledger.

    Each makes the ledger if there is none, then releases in a loop, and tells the account of every value it got.
    A moment is up to 2.5 times what a child needs for its first value here, as the first child shows.
    """
    moments, numbers = random.Random(seed), iter(range(10**6))
    alive, dead = list[Forked](), list[Told]()

    def born() -> Forked:
        number = next(numbers)
        return Forked.of(number, lambda tell: release_for_ever(url, number, tell))

    started, first = time.monotonic(), born()
    select.select([first.pipe], [], [])
    first_value = time.monotonic() - started
    alive.append(first)
    while len(dead) < kills:
        alive += [born() for _ in range(together - len(alive))]
        time.sleep(moments.uniform(0.0, 2.5 * first_value))
        dead.append(alive.pop(moments.randrange(len(alive))).kill())
    return dead + [child.kill() for child in alive]


def release_for_ever(url: str, number: int, tell: Tell) -> None:
    """Every release is charged to an account of its own, so that a value can be looked up in the ledger."""
    ledger = opened(url)
    data, mechanism = ledger.protect(1), Telling()
    for turn in range(10**9):
        account = f"child-{number}/{turn}"
        ledger.release(mechanism, data, account=account)
        tell(account)


# --- killed at a chosen line --------------------------------------------------------------------------------

Act = Callable[[Ledger, Tell, str], None]
"""Works on a ledger under a name, and tells how many entries it must have in the ledger by now, come what may."""


def release(ledger: Ledger, tell: Tell, name: str) -> None:
    """One release: charged, drawn, marked."""
    ledger.release(Telling(sampling=lambda: tell(1)), ledger.protect(1), account=name)
    tell(2)


def reserve(ledger: Ledger, tell: Tell, name: str) -> None:
    """Three rounds in one charge, one of them used, the rest given back."""
    data = ledger.protect(1)
    with ledger.reserve(Plan.of(CHEAP, 3), adjacency=ReplaceOne(), account=name) as reservation:
        tell(1)
        reservation.release(Telling(sampling=lambda: tell(1)), data)
        reservation.give_back()
        tell(2)
    tell(3)


def allocate(ledger: Ledger, tell: Tell, name: str) -> None:
    """A sub-budget, a release from it, and its end."""
    team = ledger.allocate(name, PureDP(2.0**-30))
    tell(1)
    team.release(Telling(sampling=lambda: tell(2)), team.protect(1))
    tell(3)
    ledger.close_account(name)
    tell(4)


ACTS: Final[dict[str, tuple[Act, list[str]]]] = {
    "release": (release, ["charged", "released"]),
    "reserve": (reserve, ["charged", "returned", "released"]),
    "allocate": (allocate, ["allocated", "charged", "released", "closed"]),
}
"""What each act writes when nobody kills it."""


def stopped(url: str, act: str, every: int) -> list[Told]:
    """The act in one child after another, each killed before a later line of accountant/; the last one finishes.

    every: how many lines lie between two kills; 1 tries all.
    """
    found: list[Told] = []
    while not (found and found[-1].finished):
        line = len(found) * every
        found.append(Forked.of(line, functools.partial(_act_until, url, act, line)).wait())
    return found


def _act_until(url: str, act: str, line: int, tell: Tell) -> None:
    ledger = opened(url)
    with dying_at(line):
        ACTS[act][0](ledger, tell, f"line-{line}")


def stopped_while_opening(url: str, line: int) -> Told:
    """Killed before the given line of accountant/ while the ledger is opened, and made as there is none."""

    def work(tell: Tell) -> None:
        with dying_at(line):
            opened(url)
        tell("opened")

    return Forked.of(line, work).wait()


def dying_at(line: int) -> AbstractContextManager[None]:
    """SIGKILL before the given line of accountant/ that is executed inside the block, counted from 0."""
    return at_line(line, kill_myself)


@contextlib.contextmanager
def at_line(line: int, do: Callable[[], object]) -> Iterator[None]:
    """Do something before the given line of accountant/ that this thread executes inside the block."""
    left = line

    def trace(frame: FrameType, event: str, argument: Any) -> Any:  # as sys.settrace wants them
        nonlocal left
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        if event == "line":
            left -= 1
            if left == -1:
                do()
        return trace

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(None)


# --- killed at a named point --------------------------------------------------------------------------------


def _before_the_charge(ledger: Ledger) -> None:
    ledger.release(Telling(checking=kill_myself), ledger.protect(1))


def _with_the_charge_written_but_not_committed(ledger: Ledger) -> None:
    _dying_commit(0, after=False)
    ledger.release(Telling(), ledger.protect(1))


def _after_the_charge(ledger: Ledger) -> None:
    _dying_commit(0, after=True)
    ledger.release(Telling(), ledger.protect(1))


def _after_the_charge_of_a_plan(ledger: Ledger) -> None:
    with ledger.reserve(Plan.of(CHEAP, 3), adjacency=ReplaceOne()):
        kill_myself()


def _during_sampling(ledger: Ledger) -> None:
    ledger.release(Telling(sampling=kill_myself), ledger.protect(1))


def _during_the_second_round_of_a_plan(ledger: Ledger) -> None:
    data = ledger.protect(1)
    with ledger.reserve(Plan.of(CHEAP, 3), adjacency=ReplaceOne()) as reservation:
        reservation.release(Telling(), data)
        reservation.release(Telling(sampling=kill_myself), data)


def _with_the_release_written_but_not_committed(ledger: Ledger) -> None:
    _dying_commit(1, after=False)
    ledger.release(Telling(), ledger.protect(1))


def _after_the_release(ledger: Ledger) -> None:
    ledger.release(Telling(), ledger.protect(1))
    kill_myself()


def _dying_commit(place: int, *, after: bool) -> None:
    """From here on, this process dies before or after the commit at this place, counted from 0.

    Before: in a turn, as what takes one round trip is never written and not committed.
    """
    left = iter(range(place))
    for method in ("commit", "append_next"):
        setattr(SqlStore, method, _dying(getattr(SqlStore, method), left, after))
    if not after:
        SqlStore.quick = False  # type: ignore[method-assign, assignment]  # in a child that is about to die


def _dying(real: Callable[..., object], left: Iterator[int], after: bool) -> Callable[..., object]:
    def commit(*given: object) -> object:
        if not after and next(left, None) is None:
            kill_myself()
        answer = real(*given)
        if after and answer is not False and next(left, None) is None:
            kill_myself()
        return answer

    return commit


POINTS: Final[dict[str, tuple[Callable[[Ledger], None], list[str]]]] = {
    "before the charge": (_before_the_charge, []),
    "charge not committed": (_with_the_charge_written_but_not_committed, []),
    "after the charge": (_after_the_charge, ["charged"]),
    "after the charge of a plan": (_after_the_charge_of_a_plan, ["charged"]),
    "during sampling": (_during_sampling, ["charged"]),
    "during the second round": (_during_the_second_round_of_a_plan, ["charged"]),
    "release not committed": (_with_the_release_written_but_not_committed, ["charged"]),
    "after the release": (_after_the_release, ["charged", "released"]),
}
"""The crash table: where a process is killed, and what is in the ledger then."""


def killed_at(url: str, point: str) -> Told:
    """A child that opens these books and is killed at this point."""
    return Forked.of(0, lambda tell: POINTS[point][0](opened(url))).wait()
