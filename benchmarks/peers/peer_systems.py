"""Who takes part: each system's worker, its settings, what it promises and what it reads for nothing."""

import hashlib
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import attrs
import numpy as np

from accountant.costs import gaussian
from benchmarks.data import Split
from benchmarks.peer_workers import fits_diffprivlib, fits_interpret, fits_opendp, fits_ours, serve
from benchmarks.peers.peer_data import Files
from benchmarks.peers.peer_environments import OURS, PINS
from benchmarks.peers.peer_processes import Worker
from benchmarks.runner import Grid, slug
from benchmarks.systems import Results, Scorer, System

MODULES: Final[dict[str, ModuleType]] = {
    OURS: fits_ours,
    "diffprivlib": fits_diffprivlib,
    "interpret": fits_interpret,
    "opendp": fits_opendp,
}


@attrs.frozen
class Promise:
    """What holds for a system, by our reading of its code; in words.

    neighbours: which data sets it makes alike.  budget: how it spends.  fed: what it is given.  free: what it reads
    from the data uncharged.
    """

    neighbours: str
    budget: str
    fed: str
    free: str


@attrs.frozen(eq=False)
class Entrant:
    """A system that takes part.

    peer: whose package it is, a key of PINS, or OURS.  settings: what its worker is told besides (ε, δ).
    replaced: it is told the ε of `replaced`.  timed_only: it predicts as another one does.
    variant: it runs the same code as another one, at other settings; quick runs leave it out.
    """

    name: str
    peer: str
    settings: dict[str, Any]
    promise: Promise
    replaced: bool = False
    timed_only: bool = False
    variant: bool = False

    def job(self, epsilon: float, delta: float) -> dict[str, Any]:
        """What its worker is told about one fit."""
        told = replaced(epsilon, delta) if self.replaced else epsilon
        return {**self.settings, "epsilon": epsilon, "delta": delta, "told": told}

    def system(self, worker: Worker, files: Files, scores: Path) -> System:
        """As a row of a table. scores: a file for its scores, of nobody else at the same time."""

        def fit(split: Split, epsilon: float, delta: float, seed: int) -> Scorer:
            job = {**files.of(split), **self.job(epsilon, delta), "seed": seed, "scores": str(scores)}
            worker.ask(do="fit", **job)
            found = np.load(scores)
            return lambda part: found  # the scores of the split's test part, which is what is asked for

        return System(self.name, fit, kept=self.peer != OURS)

    def results(self, folder: Path) -> Results:
        """What earlier runs measured of a peer, as long as it is measured in the same way; of ours, nothing."""
        if self.peer == OURS:
            return Results(None)
        digest = hashlib.sha256(repr((self.settings, self.replaced, PINS[self.peer])).encode())
        for module in (MODULES[self.peer], serve):
            assert module.__file__ is not None
            digest.update(Path(module.__file__).read_bytes())
        return Results(folder / f"{slug(self.name)}-{digest.hexdigest()[:8]}.csv", [self.name])


def replaced(epsilon: float, delta: float) -> float:
    """The ε that DP-EBM must be told so that its noise hides sums that move twice as far.

    It spends a tenth of ε on bins and the rest on boosting, each as one Gaussian mechanism with half of δ.
    """
    return min(gaussian.epsilon(0.5 * gaussian.mu(p * epsilon, 0.5 * delta), 0.5 * delta) / p for p in (0.1, 0.9))


# --- ours -----------------------------------------------------------------------------------------------------------


def _private_boost(adjacency: str, form: str = "refined") -> dict[str, Any]:
    return {"learner": "boost", "form": form, "options": {"adjacency": adjacency}}


_NOTHING, _EXACT = "nothing", "(ε, δ) of Gaussian noise, exactly"
_CODES, _COLUMNS = "codes of the public schema", "columns, and the public schema; encodes within its fit"

