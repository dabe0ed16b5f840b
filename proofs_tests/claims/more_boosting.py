"""More claims about boosting and rados. Papers: 001 Asadi et al.; 000 Nock, Patrini & Friedman 2015."""

from proofs_tests.claims.claim import Claim

MORE_BOOSTING: tuple[Claim, ...] = (
    Claim(
        "error-improvement",
        "ours",
        "The range of the change of ½(|gap of child| + |gap of other child| − |gap of leaf|), over all leaves and "
        "splits, is exactly 2·min(ζ, ½).",
        "tightened",
        "2·min(ζ, ½), a quarter of Gini's 8ζ(1 − ζ) for small ζ",
        "The score is g(leaf) − g(child) − g(other), g = min(m, p), which never falls and rises by at most what a node "
        "gets. In one leaf the parents cancel, in two leaves improvements move by at most what each gets; both "
        "weightings are a common part of 1 − ζ plus ζ. n − 1 negatives and one positive that moves attain it. It is "
        "also 001-criterion-range for G = 2·min(q, 1 − q), halved.",
        "mechanisms/queries/test_queries.py::test_errors_attain_their_range_on_tiny_samples_and_never_exceed_it",
    ),
    Claim(
        "score-histogram",
        "folklore",
        "Counts of records by label and bin of a score, the score being a function of the record and of releases, move "
        "by ℓ1 2 and ℓ2 √2 where a record is replaced, by 1 where one comes or goes.",
        "holds",
        "2 and √2, or 1 and 1",
        "A record is in one cell: one count falls by 1 and another rises by 1, or one count changes. Curve and "
        "threshold are functions of the noisy counts.",
        "learners/base/test_calibration.py::test_counts_move_by_just_what_they_say",
    ),
    Claim(
        "001-footnote1",
        "001, footnote 1",
        "A measure has density >= κ iff its distribution is κ-smooth.",
        "narrowed",
        "only =>",
        "The constant measure .1 is 1-smooth and has density .1.",
        "claims_shown/test_boosting_claims.py::test_a_smooth_distribution_may_come_from_a_light_measure",
    ),
    Claim(
        "001-Def-learner",
        "001, definition of a DP weak learner",
        "Privacy for distributions at index distance < ζ.",
        "false as printed",
        "joint distance <= ζ",
        "At index distance 0 it would have to be blind to the records (001-Obs8): DP-1R loses η − ln 2 at n = 2. And "
        "the joint distance 1/(κn) is reached, which < excludes.",
        "claims_shown/test_boosting_claims.py::test_at_index_distance_zero_a_learner_would_have_to_be_blind",
    ),
    Claim(
        "001-real-projection",
        "001, Algorithm 1; the bound is ours",
        "min(1, max(1, c)·μ̃), the projection to density >= κ, moves by at most 1/(κn).",
        "holds",
        "not used; LazyBregman scales to density exactly κ",
        "As L0, by the same monotonicity. Skipping it where the measure is dense leaves weights up to κe^{λt}/(κn): "
        "27 at κ = λ = 1/2, t = 8.",
        "claims_shown/test_boosting_claims.py::test_the_real_projection_keeps_the_same_bound",
    ),
    Claim(
        "001-public-votes",
        "ours",
        "In 001-per-round-zeta r may be exp(2λV), V = sup over the domain of |Σ h_j(x)|.",
        "holds",
        "not used: the cost would depend on outputs",
        "Margins lie in [−V, V]. For 1-rules V = Σ over features of |net votes| + |net constant|. It needs a privacy "
        "filter.",
        "claims_shown/test_boosting_claims.py::test_public_votes_sharpen_the_certificate",
    ),
    Claim(
        "001-Thm11",
        "001, Theorem 11 and Algorithm 3",
        "DP-1R is 4ηζ-DP.",
        "tightened",
        "2ηζ",
        "As 001-Thm6. Tiny samples reach 2ηζ to 1e-3.",
        "claims_shown/test_boosting_claims.py::test_private_1_rules_reach_two_eta_zeta_and_not_more",
    ),
    Claim(
        "001-Thm10",
        "001, Theorems 9 and 10",
        "A tree of t splits costs 16tηζ; LazyBB with η = εκn/(16τt) is ε-DP.",
        "holds",
        "8tηζ for the splits, 2η′ζ for all labels, priced apart",
        "The labels' η′ is 4tη. One pair reaches .9995 of the sum. Under zCDP that division is bad: labels cost t "
        "times all splits.",
        "claims_shown/test_boosting_claims.py::test_a_tree_costs_sixteen_t_eta_zeta",
    ),
    Claim(
        "001-experiments",
        "001, Section 5",
        "The reported models are ε-DP.",
        "narrowed",
        "settings fixed in advance, or random-stopping",
        "Settings were chosen on the private data for each ε, uncharged: choosing between two constants already tells "
        "a record apart.",
        "claims_shown/test_boosting_claims.py::test_settings_chosen_on_private_data_are_a_release",
    ),
    Claim(
        "000-eq21",
        "000, eq. 20 and 21",
        "Π = E·G_m·U, and with all rados the penalty is 0.",
        "holds",
        "not used",
        "Each column of G_m is one support.",
        "claims_shown/test_rado_claims.py::test_all_rados_are_the_index_matrix_times_the_edges",
    ),
    Claim(
        "000-Lem5",
        "000, Lemma 5 and eq. 14",
        "Weak learning on rados and on examples are equivalent.",
        "narrowed",
        "r_t = (M·x*/π*)·r_ex(w̃)",
        "Vacuous as printed, w̃ and γ_ex being chosen afterwards. w̃ᵢ ∝ Σⱼ wⱼ1[σⱼᵢ = yᵢ], M their sum, is an "
        "identity, with yᵢxᵢ in (14).",
        "claims_shown/test_rado_claims.py::test_edges_of_rados_and_examples_are_one_identity",
    ),
    Claim(
        "000-Thm8",
        "000, Theorem 8",
        "Some λ_p makes a prudential learner keep F_log <= log 2 − Σr²/(4κm).",
        "false as printed",
        "α with 1/(2κπ*), the factor that 000-eq17 lacks",
        "At κ = 1 and ±1-valued rados F_exp = 1 whatever r > 0 is, so no λ_p helps; small r fail for all κ < 8/7. "
        "With the factor it held in 60 of 60 simulations. Prudence is not what it takes: at σ = 10 and m* = 4,500 the "
        "strong oracle meets (19) in ten runs of ten, λ_p = 0.2 in seven at most.",
        "claims_shown/test_rado_claims.py::test_theorem_8_is_false_for_kappa_below_eight_sevenths",
    ),
)
