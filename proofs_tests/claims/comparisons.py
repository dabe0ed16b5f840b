"""What the systems that ours are compared with depend on."""

from typing import Final

from proofs_tests.claims.claim import Claim

COMPARISONS: Final = (
    Claim(
        "forest-leaves",
        "ours; Geurts, Ernst & Wehenkel 2006; Fletcher & Islam",
        "Label counts of all leaves of public trees, each record in one tree by its place in the table, move by ℓ1 2"
        " and ℓ2 √2 under replace-one; gaps by ℓ1 2.",
        "holds",
        "leaf_counts, leaf_counts_l2, leaf_gaps; share='disjoint' charges one tree, 'all' charges T",
        "A record adds 1 to exactly one (leaf, label) cell of its trees; replacing takes 1 from one cell and adds 1 "
        "to another. A gap is a signed sum of two cells. Counts are integers. T trees that all see the record add up"
        " to 2T and √(2T).",
        "learners/trees/test_forest.py::test_leaves_move_by_their_sensitivity_and_no_further",
    ),
    Claim(
        "parallel-lanes",
        "McSherry 2010; 001, Theorem 2",
        "Adaptive releases on the cells of a public partition cost what one cell's releases cost, under every "
        "composition theorem.",
        "narrowed",
        "mechanisms.core.parallel: replace-one, lanes by place in the table",
        "The replaced record keeps its place, hence its lane. Given all earlier outputs, releases of other lanes "
        "have the same distribution on both samples. The transcript is therefore an adaptive composition of one lane's "
        "steps per partition, in fixed order. It fails if lanes depend on the records, or on an n that is not public.",
        "mechanisms/core/test_parallel.py::test_lanes_cost_what_one_lane_costs_whatever_is_asked_when",
    ),
    Claim(
        "dpboost-gain",
        "ours, for Li, Wu, Wen & He 2020, Lemma 1",
        "Over all choices of one split per node of a level, gains S²/(m + λ) with |g| <= 1 change by a range of at "
        "most 2·max over p + q = n − 1 of A(p) + B(q), A(m) = 1 − λ²/(w(w + 1)), B(m) = 3 − (4 + 4λ − λ²/w)/(w + 1), "
        "w = m + λ, under replace-one; that is attained, at most 8(n − 1)/(n + λ), and about half of it where λ is "
        "far above n.",
        "tightened",
        "gain_range, the maximum over whole p",
        "A gradient a, say a >= 0, in a child with m others changes S²/w by G = (a² + 2aS − S²/w)/(w + 1). G <= a², "
        "at S = aw; for 0 <= S <= aw it falls in w and rises in S. So its maximum over S <= s, s <= m, is at most "
        "Â(s), a² where s >= a(s + λ), else G at m = S = s. A record touches one child of every candidate, so the "
        "range is that of G at two candidates: u others in both children with sum σ, p and q in one only, p + q + u "
        "<= N = n − 1. If σ <= 0, the first S is at most p: G <= Â(p), while the other is at least B̂(q + u), G's "
        "minimum for as many others, at S = −m. If σ >= 0, the first is at most Â(p + u), and the other's S >= −q; G "
        "is concave in S, so its minimum is at S = −q, where G rises in w if q >= 1 (its slope has the sign of (s − "
        "a)((2w + 1)s + a), s = S/w), hence at least B̂(q); or at S = m = q + u, s > a, where a² − G <= s²w/(w + 1) "
        "<= N/(N + 1 + λ). If q = 0, a² − G is at most that or, at S = 0, Â(p + u) − a²/(w + 1) <= 2N/(N + 1 + λ). A "
        "+ B at p = ⌊N/2⌋ is more: 2N/(N/2 + 1 + λ), or for odd N, dropping p²/w against (p + 1)²/w, 2N/((N + 3)/2 + "
        "λ) at least. Â(p) − B̂(q) rises in a for q >= 1: a = 1 gives A(p) + B(q), both rising. A is concave, and B "
        "for m >= 1, as λ²(3/w + 3/w² + 1/w³) <= 4 + 4λ for w >= 1 + λ: one maximum over p in [0, N − 1], whole ones "
        "next to it. For n = 1 all candidates change alike. Replacing is one removal and one addition, in whatever "
        "nodes: twice. Attained by p others of gradient 1 and q of −1 that two candidates tell apart, and a record "
        "that agrees with one of them, then with the other.",
        "mechanisms/gradients/test_gradient_queries.py::test_the_range_of_gains_is_attained",
    ),
    Claim(
        "dpboost-3g2",
        "Li et al. 2020, Lemma 1 and Algorithm 1",
        "The gain's sensitivity is 3g², so exp(εG/(2·3g²)) costs ε, with nodes of a level in parallel.",
        "false as printed",
        "gain_range, per level jointly",
        "True for adding or removing one record: 3 is the supremum, and the range 4 would even allow 2ε/3. Under "
        "replace-one one flip moves a gain by 4(m − 1)/(m + λ) → 4, and the range is 8. With one candidate against "
        "60 copies of its opposite (n = 4001, λ = 0.1, ε = 1) the exact loss is 1.309; the limit is 4ε/3. Two nodes "
        "of one level can widen together, so a level is not free of the factor 2 either.",
        "mechanisms/gradients/test_gradient_queries.py::test_the_printed_split_costs_a_third_more_than_its_budget_under_replace_one",
    ),
    Claim(
        "dpboost-leaf",
        "ours, for Li et al. 2020, Lemma 2 and Corollary 1",
        "With A = min(2c, (1 + min(c, 1/(1 + λ)))/(2 + λ)), clipped values of all leaves move by ℓ1 2A and ℓ2 "
        "max(√2·A, min(2c, 2/(1 + λ))) under replace-one.",
        "tightened",
        "leaf_values_l1, leaf_values_l2",
        "One more record in a leaf of m >= 1 moves it by at most (1 + min(c, m/(m + λ)))/(m + 1 + λ). This falls "
        "with m, because (2m + λ)(1 + λ) <= (m + λ)(m + 1 + λ) iff m <= m². In an empty leaf it is min(c, 1/(1 + "
        "λ)), which is at most A. Inside one leaf the move is at most min(2c, 2/(1 + λ)) <= 2A. Attained on samples "
        "of up to 3 records.",
        "mechanisms/gradients/test_gradient_queries.py::test_leaves_move_by_their_sensitivity_and_no_further",
    ),
    Claim(
        "dpboost-g-lambda",
        "Li et al. 2020, Lemma 2",
        "A leaf value moves by g/(1 + λ).",
        "false as printed",
        "leaf_values_l1",
        "True for add/remove, and attained. Under replace-one a leaf of one flipped record moves by 2/(1 + λ), so "
        "Laplace noise costs 2ε.",
        "mechanisms/gradients/test_gradient_queries.py::test_the_printed_leaf_sensitivity_is_half_of_what_one_flipped_label_moves",
    ),
    Claim(
        "dpboost-init",
        "DPBoost's code (gbdt.cpp, BoostFromAverage), read as stored",
        "The fit costs its budget though it starts from the exact average.",
        "false as printed",
        "score 0",
        "A flipped label changes the start, which is released as it is.",
        "learners/trees/test_gradient_boosting.py::test_a_start_from_the_average_is_a_release_that_nobody_paid_for",
    ),
    Claim(
        "bagging-votes",
        "ours, for Jordon, Yoon & van der Schaar 2019",
        "With k partitions the two vote counts of a query move by at most k each (ℓ1 2k, range 2k), whatever "
        "teachers learn, so a verdict costs BoundedRange(2kη).",
        "holds",
        "TeachingPlan.query, priced as one plan",
        "Shares go by place, so one teacher per partition sees the record, and a flipped vote moves both counts by "
        "1, oppositely. Attained.",
        "learners/trees/test_bagging.py::test_votes_move_by_two_for_every_partition_and_no_further",
    ),
    Claim(
        "bagging-data-driven",
        "Jordon et al. 2019, personalised moments accountants (only the abstract was readable)",
        "Data-driven bounds may be reported as the cost.",
        "narrowed",
        "worst case; accounting='data-dependent' raises",
        "Such an ε is a function of the votes. With 5 teachers the exact local loss differs between 1 and 2 votes, "
        "which are neighbours, so publishing it has δ = 1 at every ε.",
        "learners/trees/test_bagging.py::test_an_epsilon_that_depends_on_the_votes_tells_neighbours_apart",
    ),
)
