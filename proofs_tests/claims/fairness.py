"""Claims about groups: what paper 004 says of fairness, and what its private estimates depend on."""

from proofs_tests.claims.claim import Claim

FAIRNESS: tuple[Claim, ...] = (
    Claim(
        "004-eq9",
        "004, equation 9",
        "ξ_a is approximately ½σ²|Tr H_a − Tr H|, H the Hessians of the group's and of everybody's risk.",
        "tightened",
        "σ²|E_a‖φ(x)‖² − E‖φ(x)‖²|, exactly",
        "|⟨c + z, φ⟩ − y|² has mean |⟨c, φ⟩ − y|² + σ²‖φ‖² for noise of mean 0 that does not depend on the record, at "
        "any c and for any labels, so (9) is an equality for squared loss, whose Hessian has trace 2E‖φ‖².",
        "claims_shown/test_fairness_claims.py::test_equation_9_is_exact_and_its_trace_is_twice_the_printed_one",
    ),
    Claim(
        "004-eq9-trace",
        "004, sentence after equation 9",
        "Tr H_a = E_a‖x‖².",
        "false as printed",
        "2E_a‖x‖²",
        "The paper's squared loss has no ½: its Hessian is 2E xxᵀ. With the printed trace, (9) is half of the gap.",
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
        "Σ s and Σ (1 − s), for each of k shares s in [0, 1] of each group's records, move by ℓ2 √(2k) when a record "
        "is replaced, by √k when one comes or goes.",
        "holds",
        "√(2k), √k",
        "A record adds k pairs (s, 1 − s), of length at most 1 each, with no negative entry: √k. In another group the "
        "new one adds as much at a right angle; in the same group each pair moves by (s' − s)(1, −1). All s = 1 "
        "against all s = 0 attains each. Each pair turned by 45° is √2(s − ½, ½), and k times ½ is ½√k once: at "
        "μ = 1 and for replaced records, noise of deviation √k on (s_1 − ½, …, s_k − ½, ½√k), the same as on the k "
        "sums alone. Of all (s − ½, w) a mean share then has the least variance at w = ½√k, whatever the distance d of "
        "that mean from ½: (k/2 + 2w²)(1 + d²/w²)/N² rises for w² >= k/4 >= √k·d/2, and below it is k(1 + d²/w²)/N². "
        "Where records come or go it is (k/4 + w²)(1 + d²/w²)/N² for every w, least at w² = √k·d/2: (½√k + d)²/N², "
        "against (k/2 + 2d²)/N² here. For k = 1 that is .36 against .52 at d = .1, and equal at d = ½; the number of "
        "records is then the less well known. (s, 1) moves by 2.",
        "claims_shown/test_fairness_claims.py::test_counts_beside_sums_of_losses_come_free",
    ),
)
