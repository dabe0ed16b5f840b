"""The entries. Papers: 001 Asadi et al. (LazyBB); 003 Bun, Carmosino & Sorrell 2020."""

from typing import Literal

import attrs

Verdict = Literal["holds", "tightened", "false as printed", "narrowed"]


@attrs.frozen
class Claim:
    """One claim: where it stands, what it says, what became of it, what the code uses, and what shows it."""

    id: str
    source: str
    statement: str
    verdict: Verdict
    constant: str
    proof: str
    test: str


CLAIMS: tuple[Claim, ...] = (
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
        "ζ_t = min(1/(κn), r/(r + n − 1))",
        "Capping never increases a ratio of weights, ratios are at most r, so one weight stands against n − 1 that "
        "are each at least a share 1/r of it.",
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
        "learners/test_one_rule.py::test_the_range_of_the_change_is_at_most_two_zeta",
    ),
    Claim(
        "L2",
        "001, Theorem 3; Dong, Durfee & Rogers 2020",
        "The exponential mechanism with inverse scale η has bounded range η·Δ_range, hence is that pure DP.",
        "tightened",
        "BoundedRange(η·Δ_range)",
        "P′(h)/P(h) = e^{ηD(h)}/E_P e^{ηD}: over h, its logarithm spans η(max D − min D), and contains 0.",
        "mechanisms/test_selection.py::test_the_declared_range_is_attained",
    ),
    Claim(
        "001-Thm3",
        "001, Theorem 3 and the note that closes its proof",
        'WEM is 2ηΔ_linf-DP; "η = 2ε/(2Δ) yields ε".',
        "false as printed",
        "η = ε/Δ_range",
        "The theorem holds; the note is off by two: one candidate gains Δ, a thousand lose it, the ratio is 7.34 > e.",
        "mechanisms/test_selection.py::test_the_papers_closing_note_is_false_by_two",
    ),
    Claim(
        "001-Thm6",
        "001, Theorem 6",
        "DP-1R is 4ηζ-DP.",
        "tightened",
        "2ηζ, as bounded range",
        "L1 and L2; the range of the errors' change is at most 2ζ, and exactly 2ζ where one label flips at κ = 1.",
        "learners/test_one_rule.py::test_two_zeta_is_attained",
    ),
    Claim(
        "001-Thm7",
        "001, Theorem 7",
        "LazyBB with DP-1R at η = εκn/(4τ) is ε-DP.",
        "tightened",
        "Σ_t η(2ζ_t + rounding) ≤ ε: η of about εκn/(2τ), twice the printed one",
        "001-Thm6 in every round, L0 and 001-per-round-zeta for ζ_t, basic composition.",
        "learners/test_whole_learner.py::test_three_rounds_on_all_samples_of_four_records",
    ),
    Claim(
        "L3",
        "ours; sections of it in Durfee & Rogers 2019, Dong et al. 2020",
        "ε-bounded range is ρ-zCDP with ρ = u − 1 − ln u, u = ε/(1 − e^{−ε}); ε-DP with ρ = ε·tanh(ε/2); and the "
        "Rényi curve of the bounded-range class in closed form.",
        "tightened",
        "those, in place of ε²/8 and ε²/2",
        "Two-point extremal laws, maximised over the offset.",
        "accountant/test_costs.py::test_bounded_range_renyi_curve_dominates_the_two_point_law",
    ),
    Claim(
        "L4",
        "ours",
        "The privacy profile of the ε-bounded-range class is δ(x) = (e^{ε/2} − e^{x/2})²/(e^ε − 1).",
        "holds",
        "BoundedRange.to_approx",
        "Maximise the hockey-stick divergence of the two-point law over its offset.",
        "accountant/test_costs.py::test_bounded_range_profile_inverts_the_closed_form",
    ),
    Claim(
        "zcdp-tight",
        "Canonne, Kamath & Steinke 2020, Proposition 12; Asoodeh et al. 2020",
        "Rényi divergence D_α gives ε = min_α D_α + ln((α−1)/α) − (ln δ + ln α)/(α−1).",
        "holds",
        "ZCDP.to_approx, Plan.price",
        "As cited; any order is valid, so a poor minimum is safe.",
        "accountant/test_costs.py::test_zcdp_conversion_is_the_minimum_over_orders",
    ),
    Claim(
        "003-Lem15",
        "003, Lemma 15 (Bun & Steinke 2016)",
        "ρ-zCDP gives ε = ρ + 2√(ρ ln(1/δ)).",
        "tightened",
        "kept by name; zcdp-tight is what is used",
        "As cited.",
        "accountant/test_plans.py::test_the_printed_table",
    ),
    Claim(
        "zcdp-filter",
        "Feldman & Zrnic 2021; Whitehouse, Ramdas, Rogers & Wu 2023",
        "Stopping before Σρ exceeds its budget keeps ρ-zCDP under fully adaptive composition.",
        "holds",
        "ZCDPComposition",
        "As cited.",
        "accountant/test_composition.py::test_zcdp_rule_covers_randomized_response_exactly",
    ),
    Claim(
        "advanced-filter",
        "Whitehouse, Ramdas, Rogers & Wu 2023, Theorem 1",
        "Stopping before √(2 ln(1/δ′) v) + v/2 exceeds ε, v = Σεᵢ², keeps (ε, δ′ + Σδᵢ) under full adaptivity.",
        "holds",
        "AdvancedComposition; a bounded-range release adds 2ρ to v",
        "As cited; the proof adds up (approximate) zCDP parameters ½v, so a proven ρ may stand for ½ε².",
        "accountant/test_composition.py::test_advanced_filter_covers_k_fold_randomized_response",
    ),
    Claim(
        "basic",
        "Dwork, McSherry, Nissim & Smith 2006; Rogers, Roth, Ullman & Vadhan 2016",
        "Σε and Σδ, also as a filter under full adaptivity.",
        "holds",
        "BasicComposition, exact sums",
        "As cited.",
        "accountant/test_ledger.py::test_the_ledger_agrees_with_an_exact_model",
    ),
    Claim(
        "001-Thm1",
        "001, Theorem 1 (Dwork, Rothblum & Vadhan 2010)",
        "k releases of ε₀ cost √(2k ln(1/δ′)) ε₀ + k ε₀ (e^{ε₀} − 1).",
        "tightened",
        "kept by name; second term k ε₀ tanh(ε₀/2) in drv_tight",
        "Each release's expected loss is at most ε tanh(ε/2).",
        "accountant/test_composition.py::test_fixed_plan_bounds_stand_in_their_proven_order",
    ),
    Claim(
        "001-Thm2",
        "001, Theorem 2 (McSherry)",
        "Releases on the cells of a partition cost the maximum.",
        "narrowed",
        "the maximum under add-remove-one; twice that under replace-one",
        "A replaced record leaves one cell and enters another: exact cell counts, free in each cell, reveal it.",
        "accountant/test_composition.py::test_parallel_composition_doubles_under_replace_one",
    ),
    Claim(
        "001-Remark16",
        "001, Remark 16",
        "t releases of ε cost tε² + ε√(t ln(1/δ)).",
        "narrowed",
        "not used; bounded-range costs go through L3",
        "True for bounded range. False for pure DP: 24-fold randomized response at ε = 0.02 has 2.118 times the δ.",
        "accountant/test_composition.py::test_remark_16_is_false_for_general_pure_mechanisms",
    ),
    Claim(
        "kov",
        "Kairouz, Oh & Viswanath 2015, Theorems 3.3 and 3.5",
        "The optimal composition of k equal (ε, δ) costs, and closed forms for unequal ones.",
        "holds",
        "fixed plans only, never a stop rule",
        "As cited; solved for a real ε on the binomial law of k-fold randomized response.",
        "accountant/test_composition.py::test_kov_is_optimal_for_randomized_response",
    ),
)


def page() -> str:
    """CLAIMS.md."""
    head = [
        "# Claims",
        "",
        "Generated by `python -m proofs_tests.claims`; do not edit. One entry per theorem that a declared cost or a",
        "certificate rests on. Tests are under `proofs_tests/`. Papers: 001 is Asadi et al., *Private Boosted Decision",
        "Trees via Smooth Re-Weighting*; 003 is Bun, Carmosino & Sorrell 2020, *Efficient, Noise-Tolerant, and Private",
        "Learning via Boosting*.",
    ]
    return "\n".join([*head, *(line for claim in CLAIMS for line in _section(claim))]) + "\n"


def _section(claim: Claim) -> list[str]:
    return [
        "",
        f"## {claim.id}: {claim.verdict}",
        "",
        f"- Source: {claim.source}",
        f"- Claim: {claim.statement}",
        f"- The code uses: {claim.constant}",
        f"- Why: {claim.proof}",
        f"- Shown by: `{claim.test}`",
    ]
