"""Scores of canaries: the larger, the more a fit looks as if the first of what a coin stands for was in the data.

A score sees what came out of the fit and what is public: the canaries, the other records, and replays on coins of its
own. It never sees the coins. So whatever it computes, a bound that depends on it holds.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

import attrs
import numpy as np

from accountant.arrays import FloatArray, IntArray
from proofs_tests.harness.one_run.canaries import Canaries, Coins, Labels
from proofs_tests.harness.one_run.released import Release, log_ratio, refuse_inner_noise

MOST_REPLAYS: Final = 2_000
"""Canaries that are looked at one by one, each in a fit of its own; more need cells of their own."""

ATTRIBUTED: Final = 0.5
"""Of the squared signal, the share that must be told apart by cells."""


NEARLY: Final = 0.05
"""How far from all or nothing a share of a change may be: where weights are normalised, all move all a little."""


@attrs.frozen(eq=False)
class Seen:
    """What a score may look at.

    fitted: the estimator after its one fit.  canaries: without their coins.
    releases: what its mechanisms released, in order; empty where the fit was only seen from outside.
    replay: coins to what would have been noised, with the same outputs, one array for each release.
    """

    fitted: Any  # whatever has a fit
    canaries: Canaries
    releases: Sequence[Release]
    replay: Callable[[Coins], list[FloatArray]]

    def turned(self) -> tuple[list[FloatArray], list[FloatArray]]:
        """What would have been noised with `fixed_coins`, and with all of them turned over: the mean of both is the
        middle of all coins, where what is noised is a sum over records. Raises NotReleased."""
        coins = fixed_coins(self.canaries.number)
        one, other = self.replay(coins), self.replay(~coins)
        both = [np.abs(up) + np.abs(down) for up, down in zip(one, other, strict=True)]
        refuse_inner_noise(self.releases, both)
        return one, other


def _bits(number: int) -> list[Coins]:
    """The b-th is bit b of each canary's number."""
    return [(np.arange(number) >> bit & 1).astype(bool) for bit in range((number - 1).bit_length())]


@lru_cache(maxsize=8)
def fixed_coins(number: int) -> Coins:
    """Coins that have nothing to do with those of the fit; no replay of `cells` has an empty data set. number: >= 2."""
    rng = np.random.default_rng(0)
    while True:
        coins = rng.integers(0, 2, number).astype(bool)
        if all(np.any(other) for other in (coins, ~coins, *(coins ^ bit for bit in _bits(number)))):
            return coins


CanaryScore: TypeAlias = Callable[[Seen], FloatArray]
"""What was seen to scores, shape (m,)."""


def black_box(seen: Seen) -> FloatArray:
    """The margin of the first record's label, less that of the other's: by `decision_function`, `predict_proba` or
    `predict`, of two classes or more, or of numbers."""
    canaries = seen.canaries
    first = _margins(seen.fitted, canaries.X, canaries.y)
    return first - _margins(seen.fitted, *canaries.others) if canaries.replaced else first


def _margins(fitted: Any, X: object, y: Labels) -> FloatArray:
    classes = getattr(fitted, "classes_", None)
    if classes is None:
        return -np.abs(np.asarray(fitted.predict(X), dtype=np.float64) - y.astype(np.float64))
    place = np.array([list(classes).index(label) for label in y.tolist()])
    scores = _scores(fitted, X)
    if scores.ndim == 1:
        return np.where(place == 1, scores, -scores)
    return np.asarray(scores[np.arange(place.size), place])


def _scores(fitted: Any, X: object) -> FloatArray:
    if hasattr(fitted, "decision_function"):
        return np.asarray(fitted.decision_function(X), dtype=np.float64)
    if hasattr(fitted, "predict_proba"):
        return np.asarray(np.log(np.maximum(fitted.predict_proba(X), 1e-300)))
    said = np.asarray(fitted.predict(X))
    return np.stack([said == label for label in fitted.classes_], axis=1).astype(np.float64)


def white_box(seen: Seen) -> FloatArray:
    """Log-likelihood ratios of the released numbers: by cells where canaries have cells of their own, else one by one.

    Raises NotReleased where noise is drawn that need not be released; ValueError where there are too many to be looked
    at one by one.
    """
    one, other = seen.turned()
    by_cell, share = cells(seen, one, other)
    if share >= ATTRIBUTED:
        return by_cell
    if seen.canaries.number > MOST_REPLAYS:
        raise ValueError(
            f"canaries: {share:.0%} of what they move is in cells of their own; take at most {MOST_REPLAYS}, each of "
            "which is then looked at in a fit of its own, or give a score such as along(directions)"
        )
    return one_by_one(seen, one, other)


