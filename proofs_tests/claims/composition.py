"""Claims about costs, their conversions and how they add up. Papers: 001 Asadi et al. (LazyBB)."""

from proofs_tests.claims.claim import Claim

COMPOSITION: tuple[Claim, ...] = (
    Claim(
        "L3",
        "ours; sections of it in Durfee & Rogers 2019, Dong et al. 2020",
        "ε-bounded range is ρ-zCDP with ρ = u − 1 − ln u, u = ε/(1 − e^{−ε}); ε-DP with ρ = ε·tanh(ε/2); and the "
        "Rényi curve of the bounded-range class in closed form.",
        "tightened",
        "those, in place of ε²/8 and ε²/2",
        "Two-point extremal distributions, maximised over the offset.",
        "accountant/costs/test_costs.py::test_bounded_range_renyi_curve_dominates_the_two_point_law",
    ),
    Claim(
        "L4",
        "ours",
        "The privacy profile of the ε-bounded-range class is δ(x) = (e^{ε/2} − e^{x/2})²/(e^ε − 1).",
        "holds",
        "BoundedRange.to_approx",
        "Maximise the hockey-stick divergence of the two-point distribution over its offset.",
        "accountant/costs/test_costs.py::test_bounded_range_profile_inverts_the_closed_form",
    ),
    Claim(
        "L5",
        "ours; the recursion is that of Dong, Durfee & Rogers 2020 for adaptive composition",
        "The optimal price of adaptively chosen ε-bounded-range releases: δ_r(x) = max_t p_t δ_{r−1}(x − t) + "
        "(1 − p_t) δ_{r−1}(x − t + ε), δ_0(x) = (1 − e^x)⁺.",
        "tightened",
        "accountant.composition.adaptive_range, for equal rounds and δ in [1e-9, 1e-2] within 1 % of the two-candidate "
        "mechanism, where L3 is up to 10 % above; of unequal widths within 0.5 % of adversaries on lattices; L6 where "
        "it is less",
        "δ_{r−1} is convex in e^x, so the worst release puts its loss on the two ends of its interval; nothing smaller "
        "can hold, as those releases exist. On a grid, chords in e^x are above δ: between two values that are at least "
        "δ, so is the chord, at a point off the grid and over any cell. With chords the maximum over a cell of t has a "
        "closed form, so the result is an upper bound for every t. A coarser grid keeps every k-th value of a "
        "finer one, which takes chords; a width is only ever rounded up, and wider ranges contain narrower ones.",
        "accountant/composition/test_adaptive_range.py::test_no_adversary_gets_more_than_the_price",
    ),
    Claim(
        "L6",
        "ours",
        "Adaptively chosen releases of ε_i-bounded range, all ε_i <= 4.8, fixed in advance, are √s-GDP together: "
        "from the last back to the first, s ← max(s, 2a²) and s ← s²/(s − a²), a = ε_i/2, from s = 0. For N equal "
        "ones s <= a²(N + ln N + 3).",
        "holds",
        "accountant.composition.ranges_as_gaussian, for any number of rounds; within 0.5 % of randomized response from "
        "2,000 on",
        "G(x; s) = Φ(√s/2 − x/√s) − e^x Φ(−√s/2 − x/√s) rises with s, G(·; 0) is δ_0 of L5, and ∂G/∂s = ½G″ − ½G′ = "
        "½ e^{x/2 − s/8} φ_s(x), φ_s the density of N(0, s). By L5 it is enough that E G(x − Δ; s) <= G(x; s²/(s − "
        "a²)) for a loss Δ on {t, t − w}, w = 2a, with E e^{−Δ} = 1. Such a Δ is X at the time τ when X_u = W_u + "
        "u/2, W a Brownian motion, leaves (t − w, t), as e^{−X} is a martingale. By Dynkin's formula E G(x − Δ; s) − "
        "G(x; s) = E ∫_0^τ G_s(x − X_u; s) du. Put κ = x/s − ½, q = κ(κ + 1)/2. As G_s(x − z; s) <= e^{κz} G_s(x; "
        "s), and e^{κX} grows at the rate q e^{κX}, this is at most G_s(x; s)·(E e^{κΔ} − 1)/q. The function f(κ) = "
        "ln E e^{κΔ} has f(0) = f(−1) = 0 and f″ <= a², the variance of a distribution on an interval of length 2a; so "
        "f(κ) − a²q is concave with the same zeros, f <= a²q where q >= 0 and f >= a²q where q < 0, and (E e^{κΔ} − "
        "1)/q <= (e^{a²q} − 1)/q = ∫_0^{a²} e^{qζ} dζ, where q = 0 is the limit. On the other side, with 1/u = 1/s − "
        "ζ/s², G(x; s²/(s − a²)) − G(x; s) = ∫ G_s(x; u) du = G_s(x; s)·∫_0^{a²} (1 − ζ/s)^{−3/2} e^{(ζ − (u − s))/8} "
        "e^{qζ} dζ, where u − s = ζ/(1 − ζ/s). With r = ζ/s, 3/2·ln(1/(1 − r)) >= 3r/2 >= (ζ/8)·r/(1 − r) as long as "
        "ζ <= 12(1 − r), which s >= 2a² and a² <= 6 imply; so the weight is at least 1, and the first is at most the "
        "second. Equal widths: s/a² rises by 1 + 1/(s/a² − 1), from 4 after the first, so by at least 1 a round, and "
        "the reciprocals are at most a harmonic sum.",
        "accountant/composition/test_ranges_as_gaussian.py::test_one_release_before_the_others_needs_no_more_than_is_added",
    ),
    Claim(
        "gdp",
        "Balle & Wang 2018, Theorem 8; Dong, Roth & Su 2022",
        "Gaussian noise costs δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), μ = Δ₂/σ; releases add up to √Σμ²; ρ = μ²/2.",
        "holds",
        "GDP(Δ₂/σ); never the classical √(2 ln(1.25/δ))",
        "The pair N(0, 1), N(μ, 1) is what two neighbours become along their difference, and products of such pairs "
        "are again one; dominating pairs compose adaptively. Beyond μ = 10⁴, where digits are lost, the first term "
        "alone stands for δ, as an upper bound.",
        "accountant/costs/test_gaussian.py::test_delta_is_the_closed_form_rounded_up",
    ),
    Claim(
        "classical-gaussian",
        "Dwork & Roth 2014; 004, Theorem 7",
        "σ = √(2 ln(1.25/δ))·Δ₂/ε is (ε, δ)-DP.",
        "narrowed",
        "gaussian.classical_sigma, refused outside 0 < ε < 1; gaussian.mu is what calibrates",
        "Proved for ε < 1 only; at ε = 8, δ = 1e-3 the true δ is 1.31e-3.",
        "accountant/costs/test_gaussian.py::test_the_classical_formula_is_kept_to_the_range_it_was_proved_for",
    ),
    Claim(
        "pld",
        "Zhu, Dong & Wang 2022; Doroshenko et al. 2022",
        "Dominating pairs compose adaptively; their profiles may be joined by chords in e^x on a grid.",
        "holds",
        "accountant.composition.loss_distribution: tilted FFT, what leaves the window and all roundings added to δ",
        "As cited; a chord of a convex profile is above it, and Chernoff bounds what the transform wraps around.",
        "accountant/composition/test_loss_distribution.py::test_gaussians_compose_to_a_gaussian",
    ),
    Claim(
        "subsampled-gaussian",
        "Zhu, Dong & Wang 2022, Theorem 11; Balle, Barthe & Gaboardi 2018 for one release",
        "Where every record is in the sample by itself with chance q, a mechanism that is μ-Gaussian-DP under "
        "add-remove-one is dominated on the sample by M = (1 − q)·N(0, 1) + q·N(μ, 1) against N = N(0, 1) where a "
        "record is removed, and by N against M where one is added. With δ_μ the curve of μ-GDP, their curves are "
        "q·δ_μ(ln(1 + (e^x − 1)/q)) and (1 − e^x(1 − q))·δ_μ(−ln(1 − (1 − e^{−x})/q)). A composition costs the worse "
        "of its two directions; one release costs ln(1 + q(e^{ε(δ/q)} − 1)); no ρ below μ²/2 and no μ below μ holds.",
        "holds",
        "SubsampledGaussian; both directions convolved by accountant.composition.dominating_pairs [pld]",
        "dM/dN = 1 − q + q·e^{μz − μ²/2} rises in z, so the event is z > t with e^{μt − μ²/2} = (e^x − 1 + q)/q = e^y: "
        "M(z > t) − e^x N(z > t) = q·Φ(μ − t) − q·e^y Φ(−t) = q·δ_μ(y). For N against M it is z < t with (e^{−x} − 1 + "
        "q)/q = e^y: Φ(t) − e^x M(z < t) = e^x q·(e^y Φ(t) − Φ(t − μ)) = e^x q·e^y δ_μ(−y), and e^x q·e^y = 1 − "
        "e^x(1 − q). For x >= 0 the first is larger: 1 − e^x(1 − q) <= q, and with b = (1 − e^{−x})/q, 1/(1 − b) >= "
        "1 + b·e^x as b >= 1 − e^{−x}. Two neighbours differ by the same record all along, so a composition is all "
        "M against N, or all N against M. Monotone: leaving a sampled record out with chance 1 − q′/q, and shrinking z "
        "with more noise, turn M, N into the pair of q′ < q or μ′ < μ. D_α(M‖N) <= D_α(N(μ, 1)‖N) = αμ²/2 by "
        "quasi-convexity, and >= αμ²/2 + α/(α − 1)·ln q as M >= q·N(μ, 1), so sup D_α/α = μ²/2.",
        "prices/costs/test_subsampling.py::test_the_profile_is_the_integral_of_the_densities",
    ),
    Claim(
        "own-rule",
        "the package that registers the rule; Rogers, Roth, Ullman & Vadhan 2016 for what a filter is",
        "A rule of composition that another package registers is a privacy filter. That is trusted, not proved here; "
        "checked are the laws that a ledger relies on, and that what it reads out is not below the exact loss of up to "
        "200 rounds of randomized response, Gaussian noise and their like, nor its ceilings above their budget.",
        "narrowed",
        "accountant.OwnRule, by entry point, named with its version in the first entry and replayed by verify",
        "Amounts are exact sums of parts that are at least 0, so no charge takes anything off. The exact losses are "
        "those of binomial sums [kov] and of the Gaussian curve [gdp]; a side of the middle of Laplace noise is "
        "randomized response. No list of cases shows that costs may follow from earlier outputs.",
        "accountant/composition/test_own_rules.py::test_the_kit_refutes_wrong_rules",
    ),
    Claim(
        "declared-elsewhere",
        "other libraries: OpenDP's privacy maps, dp-accounting's events, Opacus' histories, diffprivlib's functions, "
        "SmartNoise's readers, Tumult's budgets",
        "A mechanism of another library costs what that library declares, where neighbours are as far apart as the "
        "adjacency says: one record that comes or goes is 1 in OpenDP's symmetric and insert-delete distances, one "
        "replaced is 2 in these, 1 in the change-one and Hamming distances; under add-remove-one never over data sets "
        "of a fixed size, which have no neighbours one apart, nor over data frames, nor at a loss of 0. What is ε-DP "
        "for a record that comes or goes is 2ε-DP for one that is replaced. That a declaration is true is trusted.",
        "narrowed",
        "mechanisms.foreign: PureDP, ApproxDP, ZCDP, SubsampledGaussian as declared, no number rounded down",
        "The distances are their definitions; a map at the distance of neighbours bounds their loss. A record that is "
        "replaced leaves, and another comes: group privacy of two. Noise multipliers "
        "are in units of what one record that comes or goes can move, so a Gaussian is 1/z-Gaussian-DP, and Laplace "
        "noise of z is LaplaceDP(1/z); all Gaussians of one sample are one of √Σμ² on it. An approximate ρ-zCDP with "
        "its own δ₀ is (ε, δ)-DP with ε at δ − δ₀ [zcdp-tight].",
        "mechanisms/foreign/test_opendp_measurements.py::"
        "test_a_measurement_is_charged_as_its_map_says_and_the_entry_says_whose_word_that_is",
    ),
    Claim(
        "zcdp-tight",
        "Canonne, Kamath & Steinke 2020, Proposition 12; Asoodeh et al. 2020",
        "Rényi divergence D_α gives ε = min_α D_α + ln((α−1)/α) − (ln δ + ln α)/(α−1).",
        "holds",
        "ZCDP.to_approx, Plan.price",
        "As cited. For D_α = ρα the derivative is ρ + (ln δ + ln α)/(α−1)², whose one zero Newton's steps find; "
        "any order is valid, so a poor one is safe.",
        "accountant/costs/test_costs.py::test_zcdp_conversion_is_the_minimum_over_orders",
    ),
    Claim(
        "003-Lem15",
        "003, Lemma 15 (Bun & Steinke 2016)",
        "ρ-zCDP gives ε = ρ + 2√(ρ ln(1/δ)).",
        "tightened",
        "kept by name; zcdp-tight is what is used",
        "As cited.",
        "accountant/composition/test_plans.py::test_the_printed_table",
    ),
    Claim(
        "zcdp-filter",
        "Feldman & Zrnic 2021; Whitehouse, Ramdas, Rogers & Wu 2023",
        "Stopping before Σρ exceeds its budget keeps ρ-zCDP under fully adaptive composition.",
        "holds",
        "ZCDPComposition",
        "As cited.",
        "accountant/composition/test_composition.py::test_zcdp_rule_covers_randomized_response_exactly",
    ),
    Claim(
        "gdp-filter",
        "Smith & Thakurta 2022; Koskela, Tobaben & Honkela 2023; the proof here is ours",
        "Releases that are μᵢ-Gaussian-DP given everything before them, each μᵢ chosen after it and stopping before "
        "Σμᵢ² exceeds μ², are together μ-GDP; so the ε at δ is that of one Gaussian release, and nothing smaller "
        "holds.",
        "holds",
        "GDPComposition, GDP.split; the runs of a private choice among Gaussian fits",
        "Let H(x) be the largest P(S) − e^x Q(S), and D(s, x) that of N(s, 1) against N(0, 1). By induction on the "
        "rounds r: H(x) <= D(√b, x) for all real x where Σμᵢ² <= b. r = 0: H(x) = (1 − e^x)⁺ = D(0, x) <= D(√b, x), "
        "as nothing tells less apart. Else the first release, of distributions p and q and of a fixed μ₁, leaves the "
        "budget b − μ₁² = s², so H(x), the mean over p of what the rest gets at x − ln(p/q), is at most that of D(s, x "
        "− ln(p/q)): the hockey-stick of p × N(s, 1) against q × N(0, 1). By Blackwell's theorem a μ₁-GDP pair is a "
        "randomised function of N(μ₁, 1), N(0, 1), so this is at most the hockey-stick of N(μ₁, 1) × N(s, 1) "
        "against N(0, 1)², which after a rotation is D(√(μ₁² + s²), x) = D(√b, x). Coins that choose are averaged "
        "over. Where there is no last round, an event is approximated by what is known of it after r of them. GDP "
        "means both orders of the neighbours, and profiles at all x give the trade-off curve. Gaussians attain it. "
        "Squares are exact, or rounded to 2^-1074: a budget's down, a cost's up.",
        "accountant/composition/test_gaussian_rule.py::test_no_adversary_who_chooses_as_they_go_gets_more_than_one_gaussian",
    ),
    Claim(
        "advanced-filter",
        "Whitehouse, Ramdas, Rogers & Wu 2023, Theorem 1",
        "Stopping before √(2 ln(1/δ′) v) + v/2 exceeds ε, v = Σεᵢ², keeps (ε, δ′ + Σδᵢ) under full adaptivity.",
        "tightened",
        "AdvancedComposition adds up ρ, ε·tanh(ε/2) for (ε, δ)-DP, and reads it by zcdp-tight at δ′: at ε = 1, δ′ = "
        "1e-6 1.39 times the ρ of the formula, at ε = 0.1, δ′ = 1e-5 twice. TextbookComposition is the formula as it "
        "stands",
        "The cited proof adds up parameters of approximate zCDP and stops before Σρ exceeds a bound: what was "
        "released is then ρ-zCDP but for an event of Σδᵢ, whatever depended on what. (ε, δ)-DP is that with "
        "ε·tanh(ε/2): it is randomized response that tells all with chance δ, post-processed (Kairouz, Oh & "
        "Viswanath 2015), and [L3]. Any valid conversion of ρ at δ′ may follow, the δ's add up, and the tight one is "
        "never above the formula's.",
        "accountant/composition/test_composition.py::test_advanced_filter_covers_k_fold_randomized_response",
    ),
    Claim(
        "basic",
        "Dwork, McSherry, Nissim & Smith 2006; Rogers, Roth, Ullman & Vadhan 2016",
        "Σε and Σδ, also as a filter under full adaptivity.",
        "holds",
        "BasicComposition, exact sums",
        "As cited.",
        "accountant/ledger/test_ledger.py::test_the_ledger_agrees_with_an_exact_model",
    ),
    Claim(
        "001-Thm1",
        "001, Theorem 1 (Dwork, Rothblum & Vadhan 2010)",
        "k releases of ε₀ cost √(2k ln(1/δ′)) ε₀ + k ε₀ (e^{ε₀} − 1).",
        "tightened",
        "kept by name; second term k ε₀ tanh(ε₀/2) in drv_tight",
        "Each release's expected loss is at most ε tanh(ε/2).",
        "accountant/composition/test_composition.py::test_fixed_plan_bounds_stand_in_their_proven_order",
    ),
    Claim(
        "001-Thm2",
        "001, Theorem 2 (McSherry)",
        "Releases on the cells of a partition cost the maximum.",
        "narrowed",
        "the maximum under add-remove-one; twice that under replace-one",
        "A replaced record leaves one cell and enters another: exact cell counts, free in each cell, reveal it.",
        "accountant/composition/test_composition.py::test_parallel_composition_doubles_under_replace_one",
    ),
    Claim(
        "001-Remark16",
        "001, Remark 16",
        "t releases of ε cost tε² + ε√(t ln(1/δ)).",
        "narrowed",
        "not used; bounded-range costs go through L3",
        "True for bounded range. False for pure DP: 24-fold randomized response at ε = 0.02 has 2.118 times the δ.",
        "accountant/composition/test_composition.py::test_remark_16_is_false_for_general_pure_mechanisms",
    ),
    Claim(
        "kov",
        "Kairouz, Oh & Viswanath 2015, Theorems 3.3 and 3.5",
        "The optimal composition of k equal (ε, δ) costs, and closed forms for unequal ones.",
        "holds",
        "fixed plans only, never a stop rule",
        "As cited; solved for a real ε on the binomial distribution of k-fold randomized response.",
        "accountant/composition/test_composition.py::test_kov_is_optimal_for_randomized_response",
    ),
    Claim(
        "give-back",
        "ours; the filters of basic, advanced-filter, zcdp-filter and gdp-filter",
        "Under a rule that is a filter, rounds of a reservation for which nothing was drawn cost nothing, also where "
        "the stop depends on what was drawn; a plan charged at one price gives back all of its rounds or none.",
        "holds",
        "Reservation.give_back",
        "A filter bounds the sum over the rounds that took place, which may be chosen as they come, stopping among "
        "the choices. While a reservation is open the ledger holds more than that sum, and after the entry exactly it. "
        "A price is for a fixed number of rounds and says nothing of the first k of them.",
        "accountant/ledger/test_give_back.py::test_an_adversary_that_stops_when_it_likes_gets_no_more_than_the_budget",
    ),
)
