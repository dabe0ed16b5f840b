"""Claims about what one release costs. Papers: 001 Asadi et al. (LazyBB)."""

from proofs_tests.claims.claim import Claim

MECHANISMS: tuple[Claim, ...] = (
    Claim(
        "exact-choice",
        "ours, after Karney 2016 and Ilvento 2020",
        "The secure exponential mechanism draws index i with probability e^{ηs_i}/Σ e^{ηs_j} of the real numbers s, η.",
        "holds",
        "running sums in doubles, each off by at most 2^-49·Σw(1 + z) + 2^-51·kΣw + 2^-1000·k",
        "U in [0, 1) means the first i with (1 − U)·Σ_{j<=i} w_j > U·Σ_{j>i} w_j, which rises with the first sum and "
        "falls with the second and with U. Where U is further from every boundary than doubles can be wrong, they say "
        "which i; else bounds on the weights with 40, 80, … correct digits (`decimal` rounds exp correctly) and more "
        "bits of U do, once the least and the largest i that they leave agree.",
        "mechanisms/randomness/test_exact_choice.py::test_numbers_at_a_boundary_are_told_apart_by_more_digits",
    ),
    Claim(
        "whole-weights",
        "ours, after Casacuberta, Shoemate, Vadhan & Wagaman 2022",
        "Weights rounded to multiples of mass/(n·2^36) have sums that are exact in any order and any blocks.",
        "holds",
        "sums of weights are off by at most 2^-37 of the mass for it, inside SCORE_ROUNDING and WEIGHT_ROUNDING",
        "A block holds less than 2^53 units, which doubles add exactly; blocks are added as integers. Each of n weights"
        " moves by half a unit at most: n/2·mass/(n·2^36).",
        "learners/encoding/test_weighted_sums.py::test_blocks_and_limbs_do_not_show",
    ),
    Claim(
        "exact-rows",
        "ours, after Casacuberta, Shoemate, Vadhan & Wagaman 2022",
        "The same records and noise give the same releases, bit by bit, however records are stored, cut and visited.",
        "holds",
        "nothing is added to a sensitivity for the order in which blocks are summed",
        "What a release asks of records are sums of what each record gives on its own, in whole numbers or in "
        "multiples of one power of two of which no partial sum is rounded [whole-weights] [exact-sums]; all else "
        "follows from such sums and from what is public. So an order, a cut, or a second visit changes nothing.",
        "learners/blocks/test_on_clusters.py::test_a_cluster_gives_the_same_with_two_workers_and_with_rows_partitioned_anew",
    ),
    Claim(
        "L2",
        "001, Theorem 3; Dong, Durfee & Rogers 2020",
        "The exponential mechanism with inverse scale η has bounded range η·Δ_range, hence is that pure DP.",
        "tightened",
        "BoundedRange(η·Δ_range)",
        "P′(h)/P(h) = e^{ηD(h)}/E_P e^{ηD}: over h, its logarithm spans η(max D − min D), and contains 0.",
        "mechanisms/selection/test_selection.py::test_the_declared_range_is_attained",
    ),
    Claim(
        "001-Thm3",
        "001, Theorem 3 and the note that closes its proof",
        'WEM is 2ηΔ_linf-DP; "η = 2ε/(2Δ) yields ε".',
        "false as printed",
        "η = ε/Δ_range",
        "The theorem holds; the note is off by two: one candidate gains Δ, a thousand lose it, the ratio is 7.34 > e.",
        "mechanisms/selection/test_selection.py::test_the_papers_closing_note_is_false_by_two",
    ),
    Claim(
        "noisy-max",
        "001, Theorem 4",
        "Laplace noisy max with inverse scale η is 2ηΔ_linf-DP.",
        "tightened",
        "LaplaceDP(η·Δ_range) [laplace-dp]; BoundedRange(η·Δ_range) with two candidates, not with three",
        "With the others' noise fixed, a candidate's threshold moves by at most max_j (D_j − D_i) <= the range, and "
        "the survival function of Laplace noise is η-log-Lipschitz. With two, P(the worse wins) = (1/2 + d/4)e^{−d}, "
        "whose logit has a slope of at most 1; on a grid of step g by less than g² more, far inside 2^-40.",
        "mechanisms/selection/test_selection_rules.py::test_the_declared_cost_is_attained_so_a_tenth_less_would_be_caught",
    ),
    Claim(
        "permute-flip",
        "McKenna & Sheldon 2020; Ding et al. 2021",
        "Permute-and-flip is ηΔ_range-DP, distributed as noisy max with exponential noise, and not bounded range.",
        "tightened",
        "LaplaceDP(η·Δ_range) [laplace-dp], attained by two candidates; its ρ is not the exponential mechanism's",
        "The same proof as for Laplace noise; two candidates have width 2 ln(2e^{ηΔ/2} − 1) and ρ up to 0.488 (ηΔ)².",
        "mechanisms/selection/test_selection_rules.py::"
        "test_each_rule_has_its_own_rho_and_the_smaller_one_would_be_wrong_for_permute_and_flip",
    ),
    Claim(
        "001-Thm8",
        "001, Theorems 8, 12 and 13",
        "The exponential mechanism's choice is within ln(k/β)/η of the best with probability 1 − β.",
        "holds",
        "mechanisms.selection.utility; [ln((k − 1)/β) + ln(1/β)]/η for Laplace noisy max, below the usual 2 ln(k/β)/η",
        "Sum the probabilities of the bad candidates; for noisy max a one-sided tail for the best, one for the rest.",
        "mechanisms/selection/test_selection_rules.py::test_utility_bounds_hold_exactly",
    ),
    Claim(
        "laplace",
        "Dwork, McSherry, Nissim & Smith 2006",
        "Laplace noise of scale b on a vector of ℓ1 sensitivity Δ is Δ/b-DP.",
        "holds",
        "LaplaceDP(Δ₁/b + 2^-40) [laplace-dp], the second term for rounding to the sampler's grid",
        "Σ(|z + v| − |z|)/b <= ‖v‖₁/b.",
        "mechanisms/core/test_additive.py::test_laplace_loses_exactly_its_declaration_in_the_worst_direction",
    ),
    Claim(
        "laplace-dp",
        "ours; ρ as stated in arXiv 2510.25746, the Rényi curve as in Mironov 2017",
        "Let M(u) have, for any two values v, v′ that are ε apart and any 0 <= t <= ε, a value w such that M(v), "
        "M(w) are t-DP and M(w), M(v′) are (ε − t)-DP. Then M(v), M(v′) are no easier to tell apart than Laplace "
        "noise of scale 1 around 0 from the same around ε, whose profile is δ(x) = 1 − min(1, e^{(x−ε)/2}, e^x), and "
        "whose Rényi divergence is at most α·(ε + e^{−ε} − 1). So it is for Laplace noise on vectors in ℓ1, for "
        "ℓ2-Laplace noise, Laplace noisy max and permute-and-flip; releases of ε₁, ε₂ are together no easier than "
        "one of ε₁ + ε₂.",
        "tightened",
        "LaplaceDP(ε): ρ = ε + e^{−ε} − 1 for ε·tanh(ε/2), .368 for .462 at ε = 1; convolved in plans",
        "A test has power p(v) = E φ(M(v)). If p(v)e^ε <= ½ pure DP is enough: p(v′) <= e^ε p(v). If p(v) >= ½, 1 − "
        "p(v′) >= e^{−ε}(1 − p(v)). Else let t with e^t p(v) = ½: p(w) <= ½, so 1 − p(v′) >= ½e^{−(ε−t)}. In each "
        "case that is the power of the best test between the two Laplace distributions, F(F⁻¹(p(v)) + ε). On a grid w "
        "may be a step away, which adds a step to ε; grids are fine enough for that inside 2^-40. Paths: v + s(v′ − v) "
        "for noise in a norm; scores v + min(v′ − v − min(v′ − v), s) for noisy maxima, as adding a constant changes "
        "nothing. Sums: independent noise on ε₁ and ε₂ is noise on a vector; what is chosen on the way is covered by "
        "dominating pairs [pld]. ρ: with β = 2α − 1, exp((α − 1)D_α) = e^{−ε/2}·C(β²), C(w) = cosh(c√w) + "
        "sinh(c√w)/√w, c = ε/2. C is entire of order ½ in w with zeros w = −z², z·cos(cz) + sin(cz) = 0, the "
        "eigenvalues of u″ = −z²u, u(0) = 0, u(c) + u′(c) = 0, all z² > 0. By Hadamard ln C = ln C(0) + Σ ln(1 + "
        "w/z²), concave, so below its tangent at w = 1, α = 1, where D_α is the Kullback–Leibler divergence: (α − "
        "1)D_α <= (β² − 1)/4·KL = α(α − 1)·KL. ε-randomized response among k >= e^ε + 1 answers is no easier either: "
        "(e^ε − e^x)/(e^ε + k − 1) <= ½(1 − e^{x−ε}) <= 1 − e^{(x−ε)/2}; among two it is, and costs PureDP(ε) in full.",
        "accountant/costs/test_laplace.py::test_rho_is_the_divergence_at_order_one_rounded_up_and_no_order_exceeds_it",
    ),
    Claim(
        "gamma-norm",
        "Chaudhuri, Monteleoni & Sarwate 2011",
        "Noise of density ∝ exp(−‖z‖₂/b) on a vector of ℓ2 sensitivity Δ is Δ/b-DP.",
        "holds",
        "LaplaceDP(Δ₂/b + 2^-40) [laplace-dp]",
        "The triangle inequality; the noise is a Gaussian whose variance is b² times a χ² of d + 1 degrees.",
        "mechanisms/core/test_additive.py::test_gamma_norm_loses_exactly_its_declaration_along_the_shift",
    ),
    Claim(
        "001-Lem14",
        "001, Lemma 14",
        "|w·G(q) − w′·G(q′)| <= (5/4)ζ for G = 4q(1 − q).",
        "false as printed",
        "4ζ, the supremum",
        "Two negatives of n, one of them flipped, move 2ζ. The gradients 4(1 − q)² and 4q² lie in [0, 4].",
        "mechanisms/queries/test_queries.py::test_lemma_14_is_false_two_records_of_one_label_move_two_zeta",
    ),
    Claim(
        "001-Lem15",
        "001, Lemma 15",
        "|change of an improvement| <= 4ζ.",
        "false as printed",
        "not used; 8ζ is the supremum as ζ → 0, exactly 4ζ(2 + ζ − 2√(2ζ)) is what a search reaches",
        "Seven records move it by (30/7)ζ. A parent's gradient minus a child's lies in [−4, 4].",
        "mechanisms/queries/test_queries.py::test_lemma_15_is_false",
    ),
    Claim(
        "001-Thm9",
        "001, Theorem 9 (selections)",
        "Each choice of (leaf, split) is 8ηζ-DP.",
        "tightened",
        "BoundedRange(8ηζ(1 − ζ))",
        "For two candidates of one leaf the parents cancel, in two leaves only one gradient is not zero: the range of "
        "the change is at most 8ζ. The printed proof with the true sensitivity would give 16ηζ.",
        "mechanisms/queries/test_queries.py::test_the_search_comes_close_to_eight_zeta_and_never_above",
    ),
    Claim(
        "001-criterion-range",
        "ours",
        "For concave G, symmetric about ½, G(0) = 0, G(½) = 1, the range of the improvements' change is exactly "
        "2·G(min(ζ, ½)).",
        "tightened",
        "Gini 8ζ(1 − ζ) for the 8ζ above; entropy 2·H₂(ζ) bits, which had no bound",
        "Adding mass d to w changes w·G by at least 0 and at most f(w, d) = (w + d)·G(min(d/(w + d), ½)), f concave "
        "and homogeneous; both weightings are a common part of 1 − ζ plus ζ, so f(1 − ζ, ζ) is used twice. n − 1 "
        "negatives and one positive that moves attain it.",
        "mechanisms/queries/test_queries.py::test_one_replaced_record_attains_the_range_of_entropy",
    ),
    Claim(
        "001-leaf-labels",
        "001, Theorem 9 and Remark 16 (labels, by Theorem 2)",
        "Labelling all leaves costs as much as one leaf, by parallel composition.",
        "narrowed",
        "weights ℓ1 2ζ, ℓ2 √2·ζ; gaps ℓ1 = ℓ2 = 2ζ; labels as one release BoundedRange(2ηζ)",
        "The argument is false (a record touches two leaves and rescales all), the cost holds: what is added and what "
        "is taken away are at most ζ each. Labelled trees ∝ e^{−η·error} have widths that add up to η·Σ|gap change|.",
        "mechanisms/selection/test_leaf_labels.py::test_the_width_is_exactly_eta_times_the_sum_of_the_changes",
    ),
    Claim(
        "003-Thm27",
        "003, Theorem 27.1",
        "Noisy centring has ρ = 2(1/(κn) + s)²/σ².",
        "tightened",
        "Δ₂ = 2Rζ, hence GDP(2Rζ/σ), a quarter of the printed ρ; with what rounding may add",
        "The change is the integral of y·x against a signed measure of mass at most 2ζ; x_j = u, x_i′ = −u attain it. "
        "Sums in double precision add 2^-33·R; halfspaces add 2^-24/κ up to 2^17 records, 2^-48/κ beyond, and 2^-43.",
        "mechanisms/queries/test_queries.py::test_centred_mean_attains_two_radius_zeta",
    ),
    Claim(
        "random-stopping",
        "Liu & Talwar 2019; Papernot & Steinke 2022, Corollary 3",
        "The best of K runs of ε-DP candidates, K truncated negative binomial (η > −1, γ), is (2 + η)ε-DP.",
        "tightened",
        "ε + (1 + η)·ln((e^ε + γ)/(1 + γe^ε)), the exact supremum; Poisson: ε + mean·tanh(ε/2)",
        "Output y has probability q(y)·E f′(x), f the generating function of K, x uniform between the chances of "
        "ranking below y and at most y. f′ ∝ g^{−1−η}, g = γ + (1 − γ)·P(a run ranks higher), which e^ε bounds.",
        "mechanisms/selection/test_tuning.py::test_the_pure_cost_is_attained_and_a_tenth_less_would_be_caught",
    ),
    Claim(
        "random-stopping-renyi",
        "Papernot & Steinke 2022, Theorems 2 and 6; Koskela, Redberg & Wang 2024",
        "The Rényi curve and the (ε, δ) of the best of K runs of zCDP or Gaussian candidates.",
        "tightened",
        "D_λ + ln E[K]/(λ − 1) + (1 + η)·sup over the run's trade-off region, by tangents of its profile; never above "
        "Theorem 2; and δ(ε + tilt) <= E[K]·δ_run(ε)",
        "a^λ b^{1−λ} is jointly convex, so the mean over x moves outside, and what remains is a run's divergence times "
        "sup f′(x)^λ f′(x′)^{1−λ} over the trade-off region, which any tangent of the privacy profile bounds.",
        "mechanisms/selection/test_tuning.py::test_gaussian_candidates_need_nine_tenths_of_what_is_declared",
    ),
    Claim(
        "random-stopping-profile",
        "ours, beside Koskela, Redberg & Wang 2024",
        "δ(ε) of the best of K runs is at most E[K]·δ_run(ε − tilt).",
        "tightened",
        "δ(ε) <= E max over G in [0, 1] of w(G)·(L − e^{ε − r(G)})⁺, L the likelihood ratio of the worst pair of runs, "
        "w(G) = f′(1 − G), r(G) = ln w(G)/w(T(G)), T(G) the most that a neighbour makes of a chance G",
        "A run draws a candidate and then its output, both of which are y here: the mean of (qᵢ − c·qᵢ′)⁺ over "
        "candidates is at most the most of them. To raise is an output as well, which ranks above all. "
        "Rank by key, then by a fair u in [0, 1], which is as good as by the order of runs, as these are alike: G, the "
        "chance under the run's distribution q that a run ranks above (y, u), "
        "and G′ under its neighbour's q′ are those of one test, so G′ <= T(G), and w falls. The output y has density "
        "q(y)·E_u w(G) here and q′(y)·E_u w(G′) there, ties included, so by convexity δ(ε) <= E_u ∫ (q·w(G) − "
        "e^ε·q′·w(T(G)))⁺ <= E_u ∫ q′·h(q/q′), h the maximum over G and 0. h is convex and 0 at L = 0, hence a sum of "
        "s·(L − c)⁺, Σs = E[K], and each "
        "∫ (q − c·q′)⁺ is at most δ_run(ln c), for ln c < 0 by 1 − c + c·δ_run(−ln c), as neighbours are each other's. "
        "In the code G lies in cells: w is taken at the lower end, T below a tangent e^x·G + δ_run(x), along which r "
        "rises or falls all the way. K = 0 gives the same in both distributions, and nothing above e^ε. Another order "
        "of the pair is another pair of neighbours.",
        "mechanisms/selection/test_choice_profile.py::test_gaussian_candidates_need_98_hundredths_of_what_is_declared",
    ),
    Claim(
        "private-quantile",
        "Smith 2011; the range is ours",
        "Replacing one of n records changes −(ranks between q·n and what a public cut point covers) by a range of "
        "at most 2.",
        "tightened",
        "BoundedRange(η·(min(1, t) + min(1, n − t))), t = q·n to the nearest 1/1024; 1 for two candidates",
        "A record that moves down raises the ranks it passes by one: below the target that gains at most min(1, t), "
        "above it that loses at most min(1, n − t).",
        "mechanisms/selection/test_quantiles.py::test_the_declared_range_is_the_exact_one",
    ),
)
