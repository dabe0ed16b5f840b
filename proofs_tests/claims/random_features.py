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
        "mean Nσ² = 8A; at most Nσ²·max χ²_r/r, for every μ, N and m",
        "Its proof uses Lemma 13; the statement survives because it is loose, where (N/m)√(2ml) >= 4(1 + 2√l + 2l). "
        "Unit modulus makes the mean exactly Nσ², so more features never help, and predicting 0 has error 1/m.",
        "claims_shown/test_random_feature_claims.py::test_the_noise_adds_exactly_eight_a_for_every_law_of_points",
    ),
    Claim(
        "004-Thm10",
        "004, Theorem 10",
        "The sum of Theorems 11 and 12, with 1 − η for 1 − 2η.",
        "false as printed",
        "the sum of both, corrected",
        "Smaller than what it is said to follow from, by (1 − 2η)/(1 − η) in the square of the noise. At the paper's "
        "η = 3/8 it is so loose that it holds nevertheless; near 1/2 it is false: m = 1000, η = .49999 and Theorem 8's "
        "N have noise of 2167, as a root mean square, where 645 is printed for f = 0.",
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
        "004-Thm8",
        "004, Theorem 8",
        "|AA*/N − I| <= 2η but for 3δ, if d >= C1 ln(m/δ), γ²σ² >= 4 ln(2m/η), N >= C2 m ln(2m/δ)/η².",
        "narrowed",
        "C1 = 21, C2 = 2 and 2δ for Gaussian points",
        "Neither constant is named. If C1 depends on the tail of a component x it is false: ±1 with chance γ²/2d each, "
        "else 0, has one tail for all d, and at γ² = .1 two points coincide with chance .82. For √d·x/γ see the proof. "
        "Min-max scaled medical costs are far outside: λ_max(K) = 158 at σ² = 2, 17 at 40, and λ_min = 0.",
        "learners/random_features/test_random_feature_gram.py::test_the_constants_of_theorem_8_for_gaussian_points",
    ),
    Claim(
        "004-gram-explicit",
        "ours",
        "AA*/N has its eigenvalues in [m·p, m·q] but for δ, for all points and i.i.d. frequencies of any distribution.",
        "holds",
        "N·D(p‖λ_min(K)/m) = ln(2m/δ), N·D(q‖λ_max(K)/m) = ln(2m/(λ_max(K)δ))",
        "Lieb, as in Tropp 2012, for rank-one projections; |K − I| <= (m − 1)·exp(−σ²r²/2) for a Gaussian kernel and "
        "distance r. Waves on m places make both tails binomial: 10 % more in the exponent is false there.",
        "learners/random_features/test_random_feature_gram.py::test_the_explicit_bound_is_the_binomial_one_but_for_a_polynomial",
    ),
    Claim(
        "004-Thm11",
        "004, Theorem 11",
        "|f − f#| <= (14L/√N + 28(2ml)^¼L/√(N(1 − 2η)) + (32l/m)^¼√L)|f| but for 8δ.",
        "tightened",
        "(b/√N + √min(sw, b²/N + ew))|f|, b = 3.23√ln(8/δ), w = a + b²m/(Nλ_min)",
        "L = ln(2/δ), l = ln(1/δ). Given λ_min >= 1 − 2η but for 3δ, ours is at most .64 of it wherever computed. Its "
        "own proof fails: (14), for each x, is integrated as if for all; (17) ends on 2(2l/m)^¼√L for at least 4; the "
        "events add up to 10δ; and Lemma 14. Ours is Pinelis's inequality in L²(μ), and Av = Ac* − y at the training "
        "points themselves.",
        "claims_shown/test_random_feature_claims.py::test_theorem_11_follows_from_ours",
    ),
    Claim(
        "004-zero",
        "ours",
        "Predicting 0 has error at most √τ|f|, τ = λ_max of the kernel in L²(μ): less than Theorem 11 in its regime.",
        "holds",
        "τ = (2/(1 + √(1 + 4σ²γ²/d)))^d for Gaussian points",
        "Attained by the first eigenfunction. On the least d and γ²σ² that Theorem 8 allows τ < 1/m, and √τ is below "
        "Theorem 11 at N = ∞, and below our bound too: there neither says that anything was learnt.",
        "claims_shown/test_random_feature_claims.py::test_predicting_0_is_below_theorem_11_in_its_own_regime",
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
