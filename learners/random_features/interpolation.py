"""Linear algebra of random feature models: min-norm interpolation, ridge regression, Kaczmarz's method. No privacy.

features: A, real, shape (m, N), a row per record.  targets: y, shape (m,).  c: coefficients, shape (N,).
A is never copied where it is in double precision with contiguous rows or columns, and once anywhere else. Every
function raises ValueError for other shapes, NaN, infinities, and numbers whose squares leave the range of floats, and
TypeError for complex ones.
"""

import math
from typing import Final, Literal, TypeAlias

import attrs
import numpy as np
from scipy.linalg import blas, lapack

from accountant.arrays import FloatArray
from accountant.costs import count, open_probability, positive
from accountant.explained import Explained

Route: TypeAlias = Literal["gram", "pinv"]

ROWS_PER_STEP: Final = 64
"""Rows of a Kaczmarz step: the fastest of 1 to 512 at m = 1,204. Larger Gram matrices cost more than they save."""

CUTOFF: Final = 1e-13
"""What counts as zero in a Gram matrix of k rows, over its largest eigenvalue; k·2⁻⁵² where that is more."""

LEAST_SQUARE: Final = 2.0**-970
"""Below, squares have lost digits to underflow."""


class NotConverged(Explained, ArithmeticError):
    """Kaczmarz's method ran out of sweeps."""


@attrs.frozen
class KaczmarzReport:
    """What Kaczmarz's method took.

    sweeps: over all rows.  residual: |Ac − y|/|y|, by a full product.  flops: multiplications and additions that were
    asked of BLAS and LAPACK, n³/3 or so for a Cholesky factor and 9n³ for an eigendecomposition of n rows.
    """

    sweeps: int
    residual: float
    flops: int


def min_norm(features: FloatArray, targets: FloatArray, *, route: Route = "gram") -> FloatArray:
    """c = argmin |c| subject to Ac = y, m <= N; where A lacks rank, of all least-squares solutions. Deterministic.

    gram: c = Aᵀ(AAᵀ)⁻¹y by Cholesky, refined once, with about m² numbers of memory. Where the reciprocal condition of
    AAᵀ is below CUTOFF, by its eigenvectors, with about 4m²: singular values of A below √CUTOFF of the largest count as
    zero, so records that are nearly the same share the mean of their targets.  pinv: by the singular values of A, as
    in 004; those below 1e-15 of the largest count as zero; slow, and copies A.
    """
    matrix, values = _interpolation(features, targets)
    if route == "pinv":
        if not np.all(np.isfinite(matrix)):
            raise ValueError("features: expected finite numbers; look for NaN and infinities")
        return np.asarray(np.linalg.pinv(matrix) @ values)
    if route != "gram":
        raise ValueError(f"route: expected 'gram' or 'pinv', got {route!r}")
    inverse = _inverse(_gram(matrix))
    solution = matrix.T @ inverse.solve(values)
    # a residual of A itself takes out most of the error that A's squared condition number made
    solution += matrix.T @ inverse.solve(values - matrix @ solution)
    return np.asarray(solution)


def ridge(features: FloatArray, targets: FloatArray, penalty: float) -> FloatArray:
    """c = argmin |Ac − y|² + penalty·|c|², for any m and N, with about min(m, N)² numbers of memory. penalty: > 0."""
    matrix, values = _problem(features, targets)
    shift = positive(penalty)
    if matrix.shape[1] <= matrix.shape[0]:
        return _inverse(_gram(matrix.T, shift)).solve(np.asarray(matrix.T @ values))
    return np.asarray(matrix.T @ _inverse(_gram(matrix, shift)).solve(values))


