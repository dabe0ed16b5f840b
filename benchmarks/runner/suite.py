"""The one shape of all benchmarks: a module whose `parts` says what there is to measure, one after the other.

A module is `benchmarks.FOLDER.NAME` with "_" for "-", its first docstring line says what it reproduces, and

    def parts(setting: Setting) -> list[Part]

makes nothing yet: each part is measured when its turn comes, kept as a file, and not measured again by a run that goes
on. Parts are therefore minutes at most, and none needs another's result.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import attrs

from benchmarks.runner.report import Table

Make: TypeAlias = Callable[[], Sequence[Table]]


@attrs.frozen
class Setting:
    """What a run was asked for.

    data: folder with the real data sets, laid out as `exchequer.datasets` reads them; None where there is none.
    quick: fewer repeats and smaller sizes: it shows that all works, and says little about what is asked.
    out: a folder of the benchmark's own, for pictures of its own and measurements that outlive a change of our code.
    """

    data: str | None
    quick: bool
    out: Path


@attrs.frozen
class Part:
    """Some tables that are measured together.

    name: unique within its benchmark; in words.  make: measures them. Raises DataNotFound with the remedy.
    seconds: how long that takes on two idle cores, roughly: for the estimate of the time left only.
    kept: False for what keeps its measurements itself: it is made anew by each run.
    """

    name: str
    make: Make
    seconds: float = 1.0
    kept: bool = True


@attrs.frozen
class Benchmark:
    """An entry of the front page.

    folder: its module's, in `benchmarks`.  reproduces, data: in words.  sets: the folders of the data sets that it
      reads, for OpenML.  minutes: of a full run, on two idle cores.
    """

    name: str
    folder: str
    reproduces: str
    data: str
    minutes: float
    sets: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        """Where its `parts` is."""
        return f"benchmarks.{self.folder}.{self.name.replace('-', '_')}"
