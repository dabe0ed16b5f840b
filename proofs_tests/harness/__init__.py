"""The verification kit: exact laws by enumeration, and divergences between them.

Works on anything that draws through a `NoiseSource`: a mechanism, a booster, or a whole estimator.
"""

from proofs_tests.harness.divergence import approx_delta, loss_width, max_loss, renyi_divergence
from proofs_tests.harness.enumeration import ScriptedNoise, output_law
from proofs_tests.harness.neighbours import replace_one_neighbours, samples

__all__ = [
    "ScriptedNoise",
    "approx_delta",
    "loss_width",
    "max_loss",
    "output_law",
    "renyi_divergence",
    "replace_one_neighbours",
    "samples",
]
