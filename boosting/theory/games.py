"""Boosting as a zero-sum game: 003, appendices D and E, so that each step from weak learning to margins can be played.

Rows are the n records, columns are hypotheses. The booster plays rows and wants little loss; a weak learner plays
columns, and a column costs where it is right. Everywhere: density is κ in (0, 1], L = ln(1/κ), rounds is T, and a
weighting is κ-smooth where it is a distribution over the records with no weight above 1/(κn).

learning_rate is λ in **003's scale, twice that of `LazyBregman` and of `boosting.theory.guarantees`**.

All of it looks at unsealed data. It is for tests and simulations: nothing here is private, and nothing is charged.
"""

from collections.abc import Callable
from numbers import Integral

import attrs
import numpy as np

from accountant.arrays import FloatArray, SignArray
from accountant.costs import count, fraction, positive
from boosting.projection import capped_scaling
from boosting.theory.guarantees import (
    ROUNDING,
    log_inverse_density,
    margin_bound,
    quantile_margin,
    regret_bound,
    worst_mean_margin,
)

Environment = Callable[[FloatArray], FloatArray | int]
"""The column player: it sees the booster's distribution, shape (n,), and answers with the number of a column or with
a distribution over the columns."""


def _within(values: FloatArray, least: float, most: float, dimensions: int, wanted: str) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != dimensions or not np.all((array >= least) & (array <= most)):
        raise ValueError(f"expected {wanted} in [{least:g}, {most:g}]")
    return array


def _distribution(values: FloatArray, size: int, wanted: str) -> FloatArray:
    array = _within(values, 0.0, 1.0 + ROUNDING, 1, f"{wanted}, shape ({size},),")
    if array.shape != (size,) or not abs(float(np.sum(array)) - 1.0) <= ROUNDING:
        raise ValueError(f"expected {wanted} of shape ({size},) that sums to 1")
    return array


def _matrix(loss: FloatArray) -> FloatArray:
    matrix = _within(loss, 0.0, 1.0, 2, "a loss matrix of shape (n, columns)")
    if not matrix.size:
        raise ValueError("expected a loss matrix with at least one record and one column")
    return matrix


def soft_punishments(predictions: FloatArray, labels: SignArray) -> FloatArray:
    """M(i, h) = 1 − |h(xᵢ) − yᵢ|/2 = (1 + yᵢ·h(xᵢ))/2 in [0, 1], shape (n, hypotheses): 1 where h is right.

    predictions: h(xᵢ) in [−1, 1], shape (hypotheses, n).  labels: yᵢ, −1 or +1, shape (n,). Source: 003, D.2.1.
    Raises ValueError otherwise.
    """
    guesses, signs = _within(predictions, -1.0, 1.0, 2, "predictions of shape (hypotheses, n)"), np.asarray(labels)
    if signs.shape != guesses.shape[1:] or not np.all(np.abs(signs) == 1):
        raise ValueError(f"expected labels of -1 or +1, one for each of {guesses.shape[1]} records")
    return np.asarray(1.0 - 0.5 * np.abs(guesses - signs).T)


def expected_loss(loss: FloatArray, row_distribution: FloatArray, column_distribution: FloatArray) -> float:
    """M(P, Q) = Σ P(i)·M(i, j)·Q(j), in [0, 1]. Source: 003, eq. 3.

    loss: M in [0, 1], shape (n, columns).  row_distribution: P, shape (n,).  column_distribution: Q, shape (columns,).
    Raises ValueError otherwise; distributions sum to 1 but for `ROUNDING`.
    """
    matrix = _matrix(loss)
    rows = _distribution(row_distribution, matrix.shape[0], "a distribution over the records")
    columns = _distribution(column_distribution, matrix.shape[1], "a distribution over the columns")
    return float(rows @ matrix @ columns)


def _dense(total: FloatArray, density: float, learning_rate: float) -> FloatArray:
    return capped_scaling(-positive(learning_rate) * total, np.ones(total.size, dtype=np.intp), fraction(density))


