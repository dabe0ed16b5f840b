"""What `make mutants` found last: numbers for each module, and every mutant that lives, with the reason.

results.toml: for each module its digest and those of its tests when they were tried, and how many mutants were tried.
survivors.toml: effect is one of `EFFECTS`; the reason is written by hand, and empty until it is.
"""

import ast
import hashlib
import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs

from proofs_tests.mutation.paths import HERE, ROOT, path_of
from proofs_tests.mutation.plan import PLAN

RESULTS: Final = HERE / "results.toml"
SURVIVORS: Final = HERE / "survivors.toml"

EFFECTS: Final = {
    "none": "no input that the function is given makes a difference",
    "margin": "head-room for rounding shrinks or grows; the price still lies above the truth, as the reason shows",
    "dearer": "a price or a bound only rises, by less than 2 %",
    "search": "another start or other steps of a search, which returns only what it has seen to fit",
    "refusal": "which error is raised, or for which absurd number; nothing that is priced is priced lower",
}
"""What a mutant that lives may do."""


@attrs.frozen
class Result:
    """killed: those among `tried` that a test noticed, `timeouts` of them by not coming to an end."""

    module: str
    source: str
    tests: str
    tried: int
    killed: int
    timeouts: int
    seconds: float
    tool: str


@attrs.frozen
class Survivor:
    """A mutant that no test notices; `times` where several are alike."""

    module: str
    definition: str
    before: str
    after: str
    times: int = 1
    effect: str = ""
    reason: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What it is recognised by."""
        return self.module, self.definition, self.before, self.after


def digest(paths: Iterable[Path]) -> str:
    """Of what files say apart from their imports and their layout, 16 hexadecimal digits."""
    whole = hashlib.sha256()
    for path in paths:
        whole.update(ast.unparse(_WithoutImports().visit(ast.parse(path.read_text()))).encode())
    return whole.hexdigest()[:16]


class _WithoutImports(ast.NodeTransformer):
    """Where a name comes from is no part of what is mutated: a module may move, or what it needs."""

    def visit_Import(self, node: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        return None


def source_digest(module: str) -> str:
    """Of a module."""
    return digest([path_of(module)])


def tests_digest(tests: Sequence[str]) -> str:
    """Of the tests of a module and what they share, and of what makes the mutants."""
    shared = [
        ROOT / "proofs_tests" / name
        for name in ("support/mechanisms/just_above.py", "support/mechanisms/closed_forms.py", "prices/conftest.py")
    ]
    return digest([*(ROOT / test for test in tests), *shared, HERE / "operators.py", HERE / "mutants.py"])


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _tables(name: str, records: Iterable[Result | Survivor]) -> str:
    return "\n".join(
        f"[[{name}]]\n" + "".join(f"{field} = {_text(value)}\n" for field, value in attrs.asdict(record).items())
        for record in records
    )


def results() -> dict[str, Result]:
    """By module."""
    found = tomllib.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    return {record["module"]: Result(**record) for record in found.get("module", [])}


def survivors() -> tuple[Survivor, ...]:
    """All of them, module by module."""
    found = tomllib.loads(SURVIVORS.read_text()) if SURVIVORS.exists() else {}
    return tuple(Survivor(**record) for record in found.get("survivor", []))


def older_code() -> list[str]:
    """Modules whose source, or whose tests, have changed since their mutants were tried, or whose never were."""
    known = results()
    return [
        module
        for module, subject in PLAN.items()
        if module not in known
        or (known[module].source, known[module].tests) != (source_digest(module), tests_digest(subject.tests))
    ]


def write_results(records: Mapping[str, Result]) -> None:
    """In the order of modules' names."""
    RESULTS.write_text(
        "# Written by `make mutants`.\n\n" + _tables("module", (records[name] for name in sorted(records)))
    )


def write_survivors(records: Iterable[Survivor]) -> None:
    """In the order of modules' names."""
    ordered = sorted(records, key=lambda each: each.module)
    SURVIVORS.write_text("# Written by `make mutants`; effects and reasons by hand.\n\n" + _tables("survivor", ordered))


def with_reasons(module: str, alive: Iterable[tuple[str, str, str, str]]) -> list[Survivor]:
    """All survivors that are on record, those of one module replaced by these, with the reasons that are known."""
    known = {each.key: each for each in survivors()}
    return [
        *(each for each in known.values() if each.module != module),
        *(attrs.evolve(known.get(key, Survivor(*key)), times=times) for key, times in Counter(alive).items()),
    ]
