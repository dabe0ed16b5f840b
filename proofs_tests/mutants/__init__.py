"""Wrong mechanisms, queries, learners and sums of costs, each a few lines, that the kit must find.

`python -m proofs_tests.mutants` prints the table of what it finds. Needs nothing but the kit.
"""

from typing import Final

from proofs_tests.mutants import (
    accounting,
    additive,
    edges,
    fairness,
    feature_models,
    learners,
    measures,
    queries,
    rados,
    records,
    selections,
    sparse_vector,
    sums,
)
from proofs_tests.mutants.mutant import Mutant, Verdict, verdict

MUTANTS: Final[tuple[Mutant, ...]] = (
    *selections.MUTANTS,
    *additive.MUTANTS,
    *sparse_vector.MUTANTS,
    *queries.MUTANTS,
    *sums.MUTANTS,
    *learners.MUTANTS,
    *accounting.MUTANTS,
    *edges.MUTANTS,
    *rados.MUTANTS,
    *fairness.MUTANTS,
    *feature_models.MUTANTS,
    *measures.MUTANTS,
    *records.MUTANTS,
)

__all__ = ["MUTANTS", "Mutant", "Verdict", "verdict"]
