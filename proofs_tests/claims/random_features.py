"""Claims about random features. Paper: 004 Liao et al."""

from proofs_tests.claims.claim import Claim

RANDOM_FEATURES: tuple[Claim, ...] = (
    Claim(
        "004-Lem9",
        "004, Lemma 9",
        "Δ₂(c) <= 2R, R = 1/√(N(1 − 2η)), with high probability.",
        "false as printed",
        "not used; see 004-projection",
        "With high probability over D only, and the neighbour is arbitrary: x = (0, h), y = (1, −1)/√2, N = 200 has "
        "|c|/R of about .8, 7, 71, 711 for h = 1, .1, .01, .001 (in one draw .84, 6.9, 67, 739), and y = 0 beside it "
        "has c = 0.",
        "claims_shown/test_random_feature_claims.py::test_lemma_9_is_no_sensitivity",
    ),
    Claim(
        "004-projection",
        "ours",
        "c projected to the ball of radius R has Δ₂ = 2R for all points and labels.",
        "holds",
        "Δ₂ = 2R, ρ = 2R²/σ²",
        "The diameter of the ball, unconditionally; opposite labels attain it.",
        "claims_shown/test_random_feature_claims.py::"
        "test_projection_to_the_ball_has_diameter_two_r_whatever_the_labels",
    ),
    Claim(
        "004-Alg1",
        "004, Algorithm 1",
        "c + z with real Gaussian z is (ε, δ)-DP.",
        "false as printed",
        "cosines and sines, or noise on both parts",
        "c is complex, its imaginary part is released exactly: m = 1 has Im c_k = −y sin(ω_k x)/N, so δ = 1 at every "
        "ε.",
        "claims_shown/test_random_feature_claims.py::test_the_imaginary_part_is_released_exactly",
    ),
    Claim(
        "004-label-norm",
        "004, Section 4.2",
        "Labels divided by their own ℓ2 norm are within the lemma.",
        "narrowed",
        "the norm is never published",
        "Both c stay in the ball, whose diameter is charged; but the norm itself is a function of all labels, and "
        "undoing the scaling releases it.",
        "claims_shown/test_random_feature_claims.py::"
        "test_normalising_labels_is_harmless_and_publishing_the_norm_is_not",
    ),
    Claim(
        "004-Thm7",
        "004, Theorem 7 as the experiments use it",
        "σ = √(2 ln(1.25/δ))Δ/ε is (ε, δ)-DP at ε >= 1.",
        "narrowed",
        "the exact profile, GDP",
        "Proved for ε < 1. Harmless at ε = 1 (δ = 1e-5: 4.1e-8), false at ε = 8 (1e-3: 1.31e-3) and 10 (1e-5: "
        "2.27e-5).",
        "claims_shown/test_random_feature_claims.py::test_the_classical_formula_is_harmless_at_1_and_fails_later",
    ),
    Claim(
        "004-Lem13",
        "004, Lemma 13",
        "|z|² <= 2A + …, A = ln(1.25/δ_p)/((1 − 2η)ε²).",
        "false as printed",
        "8A(1 + 2√(l/N) + 2l/N), l = ln(1/δ)",
        "E|z|² = Nσ² = 8A. N = 1000, ε = 1, δ_p = 1e-5, η = 3/8, δ = .05: printed 96.4, mean 375.6. The corrected "
        "bound is 418.9, exceeded with probability .62 %.",
        "claims_shown/test_random_feature_claims.py::test_lemma_13_is_false_by_four",
    ),
    Claim(
        "004-gamma-bound",
        "004, after Lemma 13",
        "Gamma noise has |z| <= √(2/((1 − 2η)ε²))(√N + √(2/δ)).",
        "false as printed",
        "2 for √2",
        "The mean is 2√N/(ε√(1 − 2η)): 126.5 > 107.3 at N = 1000, δ = .05, η = 3/8.",
        "claims_shown/test_random_feature_claims.py::test_the_bound_on_gamma_noise_prints_sqrt_2_for_2",
    ),
    Claim(
        "004-Thm12",
        "004, Theorem 12",
        "|f# − f̂|² in L²(μ) is at most N(…)²(2A + …).",
        "tightened",
        "E|f# − f̂|² = 8A, for every μ, N and m",
        "Its proof uses Lemma 13; the statement survives because it is loose, where (N/m)√(2ml) >= 4(1 + 2√l + 2l). "
        "Unit modulus makes the mean exactly Nσ², so more features never help, and predicting 0 has error 1/m.",
        "claims_shown/test_random_feature_claims.py::test_the_noise_adds_exactly_eight_a_for_every_law_of_points",
    ),
    Claim(
        "004-Thm10",
        "004, Theorem 10",
        "The sum of Theorems 11 and 12, with 1 − η for 1 − 2η.",
        "false as printed",
        "not used",
        "Smaller than what it is said to follow from: by (1 − 2η)/(1 − η) in the square, 0.4 at η = 3/8.",
        "claims_shown/test_random_feature_claims.py::test_theorem_10_is_not_what_theorems_11_and_12_give",
    ),
    Claim(
        "004-Lem14",
        "004, Lemma 14 (Lemmas 15 and 16 choose the same T)",
        "T = √N‖f‖² gives |f − E f*|² <= ‖f‖²/N.",
        "false as printed",
        "T = √N‖f‖",
        "The inequality before it gives ‖f‖⁴/T² = 1/N. α = 1 with chance .04, else 0, N = 100: .0016 > .0004.",
        "claims_shown/test_random_feature_claims.py::test_lemma_14_needs_another_t",
    ),
    Claim(
        "004-fairness",
        "004, Section 3.4",
        "The excess risk gap ξ_a is 0.",
        "narrowed",
        "for unit-modulus features and squared loss",
        "Excess risk is then σ²N in every group, exactly; with random cosines it depends on the points. It spreads "
        "the harm evenly, it does not reduce it.",
        "claims_shown/test_random_feature_claims.py::"
        "test_the_excess_risk_gap_is_zero_for_unit_modulus_and_not_for_cosines",
    ),
    Claim(
        "004-experiments",
        "004, Table 1",
        "Algorithm 1 has error .11 at ε = 1, falling with N.",
        "false as printed",
        "Δ scales against the features",
        "The noise alone adds 8A = 375.6, 93.9 even at η = 0. With features scaled by √(2/N), as the public notebooks "
        "have it, c and R are times √(N/2), and Δ = 4/√N is short by at least √N.",
        "claims_shown/test_random_feature_claims.py::test_table_1_cannot_come_from_algorithm_1",
    ),
)