def cells(seen: Seen, one: Sequence[FloatArray], other: Sequence[FloatArray]) -> tuple[FloatArray, float]:
    """Scores by numbers that one canary alone moves, and their share of all that is moved, in squared deviations.

    one, other: as `Seen.turned` gives them. Which canary moves a number is found by replays: in the b-th, the coins of
    those whose number has bit b are turned over. A number that several move moves by something between nothing and all
    in one of them, and is left out.
    """
    m, start = seen.canaries.number, fixed_coins(seen.canaries.number)
    replays = [seen.replay(start ^ bit) for bit in _bits(m)]
    scores, told, moved = np.zeros(m), 0.0, 0.0
    for number, release in enumerate(seen.releases):
        if not release.additive:
            continue
        change = (other[number] - one[number]).ravel()
        owner = _owners([(each[number] - one[number]).ravel() for each in replays], change, m)
        energy = (change / release.scale) ** 2
        alone = owner >= 0
        moved, told = moved + float(np.sum(energy)), told + float(np.sum(energy[alone]))
        said = _evidence(release, other[number], one[number])[alone]
        scores += np.bincount(owner[alone], weights=said, minlength=m)
    return np.where(start, -scores, scores), told / moved if moved else 0.0


def _owners(changes: Sequence[FloatArray], change: FloatArray, number: int) -> IntArray:
    """Which canary moves each number; −1 for none or several. shape (size,)."""
    moved = np.abs(change) > 1e-9
    shares = [np.divide(each, change, out=np.full(change.shape, -1.0), where=moved) for each in changes]
    owner = np.zeros(change.size, dtype=np.int64)
    for bit, part in enumerate(shares):
        whole = np.abs(part - 1.0) < NEARLY
        owner += whole.astype(np.int64) << bit
        moved &= whole | (np.abs(part) < NEARLY)
    return np.where(moved & (owner < number), owner, -1)


def _evidence(release: Release, first: FloatArray, second: FloatArray) -> FloatArray:
    """ln of how much likelier each number is with the first value than with the second, shape (size,)."""
    if release.law == "gaussian":
        return np.ravel((release.output - 0.5 * (first + second)) * (first - second)) / release.scale**2
    return np.ravel(np.abs(release.output - second) - np.abs(release.output - first)) / release.scale


def one_by_one(seen: Seen, one: Sequence[FloatArray], other: Sequence[FloatArray]) -> FloatArray:
    """Each canary's own log-likelihood ratio, where the others are in the middle; for choices, where they are as
    `fixed_coins` say. one, other: as `Seen.turned` gives them."""
    coins = fixed_coins(seen.canaries.number)
    scores = np.zeros(coins.size)
    for canary in range(coins.size):
        turned = coins.copy()
        turned[canary] = not coins[canary]
        both = (one, seen.replay(turned)) if coins[canary] else (seen.replay(turned), one)
        for number, release in enumerate(seen.releases):
            first, second = both[0][number], both[1][number]
            if release.additive:
                centre, half = 0.5 * (one[number] + other[number]), 0.5 * (first - second)
                first, second = centre + half, centre - half
            scores[canary] += log_ratio(release, first, second)
    return scores


def along(directions: Callable[[Seen], FloatArray], *, last: bool = False) -> CanaryScore:
    """A score for canaries that move the same numbers, each in a direction of its own that is known.

    directions: what was seen to shape (m, d). Of each Gaussian release of d numbers, Σ(y − middle)/σ² times the
    direction.  last: of each of at least d numbers the last d instead.
    """

    def score(seen: Seen) -> FloatArray:
        ways = directions(seen)
        width = ways.shape[1]
        found = np.zeros(width)
        for release, one, other in zip(seen.releases, *seen.turned(), strict=True):
            size = release.output.size
            if release.law == "gaussian" and (size >= width if last else size == width):
                off = np.ravel(release.output - 0.5 * (one + other))
                found += off[size - width :] / release.scale**2
        return np.asarray(ways @ found)

    score.__name__ = "white-box, along directions"
    return score