def lazy_dense_update(losses: FloatArray, density: float, learning_rate: float) -> FloatArray:
    """μ_{T+1} = exp(−λ·Σ_t ℓ_t), scaled and capped to density exactly κ; shape (n,), each in [0, 1].

    losses: ℓ_t(i) in [0, 1], shape (T, n), n >= 1; T may be 0, and then μ₁(i) = κ.  learning_rate: λ > 0, 003's.
    Source: 003, Algorithms 7 and 9, which print the projection of μ̃_T where they mean μ̃_{T+1}: projecting μ̃_T
    ignores the latest loss, and its regret term is 3λ/8 for λ/8. Their Γ is "density >= κ"; μ̃ has κ at most, so
    its projection has κ exactly, and that is what is computed. For h(xᵢ) = ±1 it is `LazyBregman` at half of λ.
    [003-Alg4] [003-Alg7] [001-projection] Raises ValueError outside these ranges.
    """
    table = _within(losses, 0.0, 1.0, 2, "losses of shape (T, n)")
    if not table.shape[1]:
        raise ValueError("expected losses of shape (T, n) with n >= 1")
    return _dense(np.sum(table, axis=0), density, learning_rate)


@attrs.frozen(eq=False)
class Play:
    """What happened in `iterated_play`.

    losses: ℓ_t(i) in [0, 1], what each record would have cost, shape (T, n).
    measures: μ₁ … μ_{T+1}, shape (T + 1, n); the last one is what comes after the play and has suffered nothing.
    density: κ.  learning_rate: λ, 003's.
    """

    losses: FloatArray
    measures: FloatArray
    density: float = attrs.field(converter=fraction)
    learning_rate: float = attrs.field(converter=positive)

    @property
    def rounds(self) -> int:
        """T."""
        return int(self.losses.shape[0])

    @property
    def distributions(self) -> FloatArray:
        """μ̂₁ … μ̂_{T+1}, shape (T + 1, n); each sums to 1 up to rounding."""
        return np.asarray(self.measures / (self.density * self.measures.shape[1]))

    @property
    def total_loss(self) -> float:
        """Σ_t M(μ̂_t, Q_t), in [0, T]."""
        return float(np.sum(self.distributions[:-1] * self.losses))


def _revealed(matrix: FloatArray, answer: FloatArray | int) -> FloatArray:
    columns = matrix.shape[1]
    if isinstance(answer, np.ndarray):
        mixed = matrix @ _distribution(answer, columns, "a distribution over the columns")
        return np.asarray(np.clip(mixed, 0.0, 1.0))
    if isinstance(answer, bool) or not isinstance(answer, Integral) or not 0 <= answer < columns:
        raise ValueError(f"expected the environment to name one of {columns} columns, got {answer!r}")
    return np.asarray(matrix[:, int(answer)])


def iterated_play(
    loss: FloatArray, density: float, learning_rate: float, rounds: int, environment: Environment
) -> Play:
    """`lazy_dense_update` against an environment that sees each distribution before it answers. 003, Algorithm 6.

    loss: M in [0, 1], shape (n, columns).  rounds: T >= 1. Raises ValueError outside these ranges, and where the
    environment answers with what is neither a column nor a distribution over the columns.
    """
    matrix, losses = _matrix(loss), []
    total = np.zeros(matrix.shape[0])
    measures = [_dense(total, density, learning_rate)]
    for _ in range(count(rounds)):
        losses.append(_revealed(matrix, environment(measures[-1] / (density * total.size))))
        total = total + losses[-1]
        measures.append(_dense(total, density, learning_rate))
    return Play(np.array(losses), np.array(measures), density, learning_rate)


def _least(values: FloatArray, density: float) -> FloatArray:
    """The measure of density κ on the smallest values, the last one in part, shape (n,)."""
    shares = np.clip(fraction(density) * values.size - np.arange(values.size), 0.0, 1.0)
    shares[shares <= ROUNDING * shares[0]] = 0.0  # what rounds κn up to a sliver of one more record is no record
    measure = np.empty(values.size)
    measure[np.argsort(values, kind="stable")] = shares
    return measure


def best_fixed(losses: FloatArray, density: float) -> FloatArray:
    """The κ-smooth weighting with the least Σ_t M(P, Q_t), exactly: a distribution, shape (n,).

    Equal weights on the κn records of least total loss, the last one in part; among equals the first ones.
    losses: ℓ_t(i) in [0, 1], shape (T, n), T and n >= 1. Raises ValueError otherwise.
    """
    table = _matrix(losses)
    measure = _least(np.sum(table, axis=0), density)
    return measure / float(np.sum(measure))


def _smooth(play: Play, weighting: FloatArray | None) -> FloatArray:
    if weighting is None:
        return best_fixed(play.losses, play.density)
    n = play.losses.shape[1]
    rows = _distribution(weighting, n, "a weighting")
    if not float(np.max(rows)) * play.density * n <= 1.0 + ROUNDING:
        raise ValueError(f"expected a weighting with no weight above 1/(density·n) = {1.0 / (play.density * n)!r}")
    return rows


