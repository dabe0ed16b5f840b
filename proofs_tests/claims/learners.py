"""What the learners that are not of the papers depend on."""

from typing import Final

from proofs_tests.claims.claim import Claim

LEARNERS: Final = (
    Claim(
        "clipped-gradients",
        "ours",
        "Gradients clipped at C and curvatures in units of c, of all cells of a public partition together, have ℓ2 "
        "sensitivity √(C² + c²/16) when a record comes or goes and √(4C² + c²/16) when one is replaced (two classes; "
        "C <= ½, c <= 1); √(2C² + 4c²/27) and, at this C and c, √(8C² + c²/8) for more classes. All are attained.",
        "holds",
        "C = 13/32, c = 1/2, weights within a public cap; whole 2^-16 add 2^-12 to the square of the last",
        "A record is in one cell and adds w·(g, c·h), w in [0, 1]. With q the probability of its wrong class |g| <= "
        "min(q, C), h <= q(1 − q): q²(1 + c²(1 − q)²) rises up to q = C, beyond that c²q²(1 − q)² is largest at ½. "
        "Replacing it in its cell moves g by at most 2C and h by at most ¼; in two cells the move is √2 times the "
        "first bound, less than 2C as c <= 1. More classes: ‖g‖ is clipped at √2·C, and Σx²(1 − x)² <= 4/27·Σx. Two "
        "cells, or one label (g·g' >= 0), move by 4C² + 8c²/27 squared at most, which is less. In one cell, labels 1 "
        "and 2: ‖g − g'‖² <= 8C² − ‖g + g'‖². Past 2, g + g' is −t, t_k = sp_k + s'p'_k, s, s' >= C the factors of "
        "clipping, and its first two entries add up to Σt or more, so ‖g + g'‖² >= Σt² + (Σt)²/2 >= 1.5·Σt². The "
        "first two entries of h − h' are within ±¼: 1/8. A further one is at most p_k or p'_k, and c²p_k² <= "
        "1.5·t_k² if s >= c/√1.5. If not, ‖e_1 − p‖² = 2C²/s² > 1.98, so p_j > .98 for some j > 1. If j = 2, Σp_k² "
        "past 2 is at most P², P = Σp_k < .02, less than what entry 2 lacks: h_2 >= .98P, |h_2 − h_2'| <= ¼ − h_2. "
        "If j > 2, t_j > .98C, and 1.5·t_j² > 8c²/27. As for s', p' and entry 1. Weights: the distance is convex in "
        "(w, w'). Attained by p = (½, ½, 0 …), label 1, and p' = (1, 0 …), label 2. Cutting to whole 2^-16 lowers ‖g "
        "+ g'‖² by 12·2^-16, and h_2 by 2^-16. Sums are of integers below 2^53, with numpy or "
        "compiled: of 2^27 records that weigh up to 2^10 each, or 2^37 without weights, terms being at most 2^16; 64 "
        "bits and floats hold them all. Where records are encoded, weighted and scored alone (the claim records-alone) "
        "scores are functions of a record and of releases: then nothing else moves.",
        "mechanisms/gradients/test_gradients.py::test_replaced_records_of_many_classes_move_within_the_bound_which_is_attained",
    ),
    Claim(
        "clipped-link",
        "ours",
        "Boosting by gradients clipped at C <= ½ minimises a convex loss whose minimiser has the sign of the "
        "log-odds, rises with the share π of the class, and tells it: π = C/(C + σ(−m)) at margins m >= ln((1 − "
        "C)/C).",
        "holds",
        "predict_proba, where that is more than the logistic function of .7·m tells",
        "The slope −y·min(σ(−ym), C) does not fall in m. Between ±ln((1 − C)/C) both slopes are C, so the minimiser "
        "of π > ½ lies beyond, where π·σ(−m) = (1 − π)·C.",
        "mechanisms/gradients/test_gradients.py::test_the_minimiser_has_the_sign_of_the_log_odds_and_tells_them",
    ),
    Claim(
        "residual-moments",
        "ours",
        "Sums over records of weight times residual, clipped at 1, times features of length at most 1 of the record's "
        "cells in any number of partitions, have ℓ2 sensitivity 1 when a record comes or goes, and 2 when one is "
        "replaced, weights being in [0, 1]. Both are attained.",
        "holds",
        "1 and 2; residuals in whole 1/256 of the clip, features in whole 1/4096, rounded towards 0, weights in "
        "1/1024; that the longest features of all partitions add up to a squared length of at most 1 is checked",
        "A record adds w·r·φ, |r| <= 1, w in [0, 1], and ‖φ‖² <= 1 whatever its cells are, being a sum of squares over "
        "partitions, each at most that of the longest cell; two such vectors are at most 2 apart. Attained by a "
        "feature that is 1 in some cell, and residuals of ±1. Sums over at most 2^23 records are integers below 2^53 "
        "before they are divided by a power of two, so neither order nor rounding shows. Where records are encoded, "
        "weighted and scored alone (the claim records-alone) residuals and cells are functions of a record and of "
        "releases: then nothing else moves.",
        "mechanisms/gradients/test_residual_moments.py::test_the_bounds_are_attained_so_a_tenth_less_would_be_exceeded",
    ),
    Claim(
        "histograms",
        "folklore",
        "Counts in the cells of m public partitions move by ℓ2 √m when a record comes or goes, by √(2m) when one is "
        "replaced.",
        "holds",
        "√m, √(2m)",
        "One cell of each partition changes by 1, or two do. Partitions may follow from what was released before, "
        "which is public by then; each histogram is charged by itself.",
        "mechanisms/gradients/test_gradients.py::test_histograms_move_by_just_what_they_say",
    ),
    Claim(
        "objective-perturbation",
        "Chaudhuri, Monteleoni & Sarwate 2011, Algorithm 2 and Theorem 9 (logistic loss)",
        "With ε' = ε − ln(1 + 2c/(nΛ) + c²/(nΛ)²) > 0, c = ¼, and noise of density ∝ exp(−ε'‖b‖/2), the minimiser is"
        " ε-DP under replace-one.",
        "tightened",
        "sup over s in [0, 1] of A(1 + s) + ln(1 + Bs(1 − s)), A = reach/scale, B = ‖x‖₂²/λ, λ = nΛ; that is 2A, the"
        " determinant free, at λ·ε >= 2‖x‖₂²; any norm's noise; As + ln(…) under add-remove-one, if λ does not come "
        "from n",
        "w ↔ b = Σ sᵢyᵢxᵢ − λw, s = 1/(1 + e^{y w·x}), is a bijection with Jacobian det H, H = Σ sᵢ(1 − sᵢ)xᵢxᵢᵀ + "
        "λI, so p(w) = ν(b)·det H, ν the density of b. At one w, replacing a record moves b by s'y'x' − syx, of norm"
        " at most (s + s')·reach, and, as both Hessians are G + rank one, G >= λI, the determinants' ratio is (1 + "
        "s(1 − s)xᵀG⁻¹x)/(1 + s'(1 − s')x'ᵀG⁻¹x') <= 1 + Bs(1 − s): once, where the print has its square. Where "
        "curvature is large, s is not 1: put s' = 1; the slope A + B(1 − 2s)/(1 + Bs(1 − s)) is least at s = 1, A − "
        "B. Attained in the limit of nearly opposite records (both missed); a flip alone costs A.",
        "mechanisms/gradients/test_objective.py::test_the_declared_loss_is_attained_so_a_tenth_less_would_be_caught",
    ),
    Claim(
        "objective-perturbation-gaussian",
        "Kifer, Smith & Thakurta 2012; Redberg, Koskela & Wang 2023; the form is ours",
        "With b ~ N(0, σ²I), σ = ‖x‖·√(8 ln(2/δ) + 4ε)/ε and enough regularization, the minimiser is (ε, δ)-DP.",
        "tightened",
        "replace-one: the exact Gaussian curve of 2μ, μ = ‖x‖₂/σ, at every ε >= max(μ², 2B − 2μ²); add-remove-one: "
        "that of μ at ε >= κ = B − μ²/2. Without δ: GDP(2m), m = μ + (κ²/6μ)e^{m²/8}, for 0 < κ <= 4μ, and GDP(2μ) "
        "for κ <= 0",
        "Add the new record first, P to U: with a = b·yx/(σ‖x‖) ~ N(0, 1) under P and T = μa + μ²/2, the loss is at "
        "most sT − s(1 − s)μ²/2 <= max(0, T), as the determinant helps: E(1 − e^{ε−L})⁺ <= δ_μ(ε) for all ε >= 0. "
        "Then take the old one away, U to Q: with a = −b·yx/(σ‖x‖) under U, the loss is at most sT − s(1 − s)μ²/2 + "
        "ln(1 + Bs(1 − s)) <= sT + κs(1 − s), so at most T where T >= max(0, κ), else at most max(0, κ): the same for "
        "ε >= max(0, κ). P(S) <= e^{ε₁}U(S) + δ_μ(ε₁) <= e^{ε₁+ε₂}Q(S) + δ_μ(ε₁) + e^{ε₁}δ_μ(ε₂) with ε₁, ε₂ = (ε ∓ "
        "μ²)/2, so ε₁ >= 0 and ε₂ >= κ, where the last two terms are δ_{2μ}(ε): N(2μ), N(μ), N(0) share the event "
        "beyond ε/2μ + μ. Removing first would put (ε + μ²)/2 first, and prove less: 1.125 at μ = 1, ε = 2, where "
        "δ_{2μ}(ε) = 0.332. Below κ "
        "the bound on L is (T + κ)²/4κ on |T| <= κ, whose excess over max(T, ε) integrates to κ²(1 − r)³(1 + 3r)/6 "
        "in T, r² = ε/κ, so to that over μ√(2π) at most; δ_m − δ_μ = ∫φ(ε/u − u/2)du, u from μ to m, is >= (m − "
        "μ)e^{−r⁴κ²/2μ² − m²/8}/√(2π), and (1 − r)³(1 + 3r)e^{8r⁴} <= 1. Both directions are then m-GDP, two of them"
        " 2m (group privacy).",
        "mechanisms/gradients/test_objective.py::test_the_gaussian_curve_is_nearly_attained_and_a_tenth_less_noise_would_be_caught",
    ),
    Claim(
        "objective-perturbation-regression",
        "Chaudhuri, Monteleoni & Sarwate 2011, Algorithm 2 and Theorem 9, for real labels; the form is ours",
        "For a convex loss with |φ′| <= ½ and φ″ <= c = ¼, ε' = ε − ln(1 + 2c/(nΛ) + c²/(nΛ)²) > 0 and noise of "
        "density ∝ exp(−ε'‖b‖), the minimiser is ε-DP under replace-one (their loss halved).",
        "tightened",
        "for the log-cosh loss ln(2 cosh((w·x − o)/2)), o any real label: sup over s in [½, 1] of As + ln(1 + Bs(1 − "
        "s)), A = reach/scale, B = ‖x‖₂²/λ, λ = nΛ; that is A, the determinant free, at λ·ε >= ‖x‖₂²; A/2 less under "
        "add-remove-one; Laplace or ℓ2-Laplace noise only",
        "As for the logistic loss, but φ′ lies in (−½, ½) and φ″ = ¼ − φ′². At one w, replacing (x, o) by (x', o') "
        "moves b by φ′x − φ′'x', of norm at most (t + t')·reach, t = |φ′|; the determinants' ratio is "
        "(1 + (¼ − t²)q)/(1 + (¼ − t'²)q'), q and q' in [0, B], at most 1 + B(¼ − t²), either way round. The loss "
        "grows with t', so t' = ½ leaves A(½ + t) + ln(1 + B(¼ − t²)); s = ½ + t. Attained by a label alone: at a w "
        "where b is large, o and o' can put φ′ at t and φ′' near −½. Without a record in its place t' is 0. For "
        "Gaussian noise nothing is proved: that proof needs gradients which keep their sign.",
        "mechanisms/gradients/test_objective_regression.py"
        "::test_the_declared_loss_is_attained_by_a_label_alone_and_a_mutant_is_killed",
    ),
    Claim(
        "approximate-minimum",
        "Iyengar et al. 2019; the grid is ours",
        "A point with gradient at most τ, with noise for a sensitivity of 2τ/λ, costs the sum of both costs.",
        "holds",
        "D = (τ + √d·g/2)/λ, g the sampler's grid: Laplace for 2√d·D in ℓ1, or Gaussian for 2D in ℓ2; 2^-10 of ε, or"
        " of μ²",
        "Let b' be b plus a uniform in its grid cell: it has a density, whose Laplace loss exceeds ‖v‖₁/scale by at "
        "most d·g/scale <= 2^-40, so its exact minimiser w* has the declared cost. The gradient for b' at the point "
        "found is at most τ + √d·g/2, so by strong convexity it is within D of w*, whatever the data. Given w*, the "
        "output is a point of that ball plus noise: adaptive composition. τ is certified with all rounding bounded "
        "(|φ‴| <= φ″ turns score errors into φ′ errors; an offset taken off a score, of whatever size, adds a quarter "
        "of a unit, as |zφ″(z)| < ¼).",
        "mechanisms/gradients/test_logistic_loss.py::test_the_certificate_is_above_the_true_gradient",
    ),
    Claim(
        "records-right",
        "folklore",
        "The number of records that a released model classifies as labelled moves by at most 1.",
        "holds",
        "ℓ1 and ℓ2 sensitivity 1, either adjacency",
        "One indicator comes, goes or changes.",
        "learners/base/test_tuning.py::test_the_number_of_right_records_moves_by_at_most_one",
    ),
)
