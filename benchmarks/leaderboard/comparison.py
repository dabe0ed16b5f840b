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


def strongest(ours: Mapping[int, float], others: Mapping[str, Mapping[int, float]]) -> tuple[str, float, float]:
    """The other that is most clearly ahead of ours: its name, its lead, and the standard error of that, both paired.

    Scores of which more is better, by seed. others: by name; not empty. Ours is first, or even with the first, exactly
    where the lead is at most its error: then no other leads by more than its own.
    """
    leads = {name: paired(ours, scores) for name, scores in others.items()}
    name = max(leads, key=lambda each: leads[each][0] - leads[each][1])
    return name, *leads[name]


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
    """The least ε from which on all means reach a level, between two of the grid by its logarithm.

    epsilons: increasing; the first of them stands for all below.  means: more is better; none gives nan.
    ∞ where the largest ε does not reach it.
    """
    if not means:
        return math.nan
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
