"""Every mutant is killed or explained, and no sound twin is accused."""

import pytest

from proofs_tests.mutants import MUTANTS, Mutant, verdict
from proofs_tests.mutants.__main__ import by_method, everything, survivors

TWINS = [mutant for mutant in MUTANTS if mutant.sound is not None]


def named(mutant: Mutant) -> str:
    return mutant.name


@pytest.mark.parametrize("mutant", MUTANTS, ids=named)
def test_a_mutant_is_killed_or_explained(mutant: Mutant) -> None:
    said = verdict(mutant).said
    assert said or mutant.survives, "it lives: improve the kit, or say in `survives` why it cannot be seen"
    assert not (said and mutant.survives), f"the kit sees it now ({said}): empty its `survives`"
    assert said.startswith("refused") == mutant.refused


@pytest.mark.parametrize("mutant", TWINS, ids=named)
def test_the_corrected_twin_passes(mutant: Mutant) -> None:
    assert mutant.sound is not None
    mutant.sound()


def test_the_zoo_has_at_least_forty_and_says_where_each_comes_from() -> None:
    names = [mutant.name for mutant in MUTANTS]
    assert len(set(names)) == len(names) >= 40
    assert all(mutant.reason and mutant.source for mutant in MUTANTS)


def test_the_tables_have_a_row_for_each() -> None:
    verdicts = [verdict(mutant) for mutant in MUTANTS if mutant.method == "sensitivity"]
    assert len(everything(verdicts).splitlines()) == len(verdicts) + 2
    assert by_method(verdicts).splitlines()[-1].startswith(f"| all | {len(verdicts)} |")
    assert len(survivors(verdicts).splitlines()) == 2 + sum(bool(each.mutant.survives) for each in verdicts)
