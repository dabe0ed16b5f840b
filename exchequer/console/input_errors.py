"""What is wrong with the input: one line on standard error and exit code 2, never a traceback."""

import csv
import errno
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

import click

INTERRUPTED: Final = 130
"""Exit code after Ctrl-C, as shells have it: 1 would say that a claim is refuted."""

BAD_INPUT = (ValueError, TypeError, OSError, ArithmeticError, EOFError, csv.Error, zlib.error)
"""What our own code and the readers of files raise about what the user gave."""

T = TypeVar("T")


class BadInput(click.ClickException):
    """One line on standard error, exit code 2."""

    exit_code = 2


@contextmanager
def one_line() -> Iterator[None]:
    """Turn what was wrong with the input into one line without a traceback."""
    try:
        yield
    except (KeyboardInterrupt, click.Abort) as error:
        if isinstance(error, click.Abort) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        click.echo("interrupted", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from error
    except click.exceptions.NoArgsIsHelpError:
        raise  # a group without a command: click prints its help as it is
    except click.UsageError as error:
        hint = f"; see {error.ctx.command_path} --help" if error.ctx else ""
        raise BadInput(error.format_message().rstrip(".") + hint) from error
    except BAD_INPUT as error:
        # A closed pipe, as in `exchequer price ... | head`, is nobody's fault; click ends quietly on it.
        if isinstance(error, OSError) and error.errno == errno.EPIPE:
            raise
        raise _bad_input(error) from error
    except click.exceptions.Exit:
        raise  # a RuntimeError by click's lights, as after --help: nothing is wrong, and no ledger is asked
    except RuntimeError as error:
        from accountant import LedgerBroken, LedgerUnavailable  # here at last, as most commands need no ledger

        if not isinstance(error, LedgerBroken | LedgerUnavailable):
            raise
        raise _bad_input(error) from error


def _bad_input(error: Exception) -> BadInput:
    from accountant.entries import visible  # here at last, as most commands need no ledger

    # Messages quote files, and ledgers that others wrote.
    lines = str(error).splitlines() if getattr(error, "in_lines", False) else [str(error)]
    shown = [visible(" ".join(line.split())) for line in lines]
    if len(shown) == 1 and (topic := _explanation(error)) is not None:  # a list of problems says what to do itself
        shown = [f"{shown[0].rstrip('.')}; see exchequer help {topic}"]
    return BadInput("\n  ".join(shown))


def _explanation(error: Exception) -> str | None:
    """The topic of `exchequer help` about it, if any. An error of an installation without topics is still told."""
    from exchequer.topics import NoTopics, explained_by

    try:
        return explained_by(error)
    except NoTopics:
        return None


@contextmanager
def about(what: object) -> Iterator[None]:
    """Name the file or the option in whatever is wrong with it."""
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError) as error:
        if getattr(error, "in_lines", False):  # it names the file itself
            raise
        said = str(error) if str(what) in str(error) else f"{what}: {error}"
        raise ValueError(said + (" (row 0 is the first record)" if ", row " in said else "")) from error


def checked(option: str, check: Callable[[T], T], value: T) -> T:
    """The value, as the library's own check leaves it; the option is named where it refuses."""
    with about(option):
        return check(value)


def refuse_overwriting(out: Path, force: bool, option: str = "--out") -> None:
    """Raise where `out` cannot be written, before anything is read or charged. option: that named it."""
    if out.exists() and not force:
        raise FileExistsError(f"{option}: {out} exists already; give another name, or --force to replace it")
    if not out.absolute().parent.is_dir():
        raise FileNotFoundError(f"{option}: there is no folder {out.absolute().parent}")


def refuse_replacing(out: Path, *sources: Path, option: str = "--out") -> None:
    """Raise where `out` is what is read from; no --force allows that. option: that named it."""
    for source in sources:
        if out.exists() and out.samefile(source):
            raise FileExistsError(f"{option}: {out} is what this reads, and would be lost; give another name")


class Commands(click.Group):
    """A group whose commands report bad input in one line."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: object
    ) -> click.Context:
        with one_line():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> object:
        with one_line():
            return super().invoke(ctx)
