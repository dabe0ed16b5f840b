"""Claims about margins, new data and rado losses. Papers: 000 Nock et al.; 001 Asadi et al.; 003 Bun et al."""

from proofs_tests.claims.claim import Claim

GUARANTEES: tuple[Claim, ...] = (
    Claim(
        "001-Thm5",
        "001, Theorem 5, utility",
        "With advantage γ, T = 16L/γ² rounds at λ = γ/4 reach margin γ on all but a share κ, L = ln(1/κ).",
        "tightened",
        "2γ − λ/2 − L/(λT), here 13γ/8; at λ = √(2L/T) margin γ takes T > 2L/γ², margin 0 T > L/(2γ²)",
        "The regret against the κn worst records, with λ/8 (003-Lem34) for the printed λ, which would give 3γ/4 only. "
        "It bounds even their mean margin; in the coin game at κ = 2^-T that comes within 0.85 of it.",
        "boosting/theory/test_guarantees.py::test_what_the_papers_settings_give",
    ),
    Claim(
        "003-Thm24",
        "003, Theorem 24 and Lemma 38",
        "The same with LB-NxM's λ = γ/4.",
        "tightened",
        "2γ − λ/4 − 2L/(λT) in 003's λ, here 23γ/16, for the mean margin of the κn worst records, the last in part",
        "The regret term λ/8 is attained to 99.9 % at λ = 0.1 by hypotheses that are right on half the weight whatever "
        "came before. Any run can be checked against its own advantages.",
        "boosting/theory/test_guarantees.py::test_every_run_keeps_its_certificate",
    ),
    Claim(
        "003-Thm26",
        "003, Theorem 26 (Servedio 2003)",
        "h(x) = z·x, z = Σ μ̂(i)yᵢxᵢ, has advantage τ/4 if a share of at most κτ/4 is corrupted.",
        "false as printed",
        "|z| >= τ − (1 + τ)η/κ >= τ/2; advantage |z|/2 >= τ/4 for z/|z|, |z|²/2 >= τ²/8 for z",
        "The advantage of z is z·z/2: x = τe₁ ± √(1 − τ²)e₂ at τ = 0.1 has 0.005 < 0.025. z·u gets τ from weight "
        "1 − η/κ at least and loses at most 1 on the rest, which is attained.",
        "boosting/theory/test_halfspaces.py::test_theorem_26_as_printed_is_false",
    ),
    Claim(
        "003-Thm23",
        "003, Theorem 23",
        "A private booster with training error α has error at most α on new data, but for β + δ/ε.",
        "false as printed",
        "α + 18ε",
        "The constant hypothesis at κ = 1 on n = 10^4 labels, a tenth of them −1: training error at most 0.0999 with "
        "probability 0.496, error on new data 0.1 for sure. The printed proof gives α + 18ε, given Theorem 19.",
        "boosting/theory/test_generalisation.py::test_theorem_23_as_printed_is_false",
    ),
    Claim(
        "003-Thm28",
        "003, Theorem 28 (Bartlett & Shawe-Taylor 1998)",
        "Error at most k/n + √((2d/n)·ln(34en/d)·log(578n) + ln(4/δ)).",
        "narrowed",
        "k/n + √((2/n)·(d·ln(34en/d)·log₂(578n) + ln(4/δ))), as its source has it; not proved here",
        "As printed it says nothing: ln(4/δ) stands outside the 1/n, so the bound exceeds √ln 4 = 1.177.",
        "boosting/theory/test_generalisation.py::test_theorem_28_as_printed_says_nothing",
    ),
    Claim(
        "003-Thm30",
        "003, Theorem 30",
        "HS-StL needs a sample of Ω(privacy + accuracy + label noise), without constants.",
        "narrowed",
        "three terms as rates; with constants for the corrected learner, given Theorem 28 as its source has it",
        "The 1/(α²τ²) term stays as ε grows, 132 times the privacy term at ε = 1, α = 0.01, τ = 0.1. The rate depends "
        "on 27.2, Lemma 29 and Theorem 28, none of which stands as printed.",
        "boosting/theory/test_halfspaces.py::test_theorem_30s_accuracy_term_is_the_one_that_theorem_1_drops",
    ),
    Claim(
        "000-Lem2",
        "000, Lemma 2 and eq. 3",
        "The logistic loss is ln 2 + (1/m)·ln of the exponential loss over all 2^m rados.",
        "holds",
        "exact",
        "Over all σ the exponential loss is the product of (1 + exp(−yᵢ·θxᵢ))/2. Enumerated for m <= 14 to 1e-12.",
        "boosting/rados/test_rado_loss.py::test_lemma_2_logistic_loss_is_the_loss_over_all_rados",
    ),
    Claim(
        "000-Lem4",
        "000, Lemma 4",
        "After T rounds of RadoBoost with |r_t| >= γ the exponential loss is at most exp(−Tγ²/2).",
        "tightened",
        "Π_t √(1 − r_t²)",
        "exp(−απ) <= (1 − ru)/√(1 − r²), u = π/π_*, by convexity, and the weights sum to 1. Equality for one feature "
        "of ±π_*.",
        "boosting/rados/test_rado_loss.py::test_lemma_4_is_attained",
    ),
    Claim(
        "000-eq17",
        "000, section 5.2 and eq. 17",
        "With α = (1/(κπ_*))·ln((1 + r)/(1 − r)), κ >= 1, the logistic rado loss is at most ln 2 − Σ r_t²/(2κm).",
        "false as printed",
        "α = (1/(2κπ_*))·ln((1 + r)/(1 − r)), and then ln 2 + Σ ln(1 − r_t²)/(2κm)",
        "κ = 1 and one feature of ±1: the exponential loss stays 1; it fails for κ < 4/3. With the 2, θ is Lemma 4's "
        "divided by κ, and Jensen gives its loss to the power 1/κ.",
        "boosting/rados/test_rado_loss.py::test_eq_17_as_printed_leaves_the_loss_where_it_was",
    ),
)
