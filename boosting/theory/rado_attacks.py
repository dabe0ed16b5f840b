"""What one who sees rados can and cannot do: 000, section 7, at sizes that run.

None of this is a privacy guarantee. NP-hardness is of the worst case, and random instances fall to meeting in the
middle or to lattices; that other samples have the same rados does not make them as likely; and one who knows all edges
but one reads it off. What protects records is differential privacy, see `mechanisms.rados.edge_vectors`.

edges, candidates: yᵢ·xᵢ, shape (m, d), finite.  rados: shape (n, d).  supports: shape (n, m), 0 or 1, row j has a 1
where rado j sums; rados == supports @ edges. Lengths and distances are Euclidean, in the units of the edges. 000 keeps
all of these as columns. Every function raises ValueError for other shapes and values.
"""

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import NonlinearConstraint, minimize
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

from accountant.arrays import FloatArray, IntArray
from accountant.costs import count, non_negative, positive

MAX_MET: Final = 40
"""Most records among which supports are read: 2^20 sums on either side."""

MAX_FITS: Final = 2**20
"""Most pairs of half supports that are compared in full."""

PRUNED: Final = 1024
"""Of the smallest sets of records, how many remove larger ones that hold them."""

_Masks: TypeAlias = npt.NDArray[np.int64]
"""Sets of records, one per number: bit i is record i."""


def _matrix(name: str, value: FloatArray, columns: int | None = None) -> FloatArray:
    matrix = np.asarray(value, dtype=np.float64)
    if matrix.ndim != 2 or 0 in matrix.shape or (columns is not None and matrix.shape[1] != columns):
        wanted = "(k, d) with k, d >= 1" if columns is None else f"(k, {columns}) with k >= 1"
        raise ValueError(f"{name}: expected shape {wanted}, got {matrix.shape}")
    if not np.all(np.isfinite(matrix)):
        raise ValueError(f"{name}: expected finite values")
    return matrix


def _supports(value: FloatArray, records: int | None = None) -> FloatArray:
    rows = _matrix("supports", value, records)
    if not np.all((rows == 0.0) | (rows == 1.0)):
        raise ValueError("supports: expected 0 and 1 only")
    return rows


# --- Supports are known: linear equations -----------------------------------------------------------------------------


def reconstruct_edges(rados: FloatArray, supports: FloatArray) -> FloatArray:
    """The edges, shape (m, d), by least squares: exact but for rounding where rados are. 000, Lemma 9(a). [000-Lem9]

    The condition number of supports multiplies errors. Raises ValueError where the supports do not determine them.
    """
    rows = _supports(supports)
    sums = _matrix("rados", rados)
    (n, m), rank = rows.shape, int(np.linalg.matrix_rank(rows))
    if sums.shape[0] != n:
        raise ValueError(f"rados: expected one per support, {n}, got {sums.shape[0]}")
    if rank < m:
        raise ValueError(
            f"supports: those of n={n} rados have rank {rank}, below m={m} records, so many edges fit; add at least "
            f"{m - rank} rados with independent supports (another_solution shows a second answer)"
        )
    return np.asarray(np.linalg.lstsq(rows, sums, rcond=None)[0])


def another_solution(edges: FloatArray, supports: FloatArray, size: float) -> FloatArray:
    """Other edges, shape (m, d), with the same rados but for rounding. 000, Lemma 9(b). [000-Lem9]

    size: how far they are, root of the summed squares, positive; all rows move along one direction, by a null vector
    of the supports. Raises ValueError where the supports have rank m, so that there are none.
    """
    vectors = _matrix("edges", edges)
    rows = _supports(supports, vectors.shape[0])
    rank = int(np.linalg.matrix_rank(rows))
    if rank == rows.shape[1]:
        raise ValueError(f"supports: rank {rank} is m, so no other edges have these rados; leave rados out")
    free = np.linalg.svd(rows)[2][-1]
    direction = np.full(vectors.shape[1], vectors.shape[1] ** -0.5)
    return vectors + positive(size) * np.outer(free, direction)


# --- Supports are unknown: other samples ------------------------------------------------------------------------------


def hausdorff_distance(one: FloatArray, other: FloatArray) -> float:
    """The largest distance of a row of either, shapes (k, d) and (l, d), from the nearest row of the other. 000, 7.1"""
    left = _matrix("one", one)
    apart = cdist(left, _matrix("other", other, left.shape[1]))
    return float(max(np.max(np.min(apart, axis=0)), np.max(np.min(apart, axis=1))))


