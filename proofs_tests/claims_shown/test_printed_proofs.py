"""What printed proofs and documents say is what the code charges: read from their text, and computed."""

import math
import re
from pathlib import Path
from typing import Final

import pytest

from accountant import AddRemoveOne, ReplaceOne
from accountant.costs import gaussian
from mechanisms.gradients.objective_perturbation import gaussian_epsilon
from proofs_tests.claims.registry import CLAIMS

ROOT: Final = Path(__file__).parents[2]
PROOFS: Final = {claim.id: claim for claim in CLAIMS}


def delta(mu: float, epsilon: float) -> float:
    """δ_μ(ε), the curve of N(0, 1) against N(μ, 1), from its definition and not from the accountant."""

    def phi(x: float) -> float:
        return 0.5 * math.erfc(-x / math.sqrt(2.0))

    return phi(0.5 * mu - epsilon / mu) - math.exp(epsilon) * phi(-0.5 * mu - epsilon / mu)


def two_steps(mu: float, first: float, second: float) -> float:
    """δ of two steps one after another: P(S) <= e^{ε₁}U(S) + δ_μ(ε₁), then U(S) <= e^{ε₂}Q(S) + δ_μ(ε₂)."""
    return delta(mu, first) + math.exp(first) * delta(mu, second)


def added_first(mu: float, epsilon: float) -> float:
    """The new record comes at ε₁ = (ε − μ²)/2, then the old one goes at (ε + μ²)/2."""
    return two_steps(mu, 0.5 * (epsilon - mu * mu), 0.5 * (epsilon + mu * mu))


def removed_first(mu: float, epsilon: float) -> float:
    """The old record goes first, at the ε that only a removal needs."""
    return two_steps(mu, 0.5 * (epsilon + mu * mu), 0.5 * (epsilon - mu * mu))


def test_the_order_of_two_steps() -> None:
    """[objective-perturbation-gaussian] Adding first is the Gaussian of 2μ to the last digit; removing first is not."""
    assert removed_first(1.0, 2.0) == pytest.approx(1.125, abs=5e-4)
    assert added_first(1.0, 2.0) == pytest.approx(0.332, abs=5e-4)
    for mu in (0.05, 0.3, 1.0, 2.5):
        for epsilon in (mu * mu, 1.5 * mu * mu + 0.1, 2.0 * mu * mu + 3.0):
            wanted = delta(2.0 * mu, epsilon)
            assert added_first(mu, epsilon) == pytest.approx(wanted, rel=1e-9, abs=1e-15)
            assert removed_first(mu, epsilon) > 1.001 * wanted


def test_the_printed_proof_takes_its_steps_in_that_order() -> None:
    """Its signs are read and computed with: the first step is of the ε that is printed first."""
    proof = PROOFS["objective-perturbation-gaussian"].proof
    added, removed = proof.index("Add the new record first"), proof.index("Then take the old one away")
    assert added < removed
    (sign,) = re.findall(r"ε₁, ε₂ = \(ε ([±∓]) μ²\)/2", proof)
    mu, epsilon = 1.0, 2.0
    first = 0.5 * (epsilon + (mu * mu if sign == "±" else -mu * mu))
    assert two_steps(mu, first, epsilon - first) == pytest.approx(delta(2.0 * mu, epsilon), rel=1e-12)
    for number in ("1.125", "0.332"):
        assert number in proof


@pytest.mark.parametrize("mu", [0.02, 0.2, 1.0])
@pytest.mark.parametrize("bend", [0.0, 0.3, 2.0, 8.0])
@pytest.mark.parametrize("target", [1e-9, 1e-5, 1e-2])
def test_what_is_charged_is_what_that_order_proves(mu: float, bend: float, target: float) -> None:
    """Each step is taken where it was proved, an addition from 0 on, a removal from κ on; together they are in δ."""
    epsilon, kappa = gaussian_epsilon(mu, bend, target, ReplaceOne()), bend - 0.5 * mu * mu
    first, second = 0.5 * (epsilon - mu * mu), 0.5 * (epsilon + mu * mu)
    assert first >= 0.0
    assert second >= max(0.0, kappa) * (1.0 - 1e-12)
    assert added_first(mu, epsilon) <= target * (1.0 + 1e-6)
    # Nothing is given away: with a tenth less one of the three conditions fails.
    less = 0.9 * epsilon
    holds = less >= mu * mu and 0.5 * (less + mu * mu) >= kappa and delta(2.0 * mu, less) <= target
    assert not holds
    alone = gaussian_epsilon(mu, bend, target, AddRemoveOne())
    assert alone >= kappa
    assert delta(mu, alone) <= target * (1.0 + 1e-6)
    assert alone >= gaussian.epsilon(mu, target) * (1.0 - 1e-9)


def test_one_per_cent_is_claimed_of_equal_rounds_only() -> None:
    """[L5] Wherever a document says "within 1 %" of that optimum, it says for which rounds."""
    assert "for equal rounds" in PROOFS["L5"].constant
    found = 0
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for path in (*pages, *(ROOT / "accountant").rglob("*.py")):
        text = " ".join(path.read_text(encoding="utf-8").split())
        for place in re.finditer("within 1 %", text):
            found += 1
            assert "equal rounds" in text[max(0, place.start() - 120) : place.end() + 120], path
    assert found >= 3


def test_clipped_gradients_names_its_condition() -> None:
    """That nothing else moves is true where every record is encoded, weighted and scored alone."""
    proof = PROOFS["clipped-gradients"].proof
    assert "records-alone" in proof[: proof.index("nothing else moves")]
