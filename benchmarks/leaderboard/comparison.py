"""Comparisons over many tables: paired differences, ranks, critical differences, and ε for most of the ceiling."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from scipy import stats

from accountant.arrays import FloatArray

CONFIDENCE: Final = 0.05
"""Chance of any false difference among the ranks."""


def paired(ours: Mapping[int, float], theirs: Mapping[int, float]) -> tuple[float, float]:
    """Mean of theirs − ours over the seeds that both have, and its standard error: 0 for one seed.

    By seed. Raises ValueError where no seed is in both.
    """
    seeds = sorted(set(ours) & set(theirs))
    if not seeds:
        raise ValueError("no seed in both: there is nothing to pair")
    differences = np.array([theirs[seed] - ours[seed] for seed in seeds])
    error = float(np.std(differences, ddof=1)) / math.sqrt(len(seeds)) if len(seeds) > 1 else 0.0
    return float(np.mean(differences)), error


def first_or_even(
    ours: Mapping[int, float], others: Mapping[str, Mapping[int, float]]
) -> tuple[bool, str, float, float]:
    """Whether no other is ahead by more than a paired standard error of the first; the first, its lead, its error.

    Scores of which more is better, by seed. others: by name; not empty. The first is that of the largest mean.
    """
    best = max(others, key=lambda name: float(np.mean(list(others[name].values()))))
    lead, error = paired(ours, others[best])
    return lead <= error, best, lead, error


def mean_ranks(scores: FloatArray) -> FloatArray:
    """Of each system, over tables; 1 is best, ties share. scores: shape (tables, systems), more is better."""
    ranks = np.array([stats.rankdata(-row) for row in scores])
    return np.asarray(ranks.mean(axis=0))


def critical_difference(systems: int, tables: int) -> float:
    """Mean ranks that differ by less are not told apart (Nemenyi's test, as Demšar 2006 has it)."""
    q = float(stats.studentized_range.ppf(1.0 - CONFIDENCE, systems, np.inf)) / math.sqrt(2.0)
    return q * math.sqrt(systems * (systems + 1) / (6.0 * tables))


def friedman_p(scores: FloatArray) -> float:
    """Chance of ranks as uneven if all systems were alike. scores: shape (tables, systems), at least three systems."""
    return float(stats.friedmanchisquare(*scores.T).pvalue)


def needed_epsilon(epsilons: Sequence[float], means: Sequence[float], level: float) -> float:
    """The least ε from which on all means reach a level, between two of the grid by its logarithm; ∞ for none.

    epsilons: increasing.  means: more is better.
    """
    reached = [place for place in range(len(means)) if all(mean >= level for mean in means[place:])]
    if not reached:
        return math.inf
    place = reached[0]
    if place == 0:
        return epsilons[0]
    before, after = means[place - 1], means[place]
    share = (level - before) / (after - before)
    return math.exp((1.0 - share) * math.log(epsilons[place - 1]) + share * math.log(epsilons[place]))


def closed(before: float, after: float, ceiling: float) -> float:
    """The share of the gap to the ceiling that a change closes; nan where there is none."""
    gap = ceiling - before
    return (after - before) / gap if gap > 0.0 else math.nan
