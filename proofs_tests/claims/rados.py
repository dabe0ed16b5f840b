"""Claims about Rademacher observations. Paper: 000 Nock, Patrini & Friedman 2015."""

from proofs_tests.claims.claim import Claim

RADOS: tuple[Claim, ...] = (
    Claim(
        "000-DP-FEAT",
        "000, Theorem 6, Algorithm 2 and eq. 16",
        "n rados of DP-FEAT are (nε, nδ)-DP on feature j*, with δ = o(1/m) whenever ε = Ω(1/m).",
        "narrowed",
        "the released column only: per rado (ln((m − low)/(low + 1)) <= ε/2, mass of the boundary); n rados by exact "
        "composition; the whole vector is refused",
        "The column is a binomial in a symmetric window that does not depend on the data, so one bit shifts it by 1: "
        "ratios inside are at most (m − low)/(low + 1), and exactly the end point is unreachable. δ = o(1/m) is false "
        "(0.039 at m = 10^4, ε = 0.01). With other columns the support is readable, so δ >= 1/2 at every ε.",
        "mechanisms/rados/test_rado_law.py::test_a_truncated_rado_costs_half_the_printed_epsilon",
    ),
    Claim(
        "000-rado-column",
        "ours",
        "One Boolean column of n plain random rados costs exactly the n-fold composition of Bin(m, 1/2) against its "
        "shift by 1.",
        "tightened",
        "δ(ε) = Bin(k0) − (e^ε − 1)·Σ_{k<k0} Bin(k) for one, the convolution for n; about μ = 2√(n/m)",
        "Each edge is in the support by a fair coin, so flipping its sign is a shift, whatever the other edges are.",
        "mechanisms/rados/test_rado.py::test_the_declared_cost_is_what_enumeration_finds",
    ),
    Claim(
        "000-Thm7",
        "000, Theorem 7",
        "With probability at least 1 − η rejection sampling takes at most n draws, or n⌈ln(n/n*)/(m·D(1−β‖1/2))⌉.",
        "narrowed",
        "only for a window that is not empty and ε <= 4; the mean is n/P(window)",
        "The number of draws is negative binomial; at m = 2, ε = 6, n = 1, η = 0.05 the bound 2 holds with "
        "probability 0.75 only, and an empty window is never hit.",
        "mechanisms/rados/test_rado_law.py::test_theorem_7_holds_up_to_epsilon_4",
    ),
    Claim(
        "000-edges",
        "000, section 5.2 and eq. 18",
        "Rados of edge vectors with Gaussian noise are private, whatever their number.",
        "narrowed",
        "rows clipped to a public radius R: ℓ2 sensitivity 2R, GDP(2R/σ)",
        "Two points of a ball of radius R are at most 2R apart, and one record moves one row; supports are drawn "
        "without looking at the data, so rados are post-processing. For records in one place.",
        "mechanisms/rados/test_rado.py::test_rows_are_clipped_to_the_ball_and_else_untouched",
    ),
    Claim(
        "000-Thm3",
        "000, Theorem 3, inequalities (5) to (7)",
        "F_log(θ) <= F^r_log(θ, U) + Q − ln(1 − q/√n)/m with q = Ω(ρ√(r·max|π| + d·ln(2en/d) + ln(1/η))), and "
        "Q <= r(|∇F| + π̄).",
        "tightened",
        "q = (B/G)·((s/P)(1 − 1/B) + (1 − B⁻²)√(ln(1/η)/2)), B = exp(rP), for all |θ| <= r at once; P, s: largest and "
        "quadratic mean |π − c| over Σ_r, c their mean; G: mean of exp(−θ(π − c)). Q <= θ·(∇F + c/m)",
        "exp is a series of tensors: a mean of n is off by s·P^(k−1)/√n in the k-th, sum (s/P)(B − 1)/√n; McDiarmid "
        "with (B − 1/B)/n for the rest. No d, and no r·max|π| beside B. As r → 0 each part of q is attained (n = 1; "
        "the far tail), so 10 % less fails. (7): convexity at θ, Jensen for Σ_r; one edge comes as near as one likes.",
        "boosting/theory/test_rado_bounds.py::test_the_penalty_holds_for_all_of_the_ball_exactly",
    ),
    Claim(
        "000-Lem9",
        "000, Lemma 9",
        "Edges are ΠUᵀGᵀ(GUUᵀGᵀ)⁻¹ where recoverable; with n < m there are many solutions.",
        "holds",
        "least squares where the supports have rank m, refused below",
        "G_m·U of rank m has that right inverse; rank <= n < m leaves a null space.",
        "boosting/theory/test_rado_attacks.py::test_lemma_9_edges_come_back_where_they_can",
    ),
    Claim(
        "000-Lem10",
        "000, Lemma 10",
        "Some sample of m + 1 edges of the ball has the same rados at D_H = Ω(R/√d), for m >= 2^d "
        "Ω(R·log d/(√d·log m)).",
        "narrowed",
        "D_H >= R·m^(−1/d), so R/2 for m <= 2^d; no privacy guarantee",
        "An edge that no rado sums, where the ball is farthest from the others: m balls that cover it have its volume. "
        "Attained by ±R/2 on a line. At least the claim up to m = d^d; beyond some power of that it is weaker, and the "
        "claim was neither proved nor refuted there.",
        "boosting/theory/test_rado_attacks.py::test_lemma_10_an_unused_edge_makes_another_sample_far_away",
    ),
    Claim(
        "000-Lem10-twins",
        "000, Lemma 10; the constructions are ours",
        "Another sample of m + 1 edges has the same rados.",
        "holds",
        "no privacy guarantee",
        "An unused edge; or (E∖F) ∪ (−F) ∪ {ΣF}, for all rados of E at once, in the ball where ΣF is. Either has more "
        "rados than E unless the new edge is 0.",
        "boosting/theory/test_rado_attacks.py::test_lemma_10_flipped_edges_make_another_sample_with_every_rado",
    ),
    Claim(
        "000-Lem12",
        "000, Lemma 12",
        "Whether rados can be built from m records of a database is NP-hard to decide.",
        "holds",
        "exact search for at most 40 candidates; no privacy guarantee",
        "Subset sum is the case d = n = 1, m all candidates, radius below 1/2. Worst case only: for edges in general "
        "position each rado's support is read in time 2^(s/2), and their union is the answer.",
        "boosting/theory/test_rado_attacks.py::test_subset_sum_is_a_case_of_subsumption",
    ),
    Claim(
        "000-noised-rados",
        "ours",
        "n rados of which half are over the complements of the others' supports, with Gaussian noise on them.",
        "holds",
        "rows clipped to a public radius R: ℓ2 sensitivity 2R·√(n/2), whatever the supports; GDP(2R·√(n/2)/σ)",
        "A record is in exactly one rado of each pair, so replacing it moves n/2 rados by one and the same vector of "
        "length at most 2R. Attained by opposite edges. Noise on the edges instead is √(m/n) times as large in a rado. "
        "It holds for every support, so anybody may draw these again from a public seed; sums are exact in blocks. "
        "Neighbours are tuples: one record differs, in its place.",
        "mechanisms/rados/test_rado_release.py::test_the_declared_sensitivity_of_pairs_is_attained_whatever_the_supports",
    ),
    Claim(
        "000-moments",
        "ours",
        "Σz and Σz² of columns within [−1, 1], n of them in no group and the others in g groups that are one-hot, "
        "one 1 and −1 elsewhere, together move by at most √(4n + 8g) in ℓ2 when one record is replaced.",
        "holds",
        "√(4n + 8g), attained; as much as Σz alone; of records that are not one-hot the first largest counts as 1",
        "From a to b a column moves both by (a−b)² + (a²−b²)² = (a−b)²(1 + (a+b)²), and |a−b| + |a+b| <= 2, so that "
        "with t = |a−b| it is at most t²(1 + (2−t)²) <= 4, with equality at t = 2 only. Of a group of k >= 2 a "
        "record adds one of k vectors, 1 in one place and −1 in the others, whatever its values are, as the query "
        "makes it one by itself: two of these differ in two places, by 2 each, and their squares are 1. Places of "
        "different columns are different, so squares add up; a record that differs in all columns attains it. Which "
        "columns are groups is public, by the schema. Where labels are public, sums of each label cost no more: a "
        "record is in one of them; and where only some columns change, only theirs count.",
        "mechanisms/rados/test_one_hot.py::test_over_all_pairs_of_records_the_sensitivity_is_the_largest_move",
    ),
    Claim(
        "000-decoupled",
        "ours",
        "Whole rados can be released where sensitive columns are summed over supports of their own, at the cost of "
        "these columns; over common supports they cannot, nor can two sensitive columns alone, or a real one.",
        "holds",
        "cost of the sensitive columns alone; common supports: δ >= 1/2 at every ε, for one of several categories too",
        "Under FeatureValue the other columns are public and do not depend on the sensitive one, so given them it is "
        "as if it was released alone. Two columns: all records (+,+) but one (+,−), and π₁ − π₂ tells in every "
        "second rado; one real column: all others 0. Over supports of their own the expected exponential loss is a "
        "product. Supports of public columns may be known to anybody: what they sum is public, and they say nothing "
        "else.",
        "learners/rados/test_rado_features.py::test_common_supports_tell_two_columns_apart_in_every_second_rado",
    ),
    Claim(
        "000-smoothing",
        "ours",
        "ln 2 + (1/m)·ln of the mean over all rados of exp(−θ·(π − s·π̄)) is the logistic loss with labels flipped with "
        "probability s/2.",
        "holds",
        "(1 − s/2)·F_log(θ) + (s/2)·F_log(−θ), exactly",
        "As Lemma 2: the mean over supports is Π (1 + e^{−z})/2 = Π e^{−z/2}·cosh(z/2), z = θ·e; adding s·θ·π̄ = "
        "s·Σ z/2 leaves Σ ln cosh(z/2) − (1 − s)z/2, and ln(1 + e^{−z}) − ln 2 = ln cosh(z/2) − z/2.",
        "boosting/rados/test_rado_smoothing.py::test_smoothed_rados_stand_for_flipped_labels_exactly",
    ),
)
