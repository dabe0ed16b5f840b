"""Claims about re-weighting and what is learnt from it. Papers: 001 Asadi et al.; 003 Bun, Carmosino & Sorrell."""

from proofs_tests.claims.claim import Claim

BOOSTING: tuple[Claim, ...] = (
    Claim(
        "L0",
        "003, Lemma 25 (its proof gives 2/(κn))",
        "LazyBregman on neighbouring samples moves by at most 1/(κn), jointly over labelled points.",
        "tightened",
        "ζ = 1/(κn)",
        "Scaled and capped to the same density, one weight rises and all others fall, by the same total; so the "
        "joint distance is the larger of the two normalised weights of the changed record, at most 1/(κn).",
        "boosting/test_slickness.py::test_both_certificates_are_attained",
    ),
    Claim(
        "001-per-round-zeta",
        "ours",
        "In round t the distance is at most r/(r + n − 1), r = exp(2λ(t − 1)), for |h| ≤ 1.",
        "tightened",
        "ζ_t = min(1/(κn), r/(r + n − 1)); r/(r + n − 1) without projection, where r = exp(λ(t − 1)) for weights "
        "min(1, exp(−λ·margin))",
        "Capping never increases a ratio of weights, ratios are at most r, so one weight stands against n − 1 that "
        "are each at least a share 1/r of it. AdaBoost has no such r: its rates depend on the data, and one of n "
        "records gets half of the weight after a round.",
        "boosting/test_slickness.py::test_both_certificates_are_attained",
    ),
    Claim(
        "001-projection",
        "001, Algorithm 1 and its footnote on density",
        "The Bregman projection to density κ keeps the measure smooth.",
        "narrowed",
        "always scaled and capped to density exactly κ",
        "True for the real projection. Skipping it when the measure is dense already loses smoothness.",
        "boosting/test_slickness.py::test_skipping_the_projection_breaks_the_certificate",
    ),
    Claim(
        "001-Obs8",
        "001, definition of a DP weak learner, Observation 8",
        "|err − err′| ≤ 2ζ for distributions on [n] at index distance ζ.",
        "false as printed",
        "ζ is the joint distance over labelled points; then |err − err′| ≤ ζ",
        "Two records, equal distributions, one record replaced: index distance 0, the error moves by 1/2.",
        "boosting/test_projection.py::test_index_distance_is_blind_to_a_changed_record",
    ),
    Claim(
        "L1",
        "ours",
        "A score in [0, 1] averaged under the weighting moves by at most ζ each way, its range by at most 2ζ.",
        "holds",
        "linf ζ, range 2ζ",
        "The variational form of total variation distance.",
        "learners/votes/test_one_rule.py::test_the_range_of_the_change_is_at_most_two_zeta",
    ),
    Claim(
        "001-Thm6",
        "001, Theorem 6",
        "DP-1R is 4ηζ-DP.",
        "tightened",
        "2ηζ, as bounded range",
        "L1 and L2; the range of the errors' change is at most 2ζ, and exactly 2ζ where one label flips at κ = 1.",
        "learners/votes/test_one_rule.py::test_two_zeta_is_attained",
    ),
    Claim(
        "001-Thm7",
        "001, Theorem 7",
        "LazyBB with DP-1R at η = εκn/(4τ) is ε-DP.",
        "tightened",
        "Σ_t η(2ζ_t + rounding) ≤ ε: η of about εκn/(2τ), twice the printed one",
        "001-Thm6 in every round, L0 and 001-per-round-zeta for ζ_t, basic composition.",
        "learners/base/test_whole_learner.py::test_three_rounds_on_all_samples_of_four_records",
    ),
)
