"""Random Fourier and random cosine features: public maps from records to vectors, fixed by a public seed.

No map looks at data, so its features cost nothing. All arithmetic is real: a complex model is kept as the real and the
imaginary parts of its coefficients, one beside the other, and so gets noise on both. [004-Alg1]
"""

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Final, Literal, TypeAlias, cast

import attrs
import numpy as np

from accountant.arrays import FloatArray
from accountant.costs import count
from accountant.renamed_parameters import renamed_parameters
from learners.base import moderate, one_of, public_seed
from learners.random_features.angles import cosines, sines, turn_frequencies, turns_of
from mechanisms.queries import MOST_COORDINATES

FrequencyDistribution: TypeAlias = Literal["gaussian", "cauchy", "orthogonal", "linear"]
"""Of frequencies: N(0, s²I), whose kernel is exp(−s²‖x − x'‖₂²/2); independent Cauchy ones, exp(−s‖x − x'‖₁); as the
first, but orthogonal in each group of d. "linear" has none: its features are the inputs and a constant."""

FeatureMap: TypeAlias = Literal["fourier", "cosine", "complex"]
"""cos ω·x and sin ω·x; cos(ω·x + b) with a random phase; e^{iω·x}."""

DISTRIBUTIONS: Final = ("gaussian", "cauchy", "orthogonal", "linear")
FEATURE_MAPS: Final = ("fourier", "cosine", "complex")

IN_FILES: Final = {"law": "distribution", "form": "feature_map", "number": "n_components"}
"""What files, and version 0.1, call parameters of a map."""

FREQUENCIES: Final = 0xFEA7
"""Sets the frequencies apart from everything else that is drawn from the same seed."""

AGREE: Final = 1e-9
"""How closely frequencies drawn again must agree with those of a saved model: only LAPACK may round differently."""


def distribution_name(value: FrequencyDistribution) -> FrequencyDistribution:
    """One of `DISTRIBUTIONS`. Raises ValueError."""
    return cast("FrequencyDistribution", one_of(*DISTRIBUTIONS)(value))


def feature_map_name(value: FeatureMap) -> FeatureMap:
    """One of `FEATURE_MAPS`. Raises ValueError."""
    return cast("FeatureMap", one_of(*FEATURE_MAPS)(value))