def kaczmarz(
    features: FloatArray,
    targets: FloatArray,
    *,
    tolerance: float,
    most_sweeps: int,
    rng: np.random.Generator,
    block: int = ROWS_PER_STEP,
) -> tuple[FloatArray, KaczmarzReport]:
    """The min-norm c with |Ac − y| <= tolerance·|y|, m <= N, by projecting 0 onto the equations of one block at a time.

    tolerance: in (0, 1).  block: rows that stand together and are solved together, c += Aᵦᵀ(AᵦAᵦᵀ)⁻¹(yᵦ − Aᵦc); 1 for
    single rows. Each sweep takes all blocks in an order that rng draws. Memory: about m·block numbers.
    Raises NotConverged after most_sweeps: near-duplicate rows, or equal ones with unlike targets.

    Rows: Strohmer and Vershynin 2009. Blocks: Needell and Tropp 2014; their rates are for draws with replacement, and
    are not used: the residual is measured. c stays in the span of the rows, where only one solution is.
    """
    matrix, values = _interpolation(features, targets)
    allowed, limit, size = open_probability(tolerance), count(most_sweeps), min(count(block), matrix.shape[0])
    starts = range(0, matrix.shape[0], size)
    blocks = [_Block.of(matrix[start : start + size], values[start : start + size]) for start in starts]
    solution, length = np.zeros(matrix.shape[1]), float(np.linalg.norm(values))
    flops, residual = sum(each.setup_flops for each in blocks), 1.0
    if length == 0.0:
        return solution, KaczmarzReport(0, 0.0, flops)
    for sweep in range(1, limit + 1):
        met = sum(blocks[index].step(solution) for index in rng.permutation(len(blocks)))
        flops += sum(each.step_flops for each in blocks)
        # what the steps met was older than c, so it says when to look, and a full product says what is there
        if math.sqrt(met) <= allowed * length or sweep == limit:
            residual = float(np.linalg.norm(values - matrix @ solution)) / length
            flops += 2 * matrix.size
            if residual <= allowed:
                return solution, KaczmarzReport(sweep, residual, flops)
    raise NotConverged(
        f"Kaczmarz's method has a relative residual of {residual:.3g} > {allowed:.3g} after {limit} sweeps: rows are "
        "nearly dependent, or equal rows have unlike targets; take min_norm or ridge, more features, or more sweeps"
    )


def single_row_kaczmarz(features: FloatArray, targets: FloatArray, steps: int, rng: np.random.Generator) -> FloatArray:
    """c after so many steps from 0, each onto the equation of one row, drawn in proportion to |aⱼ|². m <= N.

    Strohmer and Vershynin 2009; 004 takes m steps for the min-norm solution, which they do not reach: nothing is
    checked. Where one exists, a step makes E|c − c*|² at most 1 − σ²/|A|²_F of what it was, σ the least singular value
    of A above 0.
    """
    matrix, values = _interpolation(features, targets)
    squares = np.einsum("ij,ij->i", matrix, matrix)
    total = float(np.sum(squares))
    _refuse_extremes("features", total, matrix)
    solution = np.zeros(matrix.shape[1])
    if total == 0.0:
        return solution
    for index in rng.choice(matrix.shape[0], size=count(steps), p=squares / total).tolist():
        row = matrix[index]
        solution = blas.daxpy(row, solution, a=(values[index] - blas.ddot(row, solution)) / squares[index])
    return solution


