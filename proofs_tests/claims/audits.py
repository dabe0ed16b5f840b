"""What one-run audits depend on: how often somebody guesses coins right who saw what a private program made of them."""

from typing import Final

from proofs_tests.claims.claim import Claim

AUDITS: Final = (
    Claim(
        "one-run",
        "Steinke, Nasr & Jagielski 2023, Proposition 5.1",
        "m independent fair coins; data sets that differ in one coin are neighbours; k coins are guessed from the "
        "output of an ε-DP program. The number W of right guesses is at most Binomial(k, e^ε/(1 + e^ε)), "
        "stochastically.",
        "holds",
        "harness.one_run: under add-remove-one a canary is in the data or not, under replace-one it is one of two "
        "records",
        "Given the output and the coins before the i-th, the odds of the i-th are the ratio of two means, over the "
        "coins after it, of chances that are within e^±ε of each other: so are the odds. Guesses are right one "
        "after the other with chance e^ε/(1 + e^ε) at most, whatever came before. Which coins are guessed, and by "
        "which scores, may follow from the output; k may not. In place of a record there must be a neighbour's: two "
        "records are one step under replace-one and two under add-remove-one.",
        "kit/one_run/test_theorems.py::test_guesses_about_a_pure_program_are_at_most_binomial",
    ),
    Claim(
        "one-run-delta",
        "ours; Steinke, Nasr & Jagielski 2023, Theorem 5.2 and Appendix D",
        "The same for (ε, δ): P[W >= c] <= B + mδ·B(1 − B)/(c·b), with B = P[Binomial >= c] and b = P[Binomial = c] "
        "of the above. Printed is B + 2mδ·max over i of (P[Binomial >= c − i] − B)/i.",
        "tightened",
        "the bound on the left, which the worst program attains",
        "Draw a canary at random. That it is guessed right and W = j has chance j·p_j/m, p_j = P[W = j]; with its "
        "coin turned over, (k − j + 1)·p_{j−1}/m. Means of (ε, δ) pairs over coins and canaries are such a pair, so "
        "Σ_T j·p_j <= e^ε·Σ_T (k − j + 1)·p_{j−1} + mδ for every set T of counts. Let f solve Stein's equation "
        "j·f(j) − e^ε(k − j)·f(j + 1) = 1[j >= c] − B. Then P[W >= c] − B = Σ f(j)·(j·p_j − e^ε(k − j + 1)·p_{j−1}) "
        "<= mδ·max f, as f >= 0: with b_j the binomial chances, j·b_j·f(j) is B·P[Binomial < j] for j <= c and (1 − "
        "B)·P[Binomial >= j] beyond. P[Binomial < j]/b_{j−1} rises in j and P[Binomial >= j]/b_j falls, so f is "
        "largest at c. The printed bound is up to several times as large in tails, and below what a program attains "
        "at m = k = 3, c = 1, ε = ½, δ = .03, by enumeration: .956 and .963. There nothing is refuted, and where "
        "our bound was below .85 we found the printed one above it.",
        "kit/one_run/test_theorems.py::test_guesses_about_an_approximately_private_program",
    ),
    Claim(
        "one-run-curve",
        "Mahloujifar, Melis & Chaudhuri 2025",
        "The same for f-DP, and so for μ-GDP: P[W >= c] >= τ is impossible if a recursion over counts, c to 0, that "
        "starts with all of τ at c needs more probability than there is.",
        "holds",
        "harness.one_run.tails.possible, with Φ(Φ⁻¹(y) − μ) for μ-GDP",
        "With r_i and h_i the chances that a canary drawn at random is guessed right or wrong and W >= i, 1 − f is "
        "concave, so that turning its coin over gives r_i <= 1 − f(h_{i−1}), whatever else is mixed. The least "
        "total: let one start have as much mass and x more in r, x less in h. What continues it continues the "
        "other, whose h is larger and r smaller by x throughout. So all of τ is at c. Mass that is moved from a "
        "count to the next lower one has the same effect on what follows, so that no p_i is larger than asked for; "
        "mass above τ may be moved likewise, so that a larger P[W >= c] needs no less.",
        "kit/one_run/test_theorems.py::test_guesses_about_a_gaussian_program",
    ),
)