def alternative_sample(
    edges: FloatArray, supports: FloatArray, radius: float, flipped: IntArray | None = None, seed: int = 0
) -> tuple[FloatArray, FloatArray]:
    """Edges, shape (m + 1, d), and supports, (n, m + 1), with the same rados. [000-Lem10] [000-Lem10-twins]

    radius: R > 0; all edges are within it, and the new ones.  flipped: F, numbers of edges: these change their sign and
    their sum is added, so every sum of old edges is one of new ones. None adds an edge that no rado sums, as far from
    all others as a search from `seed` gets. Some point of the ball is R·m^(−1/d) away, R/2 for m <= 2^d, since m balls
    that cover it have its volume; the one found is R·(2m)^(−1/d) away but for probability 2^−256, as at most half of
    the ball is nearer. Both for F and None the rados are the same but for rounding.
    Raises ValueError for edges, or a sum of F, outside the ball.
    """
    vectors = _matrix("edges", edges)
    rows = _supports(supports, vectors.shape[0])
    longest = float(np.max(np.linalg.norm(vectors, axis=1)))
    if longest > positive(radius):
        raise ValueError(f"edges: one has length {longest!r}, beyond radius={radius!r}; take a larger ball")
    if flipped is None:
        point = _farthest(vectors, radius, np.random.default_rng(seed))
        return np.vstack([vectors, point]), np.hstack([rows, np.zeros((rows.shape[0], 1))])
    return _flipped(vectors, rows, radius, np.asarray(flipped))


def _flipped(edges: FloatArray, rows: FloatArray, radius: float, flipped: IntArray) -> tuple[FloatArray, FloatArray]:
    if not (flipped.ndim == 1 and flipped.size and np.all(np.isin(flipped, np.arange(edges.shape[0])))):
        raise ValueError(f"flipped: expected numbers of some of the {edges.shape[0]} edges, got {flipped.tolist()!r}")
    chosen = np.isin(np.arange(edges.shape[0]), flipped)
    added = edges[chosen].sum(axis=0)
    if float(np.linalg.norm(added)) > radius:
        raise ValueError(
            f"flipped: these edges sum to length {float(np.linalg.norm(added))!r}, beyond radius={radius!r}; choose "
            "edges that cancel"
        )
    other = np.where(chosen[:, None], -edges, edges) + 0.0
    return np.vstack([other, added]), np.hstack([np.where(chosen, 1.0 - rows, rows), np.ones((rows.shape[0], 1))])


def _farthest(edges: FloatArray, radius: float, rng: np.random.Generator) -> FloatArray:
    """The best of 256 uniform points of the ball and of its surface, the best eight having climbed."""
    directions = rng.standard_normal((256, edges.shape[1]))
    directions *= radius / np.linalg.norm(directions, axis=1, keepdims=True)
    points = np.vstack([directions * rng.random((256, 1)) ** (1.0 / edges.shape[1]), directions])
    best = points[np.argsort(np.min(cdist(points, edges), axis=1))[-8:]]
    points = np.vstack([best, *(_climbed(edges, radius, start) for start in best)])
    # Rounding, and a climb that ended early, must not leave the ball.
    points /= np.maximum(1.0, np.linalg.norm(points, axis=1, keepdims=True) / (radius * (1.0 - 2.0**-50)))
    return np.asarray(points[np.argmax(np.min(cdist(points, edges), axis=1))])


def _climbed(edges: FloatArray, radius: float, start: FloatArray) -> FloatArray:
    """Up the least squared distance t, as a variable, subject to t <= |x − e|² for all edges and |x| <= R; R = 1."""
    near = edges / radius
    first = np.append(start / radius, np.min(np.sum((near - start / radius) ** 2, axis=1)))

    def slack(at: FloatArray) -> FloatArray:
        return np.append(np.sum((near - at[:-1]) ** 2, axis=1) - at[-1], 1.0 - at[:-1] @ at[:-1])

    def slope(at: FloatArray) -> FloatArray:
        rows = np.vstack([2.0 * (at[:-1] - near), -2.0 * at[:-1]])
        return np.column_stack([rows, np.append(-np.ones(near.shape[0]), 0.0)])

    def loss(at: FloatArray) -> float:
        return -float(at[-1])

    def uphill(at: FloatArray) -> FloatArray:
        return np.append(np.zeros(near.shape[1]), -1.0)

    found = minimize(
        loss,
        first,
        jac=uphill,
        method="SLSQP",
        constraints=NonlinearConstraint(slack, 0.0, np.inf, jac=slope),
    )
    return radius * np.asarray(found.x[:-1], dtype=np.float64) if np.all(np.isfinite(found.x)) else start


# --- Edges are known: which records a rado sums -----------------------------------------------------------------------


def read_support(rado: FloatArray, edges: FloatArray, tolerance: float) -> FloatArray:
    """All supports whose edges sum to the rado within `tolerance`, shape (f, m), f >= 0. [000-Lem12]

    rado: shape (d,).  edges: at most MAX_MET.  tolerance: at least 0; above rounding, so 1e-9 of the rado's length
    unless all are whole numbers. Meets in the middle: about 2^(m/2) time and memory, not 2^m. For edges in general
    position there is one answer: the support of a rado is no secret to one who knows the edges.
    Raises ValueError for more edges, and where more than MAX_FITS halves would have to be compared.
    """
    vectors = _matrix("edges", edges)
    if np.ndim(rado) != 1:
        raise ValueError(f"rado: expected one, of shape (d,), got shape {np.shape(rado)}")
    target = _matrix("rado", np.atleast_2d(rado), vectors.shape[1])
    return _bits(_fitting(target[0], vectors, non_negative(tolerance)), vectors.shape[0])


