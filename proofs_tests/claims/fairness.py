"""Claims about groups: what paper 004 says of fairness, and what its private estimates rest on."""

from proofs_tests.claims.claim import Claim

FAIRNESS: tuple[Claim, ...] = (
    Claim(
        "004-eq9",
        "004, equation 9 and the sentence after it",
        "ξ_a is approximately ½σ²|Tr H_a − Tr H|, where Tr H_a = E_a‖x‖².",
        "tightened",
        "σ²|E_a‖φ(x)‖² − E‖φ(x)‖²|, exactly",
        "|⟨c + z, φ⟩ − y|² has mean |⟨c, φ⟩ − y|² + σ²‖φ‖² for noise of mean 0 that does not depend on the record, at "
        "any c and for any labels, so (9) is an equality for squared loss. The Hessian of the paper's loss, which has "
        "no ½, is 2E φφᵀ: with the printed trace, E‖x‖², the gap is half of what it is.",
        "claims_shown/test_fairness_claims.py::test_equation_9_is_exact_and_its_trace_is_twice_the_printed_one",
    ),
    Claim(
        "004-grid-parity",
        "004, Section 4.3",
        "The Kolmogorov–Smirnov distance is estimated by its maximum over a grid of resolution 500.",
        "narrowed",
        "a lower bound; an upper one is max over grid points t_i of F_a(t_i) − F_b(t_{i−1}), both ways round; the last "
        "point may be taken from below, as nothing lies between that and 1",
        "A maximum over some t is at most the supremum; between t_{i−1} and t_i, F_a <= F_a(t_i) and F_b >= F_b(t_{i−1}"
        "). All of two groups' outputs may lie between two points: estimate 0, distance 1. One far outlier does that.",
        "claims_shown/test_fairness_claims.py::test_the_grid_is_a_lower_bound_that_can_miss_everything",
    ),
    Claim(
        "group-prefixes",
        "ours; the weights are those of Fichtenberger, Henzinger & Upadhyay 2023",
        "All groups' counts, convolved with w, w∗w = (1, 1, …), move by ℓ2 √2‖w‖ when a record is replaced, by ‖w‖ "
        "when one comes or goes; convolved again they are the numbers of records up to each cell.",
        "holds",
        "√2‖w‖, ‖w‖, ‖w‖² <= 1.07 + ln(cells)/π; variance 2‖w‖⁴/μ², 18.5/μ² of 500 cells",
        "A record adds w, moved to its cell and cut off, to one group: of length at most ‖w‖, with no negative entry, "
        "so two of them differ by at most √2‖w‖; cell 0 of two groups attains it. w has coefficients C(2j, j)/4^j, "
        "rounded to 2^-26 so that sums are exact; the decoder inverts the rounded ones.",
        "claims_shown/test_fairness_claims.py::test_prefixes_move_by_just_what_they_say",
    ),
    Claim(
        "group-risks",
        "ours",
        "Σ s and Σ (1 − s) of the shares s in [0, 1] of each group's records move by ℓ2 √2 when a record is replaced, "
        "by 1 when one comes or goes.",
        "holds",
        "√2, 1",
        "A record adds (s, 1 − s), of length at most 1, with no negative entry; s = 1 against s = 0 attains it, in one "
        "group or in two. Turned by 45°, that is (s − ½, ½) at sensitivity 1: noise on Σs as if nothing else were "
        "released. Of all (s − ½, w), mean shares have the least variance at w = ½: it is (½ + 2w²)(1 + d²/w²)σ²/N², "
        "which rises for w >= ½ >= d, d the distance of the mean share from ½; below ½ it is (1 + d²/w²)σ²/N². "
        "(s, 1) moves by 2.",
        "claims_shown/test_fairness_claims.py::test_counts_beside_sums_of_losses_come_free",
    ),
)
