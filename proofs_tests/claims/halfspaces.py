"""Claims about learning halfspaces and regret. Paper: 003 Bun, Carmosino & Sorrell 2020."""

from proofs_tests.claims.claim import Claim

HALFSPACES: tuple[Claim, ...] = (
    Claim(
        "003-Def20",
        "003, Definitions 20 and 21",
        "A weak learner that is private for distributions at distance < s suits s-slick measures.",
        "narrowed",
        "<= ζ, over labelled points: Slickness.zeta",
        "Slickness promises <= ζ. A record that is capped before and after it is replaced has joint distance exactly "
        "1/(κn); its index distance is 0.",
        "claims_shown/test_halfspace_claims.py::test_definition_20_must_say_at_most",
    ),
    Claim(
        "003-Lem25",
        "003, Lemma 25",
        "LB-NxM is 1/(κn)-slick.",
        "holds",
        "ζ = 1/(κn), by L0",
        "The printed proof goes through the measure without the record, which gives 2/(κn), and reaches that. The "
        "direct way of L0 gives 1/(κn), attained.",
        "claims_shown/test_halfspace_claims.py::test_lemma_25_holds_and_its_proof_gives_twice_as_much",
    ),
    Claim(
        "003-Sec3-2",
        "003, Section 3.2",
        "Boost with a ζ-slick measure and a (ρ, ζ)-zCDP weak learner is Tρ-zCDP.",
        "holds",
        "one charge a round, on one ledger",
        "Adaptive composition: the list of hypotheses is the whole state, and public. Two rounds on all samples of "
        "three records stay within Σρ_t and reach half of it.",
        "claims_shown/test_halfspace_claims.py::test_boost_costs_t_times_its_weak_learner",
    ),
    Claim(
        "003-Thm27-1",
        "003, Theorem 27.1, for arbitrary κ-smooth pairs",
        "At index distance s, |z − z′| <= 2(1/(κn) + s).",
        "holds",
        "not used: LazyBregman certifies a joint distance, see 003-Thm27",
        "Joint distance <= s + min(μ̂ᵢ, μ̂′ᵢ) <= s + 1/(κn). Attained by a record at its cap in both and mass that "
        "moves between the others.",
        "claims_shown/test_halfspace_claims.py::test_index_and_joint_distance_of_arbitrary_smooth_pairs",
    ),
    Claim(
        "003-Thm27-gdp",
        "003, Theorem 27.1 as Theorem 30 and Claim 1 use it, 8/(κnσ)² a round",
        "T rounds of noisy centring on LB-NxM cost Tρ.",
        "tightened",
        "μ = √Σ(2ζ_t/σ)², exactly Gaussian; ρ a quarter of the printed one",
        "Δ₂ = 2/(κn), reached. At μ = .5, δ = 1e-6 ε is 2.254; 2.419 by ρ and the tight conversion, 2.753 by Lemma "
        "15, 5.757 by the printed ρ.",
        "claims_shown/test_halfspace_claims.py::test_rounds_of_noisy_centring_are_gaussian_exactly",
    ),
    Claim(
        "003-Thm27-2",
        "003, Theorem 27.2 (and 26)",
        "h(x) = ẑ·x maps to [−1, 1] and has advantage τ/4 − cσ√ln(1/ξ).",
        "false as printed",
        "z normalised: τ/4 without noise, z·ẑ/(2|ẑ|) with it, which depends on d",
        "The advantage is z·ẑ/2, not u·ẑ/2: x = τe₁ ± √(1 − τ²)e₂ at τ = .1 has .005 < .025. |ẑ| is about √(1 + σ²d). "
        "Right are τ²/8 for z and τ/4 for z/|z|, both attained at τ = 1.",
        "claims_shown/test_halfspace_claims.py::test_two_points_have_advantage_a_fifth_of_what_is_printed",
    ),
    Claim(
        "003-Alg5",
        "003, Algorithm 5",
        "T = 1024L/τ² rounds at λ = τ/8 reach margin τ/8.",
        "narrowed",
        "regret λ/8: margin 13γ/8 for advantage γ = τ/8",
        "Theorem 24 asks for λ = γ/4, here λ = γ: the printed regret gives θ >= −γ/8 only, λ/8 gives 13γ/8. The "
        "advantage itself is 003-Thm27-2.",
        "claims_shown/test_halfspace_claims.py::test_algorithm_5_has_a_margin_only_by_the_corrected_regret",
    ),
    Claim(
        "003-Lem29",
        "003, Lemma 29",
        "With probability 1 − β/3 every |ν_t| <= τ/8, so |z| <= 2 and fat(γ) <= 4/γ².",
        "false as printed",
        "(1 + σ(√d + √(2 ln(3/β)))/√T)²/γ², or ẑ projected to norm 2",
        "Only ν·u was bounded. |ν|²/σ² is χ²_d, so it fails for d > c² ln(3T/β), and |z| > 2 for certain once d > "
        "9T/σ². The mean of T fresh ν_t is N(0, σ²/T).",
        "claims_shown/test_halfspace_claims.py::test_lemma_29_is_false_beyond_a_dimension_of_two_log_3t_over_beta",
    ),
    Claim(
        "003-Claim1",
        "003, Claim 1 (and Theorem 30)",
        "If ε < 3√(ρ ln(1/δ)) then HS-StL is (ε, δ)-DP.",
        "false as printed",
        "not used; the exact Gaussian curve",
        "The inequality is reversed: ρ = 100, δ = 1e-6, ε = 1 has a true δ of 1. Theorem 30's direction needs ρ <= "
        "ln(1/δ), too: at δ = .1, ρ = 50, ε = 32.2 the true δ is above .9.",
        "claims_shown/test_halfspace_claims.py::test_claim_1_prints_its_inequality_reversed",
    ),
    Claim(
        "003-Thm1",
        "003, Theorem 1 (informal)",
        "n = Õ(1/(εατ²)) samples suffice.",
        "narrowed",
        "not used",
        "Theorem 30, which it announces, has another 1/(α²τ²): larger by ε/α, which has no bound. True only for α at "
        "least of the order of ε.",
        "claims_shown/test_halfspace_claims.py::test_the_informal_theorem_1_drops_a_term",
    ),
    Claim(
        "003-Thm33",
        "003, Theorem 33",
        "δ_T < φβ/4 makes the three failures at most β.",
        "narrowed",
        "δ_T <= ε_T·β/4",
        "The transfer fails with δ_T/ε_T. ε_T = φ/2 is allowed and makes the sum 5β/4.",
        "claims_shown/test_halfspace_claims.py::test_theorem_33_needs_delta_in_terms_of_epsilon_t",
    ),
    Claim(
        "003-Claim2",
        "003, Claim 2",
        "n > 96 ln(4/β)/(ατ) keeps too much label noise below β/4.",
        "holds",
        "as printed",
        "Chernoff for ατn/16, which is below the κn of the text. Exact binomial tails agree; with a tenth of n they "
        "do not.",
        "claims_shown/test_halfspace_claims.py::test_claim_2_holds_by_the_exact_binomial",
    ),
    Claim(
        "003-Claim3",
        "003, Claim 3",
        "No round's Gaussian spoils the advantage, but for β/2.",
        "holds",
        "not used",
        "Given 27.2. Tξ is β/2 with the claim's constants (512, 1024), β/3 with Algorithm 5's (1024, 3072).",
        "claims_shown/test_halfspace_claims.py::test_claim_3_holds_for_both_settings",
    ),
    Claim(
        "003-Claim5",
        "003, Claim 5",
        "err_H(S) <= α/2 when the sample and all rounds are good.",
        "narrowed",
        "as a fraction",
        "α/4 + ατ/16 <= α/2; the printed Σ err has no 1/n and exceeds α/2 at one mistake.",
        "claims_shown/test_halfspace_claims.py::test_claim_5_holds_as_a_fraction_and_not_as_the_printed_sum",
    ),
    Claim(
        "003-Alg4",
        "003, Algorithm 4 and 001, Algorithm 1",
        "Both re-weight in the same way.",
        "narrowed",
        "LazyBregman(κ, λ) is LB-NxM(κ, 2λ)",
        "exp(−2λ(1 + yh)/2) = e^{−λ}·exp(−λyh) for ±1 hypotheses, and the scale drops out.",
        "claims_shown/test_regret_claims.py::test_003s_measure_is_001s_at_half_the_rate",
    ),
    Claim(
        "003-Alg8",
        "003, Algorithm 8 and Lemma 38",
        "Pythia's bad set has κn records, so KL(U(B) ‖ μ₁) = κn ln(1/κ).",
        "narrowed",
        "the last record of B in part",
        "Whole records overshoot: n = 10, κ = 1/4 gives 3.659 > 3.466; and more mistakes than κn all enter B.",
        "claims_shown/test_regret_claims.py::test_pythia_overshoots",
    ),
    Claim(
        "003-Lem34",
        "003, Lemmas 34 and 44",
        "Average loss <= comparator's + λ + KL/(λκnT).",
        "tightened",
        "λ/8",
        "KL is 1-strongly convex in ℓ1 on density exactly κ, losses centred at 1/2. Attained by one round with half "
        "the records right and λ → 0. Denser comparators only have more KL.",
        "claims_shown/test_regret_claims.py::test_the_regret_term_is_lambda_over_eight",
    ),
    Claim(
        "003-Alg7",
        "003, Algorithms 7 and 9",
        "Playing the projection of μ̃_T in round T + 1 has the regret of Lemma 34.",
        "false as printed",
        "the projection of μ̃_{T+1}",
        "What is printed counts each loss a round late, which by 003-Lem43 costs λ/4 more; two records and losses that "
        "take turns reach 97 % of 3λ/8.",
        "boosting/theory/test_games.py::test_projecting_the_measure_before_as_printed_breaks_the_bound",
    ),
    Claim(
        "003-Lem35",
        "003, Lemmas 35, 37 and 38",
        "Any booster loses T/2 + Tγ at least, Pythia T/2 + Tθ/2 at most.",
        "narrowed",
        "h_t learnt for μ̂_t; no κ <= 1/2",
        "Lemma 38 prints h_t = WkL(S, μ̂_{t−1}); so played, three hypotheses of advantage 1/6 under any weighting cost "
        "0.67 in two rounds, not 1.33. Lemma 37 never uses κ <= 1/2.",
        "boosting/theory/test_games.py::test_a_hypothesis_for_the_round_before_has_no_such_advantage",
    ),
    Claim(
        "003-Lem41",
        "003, Lemmas 40 and 41",
        "Playing the next iterate loses at most the comparator's loss + KL/(λκn).",
        "holds",
        "as printed",
        "Induction over the minimisers. For losses in [0, 1] all iterates have density exactly κ, so |μ| is a "
        "constant.",
        "claims_shown/test_regret_claims.py::test_be_the_leader_holds_and_is_attained",
    ),
    Claim(
        "003-Lem42",
        "003, Lemma 42",
        "KL(μ ‖ μ₁) is 1/(κn)-strongly convex.",
        "narrowed",
        "for density at most κ",
        "The modulus is 1/|μ|, attained at y = μ; above density κ, where Γ also reaches, it is smaller.",
        "claims_shown/test_regret_claims.py::test_strong_convexity_stops_at_density_kappa",
    ),
    Claim(
        "003-Lem43",
        "003, Lemma 43",
        "One more round gains at most λ.",
        "tightened",
        "λ/4",
        "Centred losses halve both factors of the printed proof; the derivative at half the records right is their "
        "variance, 1/4.",
        "claims_shown/test_regret_claims.py::test_one_round_gains_at_most_a_quarter_lambda",
    ),
    Claim(
        "exact-points",
        "ours",
        "Points in 24 binary places, directions in 28, weights in limbs of 24 bits: products and sums are exact, in "
        "any order and any blocks.",
        "holds",
        "groups of 32 products in doubles, then integers; nothing is charged for order",
        "Products with a direction are multiples of 2^-52 and no sum of some exceeds 1 + 2^-18, by Cauchy & Schwarz. "
        "32 products of a limb and a coordinate stay within 2^53 units; high and low parts of 2^32 fit 64 bits.",
        "learners/halfspaces/test_halfspace_rows.py::test_blocks_do_not_show",
    ),
    Claim(
        "level-weights",
        "ours",
        "Weights min(1, c·e^log) of few levels, scaled to κn in doubles, are off by Σ|μ − μ*| <= 2^-45·κn.",
        "holds",
        "2^-45 of the mass, inside what a round of halfspaces charges for rounding",
        "All of min(1, c·w) rise with c, so rounding of weights and of their sum bound it. A weight at x below the "
        "first uncapped one is off by x + 9 units of 2^-53, and x averages ln n at most: the entropy of n shares.",
        "learners/halfspaces/test_halfspace_rows.py::test_weights_are_as_exact_as_they_are_said_to_be",
    ),
    Claim(
        "halfspace-grid",
        "ours, beside 003, Theorem 30",
        "Margins that are off by a move κ-smooth weights by at most λa in ℓ1; what is promised for a margin of "
        "τ(1 − 2^-7) has room for that, for points in 24 places and for rounded means.",
        "holds",
        "margins in steps of 1/64; free, as the certificate holds for any function of a record's own margin",
        "The projection minimises λ⟨margins, P⟩ + KL(P ‖ uniform), and KL is 1-strongly convex in ℓ1. Rounding keeps "
        "margins within the number of rounds, which is all that the certificate asks.",
        "learners/halfspaces/test_halfspace_rows.py::test_weights_move_by_the_rate_times_what_margins_do",
    ),
)
