"""`verbose` says how many rounds are done, on standard error, and changes nothing else."""

from typing import Any

import numpy as np
import pytest

from learners import HalfspaceBoostClassifier, LazyBoostClassifier, PrivateBoostClassifier, PrivateBoostRegressor
from learners.base.round_lines import rounds_per_line
from proofs_tests.support.learners.paid_models import X, Y
from proofs_tests.support.ledgers.separate import separate

LONG: dict[str, tuple[Any, int]] = {
    "votes": (LazyBoostClassifier(rounds=7, random_state=0), 7),
    "halfspace": (HalfspaceBoostClassifier(radius=2.0, rounds=7, density=0.5, classes=(0, 1), random_state=0), 7),
    "additive": (PrivateBoostClassifier(rounds_per_column=2, interactions=(), random_state=0), 6),
    "regression": (PrivateBoostRegressor(label_bounds=(0, 1), interactions=(), random_state=0), 280),
}


@separate
@pytest.mark.parametrize("name", LONG)
def test_a_line_after_every_so_many_rounds(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    learner, rounds = LONG[name]
    kind, seen = type(learner).__name__, list[int]()
    silent = learner.fit(X, Y).predict(X)
    assert capfd.readouterr() == ("", "")
    every = max(2, rounds // 3)
    learner.set_params(verbose=every).fit(X, Y, on_round=lambda number, released: seen.append(number))
    lines = [f"{kind}: {number} rounds" for number in range(every, rounds + 1, every)]
    assert capfd.readouterr().err.splitlines() == lines
    assert seen == list(range(1, rounds + 1))
    assert np.array_equal(learner.predict(X), silent)
    learner.set_params(verbose=0)


def test_what_is_no_number_of_rounds_is_refused() -> None:
    assert (rounds_per_line(True), rounds_per_line(np.int64(3))) == (1, 3)
    for wrong in (-1, 0.5, "1", None):
        with pytest.raises(ValueError, match="verbose: expected"):
            rounds_per_line(wrong)
    with pytest.raises(ValueError, match="verbose"):
        LazyBoostClassifier(rounds=2, verbose=-1).fit(X, Y)
