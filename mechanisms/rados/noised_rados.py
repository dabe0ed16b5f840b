"""Rados that may be released whole, with Gaussian noise on them; and moments of columns, to scale them by.

What the paper releases instead, and why that is refused, is in `mechanisms.rados.edge_vectors`. Here, too, m and d are
public. Sums are exact: edges are first brought to multiples of a power of two, so fine that m of them add up without
rounding, in whatever order. So a sensitivity needs no share for floating point.
"""

import math
from collections.abc import Iterable
from functools import partial
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from accountant import ReplaceOne
from accountant.arrays import FloatArray
from accountant.costs import count, up
from mechanisms.additive import GaussianNoise
from mechanisms.core import Block, L2Sensitivity, PlainMechanism, Query, Rows
from mechanisms.queries import public_radius, refuse_sizes
from mechanisms.rados.column_distribution import rados_count, records_count
from mechanisms.rados.edge_vectors import clipped
from mechanisms.rados.one_hot import Groups, made_one_hot, moments_l2, one_hot_groups, one_hot_text
from mechanisms.rados.public_supports import support_sums
from mechanisms.rados.sampling import STEP, Edges, EdgeVectors, Vectors
from mechanisms.randomness import NoiseSource, SecureNoise

T = TypeVar("T")


def even_count(value: int) -> int:
    """A number of rados that come in pairs: even, 2 … MAX_RADOS. Raises ValueError."""
    if rados_count(value) % 2:
        raise ValueError(f"expected an even number of rados, as they come in pairs, got {value!r}")
    return int(value)


def exact_steps(values: FloatArray, bound: float, records: int) -> FloatArray:
    """Values cut, towards 0, to multiples of the finest power of two of which `records` add up exactly.

    bound: largest size of a value, in [2^-500, 2^500].  Returns the shape of values; every size falls by less than
    bound·records·2^-51.
    """
    step = 2.0 ** (math.ceil(math.log2(bound)) + math.ceil(math.log2(records)) - 53)
    return np.asarray(np.trunc(values / step) * step)


def refuse_other_records(wanted: int, data: Rows[T]) -> None:
    """Raise ValueError for another m than this one."""
    if data.n != wanted:
        raise ValueError(f"records: this was built for {wanted} records, the data has {data.n}")


def _refuse_other_features(wanted: int, found: FloatArray | npt.NDArray[np.float32]) -> None:
    if found.shape[1] != wanted:
        raise ValueError(f"features: this was built for {wanted} features, the data has {found.shape[1]}")


def paired_rados(
    number: int, radius: float, records: int, features: int, seed: int
) -> Query[Rows[Vectors], FloatArray, L2Sensitivity]:
    """n random rados of edges clipped to length `radius`, half of them on the complements of the others' supports.

    number: n, even.  radius: R, in the features' unit, public.  records: m, public.  features: d, public.
    seed: of the supports, public, drawn without looking at the data.
    Evaluates to shape (n, d), the same for any blocks of the records. Sensitivity: 2R·√(n/2) in ℓ2 when one record is
    replaced, its label included: it is in exactly one rado of each pair, whatever the supports, so it does no harm that
    whoever knows the seed knows them. Were all n drawn at random, it would be 2R·√n in the worst case. With noise on
    the edges instead (`noised_edges`) a rado's noise is √(m/n) times as large. [000-noised-rados]
    """
    rados, ball, size = even_count(number), public_radius(radius), records_count(records)
    refuse_sizes(size, features)

    def prepared(edges: Edges) -> FloatArray:
        return exact_steps(clipped(np.asarray(edges, dtype=np.float64), ball), ball, size)

    def summed(data: Rows[Vectors]) -> FloatArray:
        sums = support_sums(data, rados // 2, seed, prepared)
        _refuse_other_features(features, sums)
        return np.concatenate([sums[:-1], sums[-1] - sums[:-1]])

    return Query(
        f"{rados} rados in complementary pairs, edges clipped to length {ball!r}, supports of seed {seed}",
        summed,
        L2Sensitivity(up(2.0 * ball * up(math.sqrt(rados / 2)))),
        ReplaceOne(),
        ("000-noised-rados",),
        partial(refuse_other_records, size),
    )


def noised_rados(
    number: int, radius: float, records: int, features: int, seed: int, sigma: float, noise: NoiseSource | None = None
) -> PlainMechanism[Rows[Vectors], FloatArray, L2Sensitivity, FloatArray]:
    """`paired_rados` + N(0, sigma²): GDP(2R·√(n/2)/sigma), under replace-one. [000-noised-rados]

    | edge | what happens |
    | --- | --- |
    | an odd number, or 0 | ValueError |
    | an edge longer than radius | shortened to it |
    | data with another m | ValueError before the charge |
    | data with another d | ValueError |
    | more than 2^18 features | ValueError |
    | radius outside [2^-500, 2^500] | ValueError |
    """
    query = paired_rados(number, radius, records, features, seed)
    return PlainMechanism(query, GaussianNoise(sigma), SecureNoise() if noise is None else noise)


def exact_moments(values: FloatArray | npt.NDArray[np.float32], records: int, one_hot: Groups = ()) -> FloatArray:
    """Σ zᵢ and Σ zᵢ² of columns clipped to [−1, 1], shape (2, d); exact but for what `exact_steps` cuts.

    values: shape (k, d), of k <= records.  one_hot: see `column_moments`. A block at a time.
    """
    total = np.zeros((2, values.shape[1]))
    for start in range(0, len(values), STEP):
        given = made_one_hot(values[start : start + STEP].astype(np.float64), one_hot)
        rows = exact_steps(np.clip(given, -1.0, 1.0), 1.0, records)
        total += [rows.sum(axis=0), exact_steps(rows * rows, 1.0, records).sum(axis=0)]
    return total


def column_moments(
    features: int, records: int, one_hot: Iterable[Iterable[int]] = ()
) -> Query[Rows[EdgeVectors], FloatArray, L2Sensitivity]:
    """Σ zᵢ and Σ zᵢ² of every column, shape (2, features): what standardising columns takes. [000-moments]

    Over any blocks of the records, as these sums are exact. [exact-rows]

    features: d.  records: m. Values are clipped to [−1, 1]; the data are features here, not edges.
    one_hot: groups of columns of which each record has 1 in one and −1 in the others, public; at least two in each. A
      record that is no such one is made one, by where it is largest.
    Sensitivity: √(4·(columns in no group) + 8·groups) in ℓ2, attained. From a to b a column moves both by
    (a−b)²·(1+(a+b)²) <= 4 together, attained at −1 and 1, as |a−b| + |a+b| <= 2; of a group two columns move by 2, and
    no square does. Raises ValueError for groups that overlap, or of one column.
    """
    width, size = count(features), records_count(records)
    groups = one_hot_groups(one_hot, width)

    def summed(block: Block[EdgeVectors]) -> FloatArray:
        _refuse_other_features(width, block.data.edges)
        return exact_moments(block.data.edges, size, groups)

    def moments(data: Rows[EdgeVectors]) -> FloatArray:
        return data.total(summed)

    def check(data: Rows[EdgeVectors]) -> None:
        refuse_other_records(size, data)
        refuse_sizes(size, width)

    return Query(
        f"sums and sums of squares of {width} columns within [-1, 1]{one_hot_text(groups)}",
        moments,
        # Squares are cut too: that can add a step, 2^-52·m of 4, and only where the values do not attain the 4.
        L2Sensitivity(moments_l2(width, groups)),
        ReplaceOne(),
        ("000-moments",),
        check,
    )
