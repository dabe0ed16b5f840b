"""The records of mutation testing say what they mean to, and mutants are what they should be."""

import pytest

from proofs_tests.mutation.mutants import mutants_of
from proofs_tests.mutation.paths import ROOT, path_of
from proofs_tests.mutation.plan import PLAN
from proofs_tests.mutation.records import EFFECTS, older_code, results, survivors

SOURCE = '''
"""Text."""

import math
from typing import Final

import attrs

SLACK: Final = 2.0


@attrs.frozen
class Noise:
    sigma: float = attrs.field(converter=float)

    @property
    def cost(self) -> float:
        return max(1.0, math.sqrt(self.sigma))

    @staticmethod
    def skipped() -> int:
        return 1


def price(kind: int, size: float) -> float:
    match kind:
        case 1:
            return size * SLACK
        case _ if size > 1:
            raise ValueError(f"{size + 1}")
    return size
'''


def test_constants_properties_and_cases_are_mutated_and_texts_and_types_are_not() -> None:
    found = list(mutants_of("sample", SOURCE, ["Noise.skipped"]))
    changes = {(mutant.definition, mutant.before, mutant.after) for mutant in found}
    assert ("", "SLACK: Final = 2.0", "SLACK: Final = 3.0") in changes
    assert ("Noise.cost", "return max(1.0, math.sqrt(self.sigma))", "return max(1.0, (self.sigma))") in changes
    assert ("Noise.cost", "return max(1.0, math.sqrt(self.sigma))", "return min(1.0, math.sqrt(self.sigma))") in changes
    assert ("price", "return size * SLACK", "return size / SLACK") in changes
    assert ("price", "case _ if size > 1:", "case _ if True:") in changes
    assert ("price", 'raise ValueError(f"{size + 1}")', "pass") in changes
    assert not any("skipped" in mutant.definition or "XX" in mutant.after for mutant in found)
    assert not any("size - 1" in mutant.after or "size + 2" in mutant.after for mutant in found)
    assert len({mutant.source for mutant in found}) == len(found)
    for mutant in found:
        compile(mutant.source, "mutant", "exec")


def test_what_is_mutated_exists_with_its_tests() -> None:
    for module, subject in PLAN.items():
        source = path_of(module).read_text()
        for name in subject.skipped:
            assert f" {name.rpartition('.')[2]}(" in source, (module, name)
        for test in subject.tests:
            assert (ROOT / test).is_file(), test


def test_every_mutant_that_lives_has_a_reason_and_lowers_no_price() -> None:
    for survivor in survivors():
        assert survivor.effect in EFFECTS, survivor
        assert len(survivor.reason) > 10, survivor


def test_numbers_and_survivors_agree() -> None:
    alive = dict.fromkeys(results(), 0)
    for survivor in survivors():
        alive[survivor.module] += survivor.times
    for module, result in results().items():
        assert module in PLAN
        assert result.tried - result.killed == alive[module], module
        assert 0 <= result.timeouts <= result.killed
        assert result.tried > 0


def test_survivors_are_still_in_the_code_that_was_tried() -> None:
    older = set(older_code())
    for survivor in survivors():
        if survivor.module not in older:
            first = survivor.before.split("  #")[0][:40]
            assert first in " ".join(path_of(survivor.module).read_text().split()), survivor


def test_records_are_of_this_code() -> None:
    """Skipped, with the modules' names, where they are not: `make mutants` brings them up to date."""
    if older := older_code():
        pytest.skip(f"make mutants: the records are of older code or tests: {', '.join(older)}")


def test_the_page_of_the_kit_says_how_many_are_noticed() -> None:
    page = ROOT / "docs/reference/verification-kit.md"
    text, known = " ".join(page.read_text(encoding="utf-8").split()), results().values()
    tried, killed = sum(each.tried for each in known), sum(each.killed for each in known)
    assert f"Of {tried:,} changes to {len(known)} modules it notices {killed:,};" in text