def _problem(features: FloatArray, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A, in an order that BLAS takes as it is, and y. Whether A is finite shows in its Gram matrix."""
    if np.iscomplexobj(features) or np.iscomplexobj(targets):
        raise TypeError("features, targets: expected real numbers; take cosines and sines for complex exponentials")
    matrix, values = np.asarray(features, dtype=np.float64), np.asarray(targets, dtype=np.float64)
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError(f"features: expected shape (m, N) with m, N >= 1, got {matrix.shape}")
    if values.shape != matrix.shape[:1]:
        raise ValueError(f"targets: expected shape {matrix.shape[:1]}, one for each row, got {values.shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        _refuse_extremes("targets", float(values @ values), values)
    if not (matrix.flags.c_contiguous or matrix.flags.f_contiguous):
        matrix = np.ascontiguousarray(matrix)
    return matrix, values


def _interpolation(features: FloatArray, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same, with as many features as records at least."""
    matrix, values = _problem(features, targets)
    records, width = matrix.shape
    if width < records:
        raise ValueError(
            f"min-norm interpolation needs at least as many features as records: N = {width}, m = {records}; "
            "take more features or solver='adassp'"
        )
    return matrix, values


def _refuse_extremes(name: str, largest_square: float, numbers: FloatArray) -> None:
    """Raises ValueError where squares are NaN or infinite, or have vanished."""
    if not largest_square < math.inf:
        raise ValueError(f"{name}: expected finite numbers whose squares are finite; look for NaN and infinities")
    if largest_square < LEAST_SQUARE and np.any(numbers):
        raise ValueError(f"{name}: so small that their squares vanish; multiply them by a public constant")


def _gram(rows: FloatArray, shift: float = 0.0) -> FloatArray:
    """R·Rᵀ + shift·I, both triangles. Raises ValueError where R is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        gram = np.asarray(rows @ rows.T)  # numpy sees one matrix twice and asks BLAS for syrk: half of the flops
    squares = gram.diagonal()  # NaN and infinities reach it always, and only it need be looked at
    _refuse_extremes("features", float(np.max(squares)), rows)
    np.fill_diagonal(gram, squares + shift)
    return gram


@attrs.frozen(eq=False)
class _Cholesky:
    """The inverse of a matrix, of shape (k, k), by its upper factor."""

    factor: FloatArray

    @property
    def setup_flops(self) -> int:
        size = len(self.factor)
        return size * (size + 1) * (2 * size + 1) // 6

    @property
    def solve_flops(self) -> int:
        return 2 * self.factor.size

    def solve(self, right: FloatArray) -> FloatArray:
        solution, _ = lapack.dpotrs(self.factor, right)
        return np.asarray(solution)


@attrs.frozen(eq=False)
class _Spectrum:
    """The pseudo-inverse of a matrix: eigenvectors over the roots of their eigenvalues, shape (k, rank)."""

    roots: FloatArray

    @property
    def setup_flops(self) -> int:
        size = len(self.roots)
        return 9 * size * size * size

    @property
    def solve_flops(self) -> int:
        return 4 * self.roots.size

    def solve(self, right: FloatArray) -> FloatArray:
        return np.asarray(self.roots @ (self.roots.T @ right))


def _inverse(gram: FloatArray) -> _Cholesky | _Spectrum:
    """By Cholesky, or by eigenvectors where that would lose all digits. Overwrites its argument."""
    diagonal, columns = gram.diagonal().copy(), gram.T  # the same matrix in the order of LAPACK
    cutoff = max(CUTOFF, len(diagonal) * float(np.finfo(np.float64).eps))
    norm = lapack.dlange("1", columns)  # type: ignore[call-arg]  # scipy's stubs forget its second argument
    factor, failed = lapack.dpotrf(columns, clean=False, overwrite_a=True)
    if not failed:
        condition, _ = lapack.dpocon(factor, norm)
        if condition > cutoff:
            return _Cholesky(factor)
    np.fill_diagonal(gram, diagonal)  # the factor went to the other triangle and the diagonal
    values, vectors = np.linalg.eigh(gram, UPLO="U")
    kept = values > cutoff * values[-1]
    return _Spectrum(vectors[:, kept] / np.sqrt(values[kept]))


@attrs.frozen(eq=False)
class _Block:
    """Rows that are solved together, shape (k, N): views of A and y."""

    rows: FloatArray
    targets: FloatArray
    inverse: _Cholesky | _Spectrum

    @staticmethod
    def of(rows: FloatArray, targets: FloatArray) -> "_Block":
        return _Block(rows, targets, _inverse(_gram(rows)))

    @property
    def setup_flops(self) -> int:
        """Of syrk, k(k + 1)N, and of what inverts."""
        return (len(self.rows) + 1) * self.rows.size + self.inverse.setup_flops

    @property
    def step_flops(self) -> int:
        """Of gemv with the rows and with their transpose, and of the solution between them."""
        return 4 * self.rows.size + self.inverse.solve_flops

    def step(self, solution: FloatArray) -> float:
        """Projects, in place; the squared length of the residual that it met."""
        residual = self.targets - self.rows @ solution
        solution += self.rows.T @ self.inverse.solve(residual)
        return float(residual @ residual)
