"""What ledgers over one data set promise together, and what one number of a report says to a person."""

from typing import Final

from proofs_tests.claims.claim import Claim

LEDGERS: Final = (
    Claim(
        "ledgers-together",
        "Vadhan & Wang 2021; Vadhan & Zhang 2023; Haney et al. 2023 for ledgers that are begun adaptively",
        "Ledgers with budgets (εᵢ, δᵢ) over one data set keep (Σεᵢ, Σδᵢ) together, however questions to them are "
        "interleaved and whatever answers led to which question.",
        "holds",
        "accountant.registry.together, over the ledgers that are registered by now; sums rounded up; ρ and μ are read "
        "at δ = 1e-6 each, which is counted. The sum of what is spent is a reading, as for one ledger.",
        "Each ledger is an interactive mechanism whose rule is a filter, and its budget was fixed before its first "
        "answer, so it keeps (εᵢ, δᵢ) against whoever asks. Such mechanisms compose at once as they do one after the "
        "other, and basic composition is a rule for those.",
        "accountant/registry/test_together.py::test_a_sum_is_never_below_the_exact_one",
    ),
    Claim(
        "two-records",
        "Dwork & Roth 2014, Theorem 2.2, for δ = 0; Vadhan 2017, Lemma 2.2, with 2e^{2ε}δ",
        "What is (ε, δ)-DP under add-remove-one is (2ε, (1 + e^ε)δ)-DP under replace-one; neither factor is less.",
        "tightened",
        "accountant.registry.together.under, δ rounded up",
        "A replaced record is one that leaves and one that comes: P[M(D) ∈ S] <= e^ε·P[M(D − r) ∈ S] + δ <= "
        "e^ε(e^ε·P[M(D′) ∈ S] + δ) + δ. Three data sets in a row with one bit each attain both.",
        "accountant/registry/test_together.py::test_both_factors_of_two_records_are_attained",
    ),
    Claim(
        "best-guess",
        "Kairouz, Oh & Viswanath 2015, Theorem 2.1, in the words of a guess",
        "Of two neighbours that were equally likely before, who sees the output of an (ε, δ)-DP program tells the "
        "right one with probability at most (e^ε + δ)/(e^ε + 1).",
        "holds",
        "accountant.audit.plain_language.best_guess, the sentence of the report's first page",
        "The best guess is right with chance ½ + ½·TV. Of all (ε, δ)-DP pairs the one of randomized response with a "
        "chance δ of telling all has the largest distance, (e^ε − 1 + 2δ)/(e^ε + 1).",
        "accountant/audit/test_plain_words.py::test_guess_and_power_are_attained_and_never_below",
    ),
)