@renamed_parameters(**IN_FILES)
@attrs.frozen(slots=False)
class RandomFeatureMap:
    """x in R^d to D features of total length at most 1. Public.

    distribution, feature_map: see above; "linear" looks at inputs only.  inputs: d.
    n_components: N, the number of random frequencies.  scale: s, per unit of the inputs, in [2^-100, 2^100].
    seed: public, >= 0: whoever has it has the frequencies.
    D is N for "cosine", 2N for the other feature maps, and d + 1 for "linear".
    Raises ValueError for anything else, and beyond 2^18 features.
    """

    distribution: FrequencyDistribution = attrs.field(converter=distribution_name)
    feature_map: FeatureMap = attrs.field(converter=feature_map_name)
    inputs: int = attrs.field(converter=count)
    n_components: int = attrs.field(converter=count)
    scale: float = attrs.field(converter=moderate)
    seed: int = attrs.field(converter=public_seed)

    def __attrs_post_init__(self) -> None:
        if self.width > MOST_COORDINATES:
            raise ValueError(f"n_components: expected at most {MOST_COORDINATES} features, got {self.width}")
        if self.distribution == "linear" and self.feature_map == "complex":
            raise ValueError("feature_map: linear features are real; take 'fourier'")

    @property
    def width(self) -> int:
        """D."""
        if self.distribution == "linear":
            return self.inputs + 1
        return self.n_components if self.feature_map == "cosine" else 2 * self.n_components

    @property
    def mean_square(self) -> float:
        """E‖φ(x)‖² over seeds, at every x: 1, for cosines 1/2. "linear" features have their largest, 1."""
        return 0.5 if self.feature_map == "cosine" and self.distribution != "linear" else 1.0

    @cached_property
    def _drawn(self) -> tuple[FloatArray, FloatArray]:
        """Frequencies, shape (d, N), and phases, shape (N,)."""
        sequence = np.random.SeedSequence(self.seed, spawn_key=(FREQUENCIES,))
        generator = np.random.Generator(np.random.PCG64(sequence))
        shape = (self.n_components, self.inputs)
        match self.distribution:
            case "gaussian":
                found = generator.standard_normal(shape)
            case "cauchy":
                found = generator.standard_cauchy(shape)
            case "orthogonal":
                groups = [_orthogonal(generator, self.inputs) for _ in range(-(-self.n_components // self.inputs))]
                found = np.concatenate(groups)[: self.n_components]
            case "linear":
                found = np.zeros(shape)
        return np.ascontiguousarray(found.T * self.scale), generator.uniform(-math.pi, math.pi, self.n_components)

    @property
    def frequencies(self) -> FloatArray:
        """ω, shape (N, d)."""
        return self._drawn[0].T

    @property
    def phases(self) -> FloatArray:
        """b in [−π, π), shape (N,); only "cosine" adds them."""
        return self._drawn[1]

    @cached_property
    def _turns(self) -> FloatArray:
        """Frequencies as angles are made of them, shape (d, N)."""
        return turn_frequencies(self._drawn[0])

    def draw(self) -> FloatArray:
        """Draw what there is to draw, once: another machine, whose LAPACK may round otherwise, is then sent the same.

        Returns ω/2π as angles are made of it, shape (d, N).
        """
        return self._turns

    def features(self, points: FloatArray) -> FloatArray:
        """φ(x), shape (n, D), which a prediction is a product with: cosines, then sines, over √N. [exact-angles]

        points: shape (n, d), of size at most 2^60. A row depends on its own point alone, bit by bit.
        Of a complex model the real part is predicted, so its sines come with a minus.
        """
        if self.distribution == "linear":
            return np.column_stack([points, np.ones(len(points))]) / math.sqrt(self.inputs + 1.0)
        turns = turns_of(points, self._turns)
        if self.feature_map == "cosine":
            turns += self.phases / (2.0 * math.pi)
            turns -= np.rint(turns)
            return cosines(turns) / math.sqrt(self.n_components)
        return self._pairs(cosines(turns), -sines(turns) if self.feature_map == "complex" else sines(turns))

    def imaginary(self, points: FloatArray) -> FloatArray:
        """What the imaginary part of a complex model is a product with, shape (n, D): sines, then cosines, over √N."""
        turns = turns_of(points, self._turns)
        return self._pairs(sines(turns), cosines(turns))

    def _pairs(self, first: FloatArray, second: FloatArray) -> FloatArray:
        pairs = np.concatenate([first, second], axis=1)
        pairs *= 1.0 / math.sqrt(self.n_components)
        return pairs

    def mean(self, reference: "Reference") -> FloatArray:
        """E φ(x), shape (D,), for x ~ N(0, I) ("normal") or x uniform in [−1, 1]^d ("cube"): public either way.

        E e^{iω·x} is exp(−‖ω‖²/2), and the product of sin(ω_j)/ω_j.
        """
        if self.distribution == "linear":
            return np.append(np.zeros(self.inputs), 1.0) / math.sqrt(self.inputs + 1.0)
        frequencies = self._drawn[0]
        if reference == "normal":
            shrunk = np.exp(-0.5 * np.sum(frequencies**2, axis=0))
        else:
            shrunk = np.prod(np.sinc(frequencies / math.pi), axis=0)
        if self.feature_map == "cosine":
            shrunk = shrunk * np.cos(self.phases)
        whole = np.zeros(self.width)
        whole[: self.n_components] = shrunk / math.sqrt(self.n_components)
        return whole

    def as_record(self) -> dict[str, object]:
        """For JSON; `last` are the last frequency and its phase, by which a reader sees that it draws the same ones."""
        old = {new: name for name, new in IN_FILES.items()}
        return {**{old.get(name, name): value for name, value in attrs.asdict(self).items()}, "last": self._last()}

    def _last(self) -> list[float]:
        return [*self.frequencies[-1].tolist(), float(self.phases[-1])]

    @staticmethod
    def from_record(record: Mapping[str, object]) -> "RandomFeatureMap":
        """The inverse. Raises ValueError, KeyError or TypeError for anything else, and where numpy draws otherwise."""
        found = RandomFeatureMap(
            cast("FrequencyDistribution", record["law"]),
            cast("FeatureMap", record["form"]),
            cast("int", record["inputs"]),
            cast("int", record["number"]),
            cast("float", record["scale"]),
            cast("int", record["seed"]),
        )
        last = np.array(record["last"], dtype=np.float64)
        if last.shape != (found.inputs + 1,) or not np.allclose(last, found._last(), rtol=AGREE, atol=AGREE):
            raise ValueError("the seed gives other frequencies here than where the model was saved: fit it again")
        return found


Reference: TypeAlias = Literal["normal", "cube"]
"""A public distribution of points."""


def _orthogonal(generator: np.random.Generator, inputs: int) -> FloatArray:
    """d orthogonal directions, uniform, with the lengths of d normal vectors, shape (d, d)."""
    basis, triangle = np.linalg.qr(generator.standard_normal((inputs, inputs)))
    basis *= np.where(np.diag(triangle) < 0.0, -1.0, 1.0)  # or it would not be uniform, nor the same everywhere
    return np.asarray(basis.T * np.sqrt(generator.chisquare(inputs, size=(inputs, 1))), dtype=np.float64)