RECOMMENDED: Final = Entrant(
    "PrivateBoost, add-remove-one",
    OURS,
    _private_boost("add-remove-one"),
    Promise("one record more or less", _EXACT, _CODES, _NOTHING),
)
FROM_COLUMNS: Final = Entrant(
    "PrivateBoost, add-remove-one, from columns",
    OURS,
    _private_boost("add-remove-one", "columns"),
    Promise("one record more or less", _EXACT, _COLUMNS, _NOTHING),
    timed_only=True,
)
OWN: Final = (
    RECOMMENDED,
    FROM_COLUMNS,
    Entrant(
        "PrivateBoost, replace-one",
        OURS,
        _private_boost("replace-one"),
        Promise("one record replaced", _EXACT, _CODES, "the number of records, which that makes public"),
        variant=True,
    ),
    Entrant(
        "boosted 1-Rules, 200 rounds",
        OURS,
        {"learner": "1-rules", "form": "schema", "options": {"rounds": 200, "learning_rate": 0.1, "density": 0.25}},
        Promise("one record replaced", "(ε, δ), rounds of bounded range", _CODES, "the number of records, as above"),
    ),
)

# --- peers ----------------------------------------------------------------------------------------------------------

_LOGISTIC = Promise(
    "one record replaced",
    "pure ε, taken at its word; δ is left over",
    "Boolean features, whose norm is public",
    "the number of records, as above",
)
_FOREST = Promise(
    "one record more or less in a leaf",
    "pure ε; δ is left over",
    "columns within [0, 1] by public bounds, classes 0 and 1",
    "the number of records, by which they are dealt to trees",
)
_EBM = "columns, their public types and bounds"
_EBM_FREE = "which categories occur; the number of records"


def _ebm(name: str, learning_rate: float, replaced: bool = False) -> Entrant:
    neighbours = "one record replaced" if replaced else "one record more or less"
    promise = Promise(neighbours, "(ε, δ) of two Gaussian mechanisms", _EBM, _EBM_FREE)
    settings = {"learning_rate": learning_rate}
    return Entrant(f"DP-EBM, {name} (interpret)", "interpret", settings, promise, replaced, variant=not replaced)


PEERS: Final = (
    Entrant(
        "logistic regression, C=1 (diffprivlib)", "diffprivlib", {"learner": "LogisticRegression", "C": 1.0}, _LOGISTIC
    ),
    Entrant(
        "logistic regression, C=0.01 (diffprivlib)",
        "diffprivlib",
        {"learner": "LogisticRegression", "C": 0.01},
        _LOGISTIC,
        variant=True,
    ),
    Entrant(
        "Gaussian naive Bayes (diffprivlib)",
        "diffprivlib",
        {"learner": "GaussianNB"},
        Promise(
            "one record more or less in its class",
            "pure ε; δ is left over",
            "columns within [0, 1] by public bounds",
            "the number of records, which its class counts add up to; which classes occur",
        ),
    ),
    Entrant(
        "random forest, 10 trees (diffprivlib)",
        "diffprivlib",
        {"learner": "forest", "trees": 10, "shuffle": False},
        _FOREST,
    ),
    Entrant(
        "random forest, 30 trees (diffprivlib)",
        "diffprivlib",
        {"learner": "forest", "trees": 30, "shuffle": True},
        _FOREST,
        variant=True,
    ),
    _ebm("defaults", 0.01),
    _ebm("rate 0.1", 0.1),
    _ebm("rate 0.1, one record replaced", 0.1, replaced=True),
    Entrant(
        "naive Bayes on histograms (OpenDP)",
        "opendp",
        {},
        Promise(
            "one record more or less", "(ε, δ) from ρ-zCDP by its own map", _CODES + ", records as numbers", _NOTHING
        ),
    ),
)

ENTRANTS: Final = (*OWN, *PEERS)
ALL_CODE: Final = tuple(each for each in ENTRANTS if not each.variant)
"""All code that there is, once."""

ONE_EACH: Final = (FROM_COLUMNS, *({each.peer: each for each in reversed(PEERS) if not each.variant}).values())
"""Ours from columns, and the first of each peer."""


def promises() -> Grid:
    """Side by side, in words."""
    head = ("system", "neighbours that it makes alike", "budget", "what it is given", "what it reads uncharged")
    rows = tuple((each.name, *attrs.astuple(each.promise)) for each in ENTRANTS)
    return Grid("What each system promises, by our reading of its code", head, rows)