def regret(play: Play, weighting: FloatArray | None = None) -> float:
    """(1/T)·Σ_t M(μ̂_t, Q_t) − (1/T)·Σ_t M(P, Q_t), in [−1, 1]: what was lost beyond a fixed P. [003-Lem34]

    weighting: P, κ-smooth, shape (n,); None takes the best one in hindsight. Raises ValueError where it is not smooth.
    """
    fixed = float(np.sum(play.losses @ _smooth(play, weighting)))
    return (play.total_loss - fixed) / play.rounds


def allowed_regret(play: Play, weighting: FloatArray | None = None) -> float:
    """λ/8 + KL(P ‖ uniform)/(λT), which `regret` against the same weighting never exceeds. [003-Lem34]

    It is `guarantees.regret_bound` at λ/2, with KL(κn·P ‖ μ₁)/(κn) = KL(P ‖ uniform), in [0, L], as its divergence.
    003, Lemmas 34 and 44 print λ for λ/8. Arguments and refusals as for `regret`.
    """
    rows = _smooth(play, weighting)
    held = rows[rows > 0.0]
    distance = float(held @ np.log(held * rows.size))
    in_range = min(max(distance, 0.0), log_inverse_density(play.density))  # rounding may leave the range
    return regret_bound(play.density, 0.5 * play.learning_rate, play.rounds, in_range)


@attrs.frozen(eq=False)
class Pythia:
    """The booster who knows the final hypothesis H and plays its worst records in every round. 003, Appendix D.2.3.

    measure: 1 on the κn records of least margin, the last one in part, shape (n,); density κ, but for `ROUNDING`.
    margin: θ, which no record that she plays exceeds (Proposition 36), in [−1, 1]; see `quantile_margin`.
    mean_margin: the mean margin under `distribution`, at most θ; see `worst_mean_margin`.
    """

    measure: FloatArray
    margin: float
    mean_margin: float

    @property
    def distribution(self) -> FloatArray:
        """P* = measure/(κn), shape (n,). No κ-smooth weighting loses less to h₁ … h_T: she is `best_fixed`."""
        return self.measure / float(np.sum(self.measure))


def pythia(margins: FloatArray, density: float) -> Pythia:
    """Pythia for the margins yᵢ·H(xᵢ) of H = (1/T)·Σ h_t, each in [−1, 1], shape (n,). [003-Alg8]

    003, Algorithm 8 takes whole records and all mistakes, hence more than κn where there are more mistakes, with
    θ = 0 there; here θ is below 0 then. Raises ValueError outside these ranges.
    """
    theta, mean = quantile_margin(margins, density), worst_mean_margin(margins, density)
    return Pythia(_least(np.asarray(margins, dtype=np.float64), density), theta, mean)


def least_booster_loss(advantage: float, rounds: int) -> float:
    """T/2 + Tγ: what any booster loses to T hypotheses of advantage γ. Source: 003, Lemma 35. [003-Lem35]

    advantage: γ in [−1/2, 1/2], met under the very distribution that is played, or the mean of those that were met;
    then it is an equality. A hypothesis for the round before, as Lemma 38 prints it, need not cost that much.
    Raises ValueError outside these ranges.
    """
    if not -0.5 <= advantage <= 0.5:
        raise ValueError(f"expected an advantage in [-1/2, 1/2], got {advantage!r}")
    return count(rounds) * (0.5 + advantage)


def most_pythia_loss(margin: float, rounds: int) -> float:
    """T/2 + Tθ/2: what Pythia loses at most; exactly that at her mean margin. Source: 003, Lemma 37. [003-Lem35]

    margin: θ in [−1, 1], normalised. Raises ValueError outside. 003's κ <= 1/2 is not needed.
    """
    if not -1.0 <= margin <= 1.0:
        raise ValueError(f"expected a margin in [-1, 1], got {margin!r}")
    return count(rounds) * (0.5 + 0.5 * margin)


def induced_margin(advantage: float, density: float, learning_rate: float, rounds: int) -> float:
    """2γ − λ/4 − 2L/(λT), a lower bound for Pythia's mean margin and so for θ, in (−∞, 1]. [003-Thm24]

    It solves T/2 + Tγ <= Σ M(μ̂_t, h_t) <= T/2 + Tθ/2 + T·(λ/8 + L/(λT)) for θ, as 003, Lemma 38 does with λ for λ/8.
    It is `guarantees.margin_bound` at λ/2. Raises ValueError as that does.
    """
    return margin_bound(advantage, density, 0.5 * positive(learning_rate), rounds)
