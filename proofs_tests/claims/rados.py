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
        "mechanisms/test_rado_law.py::test_a_truncated_rado_costs_half_the_printed_epsilon",
    ),
    Claim(
        "000-rado-column",
        "ours",
        "One Boolean column of n plain random rados costs exactly the n-fold composition of Bin(m, 1/2) against its "
        "shift by 1.",
        "tightened",
        "δ(ε) = Bin(k0) − (e^ε − 1)·Σ_{k<k0} Bin(k) for one, the convolution for n; about μ = 2√(n/m)",
        "Each edge is in the support by a fair coin, so flipping its sign is a shift, whatever the other edges are.",
        "mechanisms/test_rado.py::test_the_declared_cost_is_what_enumeration_finds",
    ),
    Claim(
        "000-Thm7",
        "000, Theorem 7",
        "With probability at least 1 − η rejection sampling takes at most n draws, or n⌈ln(n/n*)/(m·D(1−β‖1/2))⌉.",
        "narrowed",
        "only for a window that is not empty and ε <= 4; the mean is n/P(window)",
        "The number of draws is negative binomial; at m = 2, ε = 6, n = 1, η = 0.05 the bound 2 holds with "
        "probability 0.75 only, and an empty window is never hit.",
        "mechanisms/test_rado_law.py::test_theorem_7_holds_up_to_epsilon_4",
    ),
    Claim(
        "000-edges",
        "000, section 5.2 and eq. 18",
        "Rados of edge vectors with Gaussian noise are private, whatever their number.",
        "narrowed",
        "rows clipped to a public radius R: ℓ2 sensitivity 2R, GDP(2R/σ)",
        "Two points of a ball of radius R are at most 2R apart, and one record moves one row; supports are drawn "
        "without looking at the data, so rados are post-processing.",
        "mechanisms/test_rado.py::test_rows_are_clipped_to_the_ball_and_else_untouched",
    ),
)
