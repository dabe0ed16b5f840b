"""Claims about fitting random features with a proved cost: sums, moments, gradients, coefficients. Ours, beside 004."""

from proofs_tests.claims.claim import Claim

FEATURE_MODELS: tuple[Claim, ...] = (
    Claim(
        "exact-sums",
        "ours",
        "Sums of m products of numbers in [−1, 1] cut to b binary places, m·2^2b <= 2^53, are exact in any order.",
        "holds",
        "b = ⌊(53 − ⌈log₂ m⌉)/2⌋",
        "Every partial sum is a multiple of 2^-2b and at most m, so a double holds it; BLAS may add as it likes, with "
        "fused multiplications or without. The sensitivity of such a sum is that of one term, with nothing for "
        "rounding. m = 10⁶ leaves 16 places. So are scores φ·c of c cut to multiples of 2^(e+b−53), 2^e >= |c|: "
        "partial sums are multiples of 2^(e−53), and |φ||c| at most.",
        "mechanisms/test_feature_queries.py::test_sums_do_not_depend_on_the_order_or_the_blocks",
    ),
    Claim(
        "exact-angles",
        "ours",
        "Points cut to r places below a row's largest entry, frequencies to s below a column's, r + s = 53 − ⌈log₂ d⌉"
        ", have exact products in any order.",
        "holds",
        "an angle moves by at most 2^-r·|x|_∞·|ω̃|₁ + 2^-s·|x|₁·|ω|_∞; kernels by 1e-7",
        "Over the row's and the column's powers of two all partial sums are whole numbers of at most d·2^(r+s) <= 2^53."
        " The rest, turns taken off and a polynomial for the wave, is done number by number. So its features are "
        "what they would be if a record had no neighbours, which BLAS and vector units do not promise.",
        "learners/test_random_feature_angles.py::test_angles_are_those_of_whole_numbers",
    ),
    Claim(
        "004-descent",
        "ours",
        "Σψ(rᵢ)φᵢ, |φᵢ| <= 1, |ψ| <= 1, has Δ₂ = 2, whatever the coefficients; T rounds at σ are GDP(2√T/σ).",
        "holds",
        "Δ₂ = 2",
        "Two terms of the unit ball; attained by opposite residuals. The noise of a prediction is that of ⟨z, φ(x)⟩, "
        "z spread over all features, so it does not grow with their number.",
        "mechanisms/test_feature_queries.py::test_the_pull_moves_by_two_and_by_nothing_less",
    ),
    Claim(
        "004-centring",
        "ours",
        "E cos(ω·x) is exp(−‖ω‖²/2) for x ~ N(0, I) and Π sin(ω_j)/ω_j for x uniform in [−1, 1]^d; E sin(ω·x) is 0.",
        "holds",
        "three quarters of that mean are taken off",
        "Characteristic functions. What all records share carries noise and says little; without it rows are brought "
        "to length 1 again, on which a step is larger for the same noise. Public, so free.",
        "learners/test_random_feature_maps.py::test_the_public_mean_is_the_mean",
    ),
    Claim(
        "004-joint-moments",
        "ours; Wang 2018 releases them one by one",
        "Σφφᵀ and w·Σyφ, |φ|, |y| <= 1, move together by at most √(2 + 2w² + w⁴/2) for w <= √2, and 2w beyond.",
        "holds",
        "√4.5 at w = 1, where two releases take √6",
        "At q = ⟨φ, φ'⟩ the square is at most 2 − 2q² + 2w²(1 + |q|), largest at |q| = w²/2. Attained.",
        "mechanisms/test_feature_queries.py::test_joint_moments_reach_their_bound_and_never_pass_it",
    ),
    Claim(
        "004-one-pass",
        "Wang & Guo 2024, with another proof",
        "One pass of SGD with cut residuals at a rate of at most 2 moves by at most 2·rate·clip/batch.",
        "holds",
        "2·rate·clip/batch, and rounding",
        "A record is in one step; the steps after it are those of a convex 1-smooth loss, which bring no two vectors "
        "further apart (Hardt, Recht & Singer 2016). Attained by the last record. Beyond rate 2 runs drift apart.",
        "mechanisms/test_feature_fits.py::test_one_pass_reaches_its_sensitivity",
    ),
    Claim(
        "004-ridge",
        "004, section 4.2: 2/(mλ)",
        "argmin Σ(c·φ − y)² + mλ|c|², |φ|, |y| <= 1, has Δ₂ <= (2/mλ)(1 + (3√3/16)√((m − 1)/(mλ))).",
        "false as printed",
        "the bound on the left",
        "The printed bound is for losses of slope 1; squares have slopes up to 1 + |c|, and |c| up to 1/(2√λ). Two "
        "records that lie across the others' direction exceed it, at m = 1000 and λ = 1e-3 by more than 4. The bound "
        "here comes from Sherman and Morrison's formula; a search reaches .6 of it.",
        "mechanisms/test_feature_fits.py::test_the_printed_sensitivity_of_ridge_is_false_for_squares",
    ),
)
