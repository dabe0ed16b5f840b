"""Hyper-parameters for users who give none: functions of public numbers, fixed once and for all data."""

import math
from typing import Final

import attrs

from accountant.costs import count, gaussian

FEWEST: Final = 3
MOST: Final = 1000
"""Rounds, however few or many records there are."""


@attrs.frozen
class BoostingSettings:
    """Of one boosted run. rounds: T.  learning_rate: λ.  density: κ."""

    rounds: int
    learning_rate: float
    density: float

    def unless(self, rounds: int | None, learning_rate: float | None, density: float | None) -> "BoostingSettings":
        """These, unless others are given."""
        return BoostingSettings(
            self.rounds if rounds is None else count(rounds),
            self.learning_rate if learning_rate is None else float(learning_rate),
            self.density if density is None else float(density),
        )


def lazy_boost_settings(
    n: int, epsilon: float, delta: float, features: int, *, splits: int = 0, rounds: int | None = None
) -> BoostingSettings:
    """Rounds, learning rate and density of `LazyBoostClassifier` for n records.

    epsilon > 0, delta in [0, 1): the budget.  features: d, the number of Boolean features.
    splits: of each tree, 0 for 1-Rules.  rounds: T where it is given already.

    With L = ln(2d + 2), the logarithm of the number of 1-Rules:

        T = √(nε/5L) where δ = 0, else (nε/(L·√ln(1/δ)))^(2/3)
        λ = min(½, 10/T)
        κ = min(0.35, T^(−1/4))

    A round's noise is about L·T/(nε) where ε adds up and L·√(T·ln(1/δ))/(nε) where ρ does; in both cases T is such
    that it falls as 1/T: the more data, the more rounds and the less noise in each. λT = 10 lets the votes of all
    rounds together reweight by e^20 at most. κ falls once there are more than 67 rounds: a denser weighting needs less
    noise, a sparser one gets to the hard records. A tree of t splits makes t + 1 releases, which leaves T·(2/(t + 1))^½
    rounds or T·(2/(t + 1))^⅓.

    Chosen on Adult, Cod-RNA, Mushroom, MAGIC, Skin and breast cancer at ε from 0.1 to 3, δ of 0 and 1e-5, by accuracy
    and AUC on their held-out parts, one to four seeds each: T and λT from grids of factors of about two; κ from 0.2 to
    0.35, and its fall with T after Cod-RNA had shown that 0.35 is too much for hundreds of rounds. Trees on the first
    four. Figures on these data are therefore a little too good, and nobody was charged for the choice.
    """
    candidates, share = math.log(2.0 * features + 2.0), 2.0 / (splits + 1.0) if splits else 1.0
    if delta == 0.0:
        best = math.sqrt(share * n * epsilon / (5.0 * candidates))
    else:
        scale = candidates * math.sqrt(math.log(1.0 / delta))
        best = share ** (1.0 / 3.0) * (n * epsilon / scale) ** (2.0 / 3.0)
    chosen = round(min(max(best, FEWEST), MOST)) if rounds is None else rounds
    return BoostingSettings(chosen, min(0.5, 10.0 / chosen), min(0.35, chosen**-0.25))


def halfspace_settings(n: int, dimension: int, epsilon: float, delta: float) -> BoostingSettings:
    """Rounds, learning rate and density of `HalfspaceBoostClassifier` for n records of that dimension.

    With μ the Gaussian differential privacy that (epsilon, delta) allows, and d the dimension:

        ν = 2√d/(nμ), T = 100, λ = 1/2 where δ > 0, else ν = 2d√T/(nε), T = 10, λ = 1
        κ = 0.7·√(ν√d), at least 0.35; where that is 1 or more, κ = 1 and T = 1

    ν is the length of the noise that all rounds together would leave at κ = 1, however many there are; a sparser
    weighting has ν/κ, which is to be seen beside a signal of about 1/√d. So noise makes the weighting dense, up to the
    plain mean of all records, and the mean is right only for data that look alike in all directions. And a weighting
    that is sparser than the share of records that no halfspace gets right goes to just these.

    Chosen on points of the sphere (with up to 30 % of labels flipped, with all margins equal, and with a fifth on which
    the mean is wrong; d of 20 and 500, n of 20,000) and on Adult, Cod-RNA and Mushroom, at ε from 0.1 to 3, δ = 1e-6,
    by accuracy on new records: T, κ and λ from grids of factors of about two. Figures on these three sets are therefore
    a little too good.
    """
    signal = 1.0 / math.sqrt(dimension)
    if delta == 0.0:
        rounds, rate, noise = 10, 1.0, 2.0 * dimension * math.sqrt(10.0) / (n * epsilon)
    else:
        rounds, rate, noise = 100, 0.5, 2.0 / (n * signal * gaussian.mu(epsilon, delta))
    density = max(0.35, 0.7 * math.sqrt(noise / signal))
    return BoostingSettings(rounds, rate, density) if density < 1.0 else BoostingSettings(1, 1.0, 1.0)