def _bits(masks: _Masks, records: int) -> FloatArray:
    """Shape (k, records), 0 or 1."""
    every = np.unpackbits(masks.astype("<i8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    return every[:, :records].astype(np.float64)


def _sums(rows: FloatArray) -> FloatArray:
    """Of all subsets; row number b sums the rows i whose bit i is in b."""
    sums = np.zeros((1, rows.shape[1]))
    for row in rows:
        sums = np.concatenate([sums, sums + row])
    return sums


def _fitting(rado: FloatArray, edges: FloatArray, tolerance: float) -> _Masks:
    m, d = edges.shape
    if m > MAX_MET:
        raise ValueError(f"expected at most {MAX_MET} edges to read supports among, got {m}")
    # Sizes are those of ordinary floats from here on.
    largest = max(float(np.max(np.abs(edges), initial=0.0)), float(np.max(np.abs(rado), initial=0.0)))
    if largest > 0.0:
        exponent = -int(np.frexp(largest)[1])  # a power of two, which rounds nothing
        edges, rado = np.ldexp(edges, exponent), np.ldexp(rado, exponent)
        with np.errstate(over="ignore"):
            tolerance = min(float(np.ldexp(tolerance, exponent)), 2.0 * (m + 1) * d)  # which everything is within
    # Few orthonormal directions only shorten distances, so nothing that fits is missed, and trees are fast there.
    few = np.linalg.qr(np.random.default_rng(0).standard_normal((d, min(d, 3))))[0]
    low, high = np.split(edges @ few, [m // 2])
    size = float(np.sum(np.linalg.norm(edges, axis=1)) + np.linalg.norm(rado))
    reach = tolerance + 8.0 * (m + d) * float(np.finfo(np.float64).eps) * size
    left, right = KDTree(_sums(low)), KDTree(rado @ few - _sums(high))
    number = int(left.count_neighbors(right, reach))
    if number > MAX_FITS:
        raise ValueError(f"{number} pairs of halves come within {tolerance!r} of the rado, above {MAX_FITS}; lower it")
    pairs = left.sparse_distance_matrix(right, reach, output_type="ndarray")
    masks = np.sort(pairs["i"].astype(np.int64) | (pairs["j"].astype(np.int64) << (m // 2)))
    apart = np.linalg.norm(_bits(masks, m) @ edges - rado, axis=1)
    return np.asarray(masks[apart <= tolerance], dtype=np.int64)


def subsumed(
    rados: FloatArray, candidates: FloatArray, records: int, radius: float
) -> tuple[IntArray, FloatArray] | None:
    """Whether some `records` of the candidates have all rados within `radius`: Probe-Sample-Subsumption. [000-Lem12]

    Exact but for rounding. Returns the numbers of such candidates, shape (records,), rising, and supports over them,
    (n, records); None where there are none. Reads the supports of every rado, then unites one of each until at most
    `records` candidates do; exponential in the worst case, like all that is known.
    records: 1 … s, s <= MAX_MET candidates.  radius: at least 0. Raises ValueError outside, and as `read_support`.
    """
    vectors = _matrix("candidates", candidates)
    sums = _matrix("rados", rados, vectors.shape[1])
    if count(records) > vectors.shape[0]:
        raise ValueError(f"records: expected at most the {vectors.shape[0]} candidates, got {records}")
    near = non_negative(radius)
    fits = [_least(_fitting(rado, vectors, near), records, vectors.shape[0]) for rado in sums]
    united = np.zeros(1, dtype=np.int64)
    for options in sorted(fits, key=len):
        united = _united(united, options, records, vectors.shape[0])
    if not united.size:
        return None
    members = np.flatnonzero(_bits(united[:1], vectors.shape[0])[0])
    others = np.setdiff1d(np.arange(vectors.shape[0]), members)[: records - members.size]
    chosen = np.union1d(members, others)
    held = np.array([options[(options & ~united[0]) == 0][0] for options in fits])
    return chosen, _bits(held, vectors.shape[0])[:, chosen]


def _united(united: _Masks, options: _Masks, records: int, among: int) -> _Masks:
    """All unions of one of each with at most so many records, but for some that hold another."""
    step = max(1, MAX_FITS // max(1, options.size))
    parts = [
        _least((united[place : place + step, None] | options).ravel(), records, among)
        for place in range(0, united.size, step)
    ]
    return _least(np.concatenate([united[:0], *parts]), records, among)


def _least(masks: _Masks, records: int, among: int) -> _Masks:
    """Those of at most so many records, without repetition, smallest first; few that hold another are left."""
    distinct = np.unique(masks)
    sizes = _bits(distinct, among).sum(axis=1)
    distinct = distinct[np.argsort(sizes, kind="stable")][: int(np.sum(sizes <= records))]
    for place in range(PRUNED):
        if place >= distinct.size:
            break
        later = distinct[place + 1 :]
        distinct = np.concatenate([distinct[: place + 1], later[(later & distinct[place]) != distinct[place]]])
    return distinct
