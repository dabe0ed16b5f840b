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
        "mechanisms/gradients/test_feature_queries.py::test_sums_do_not_depend_on_the_order_or_the_blocks",
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
        "learners/random_features/test_random_feature_angles.py::test_angles_are_those_of_whole_numbers",
    ),
    Claim(
        "004-descent",
        "ours",
        "Σψ(rᵢ)φᵢ, |φᵢ| <= 1, |ψ| <= 1, has Δ₂ = 2, whatever the coefficients; T rounds at σ are GDP(2√T/σ).",
        "holds",
        "Δ₂ = 2",
        "Two terms of the unit ball; attained by opposite residuals. The noise of a prediction is that of ⟨z, φ(x)⟩, "
        "z spread over all features, so it does not grow with their number.",
        "mechanisms/gradients/test_feature_queries.py::test_the_pull_moves_by_two_and_by_nothing_less",
    ),
    Claim(
        "004-centring",
        "ours",
        "E cos(ω·x) is exp(−‖ω‖²/2) for x ~ N(0, I) and Π sin(ω_j)/ω_j for x uniform in [−1, 1]^d; E sin(ω·x) is 0.",
        "holds",
        "three quarters of that mean are taken off",
        "Characteristic functions. What all records share carries noise and says little; without it rows are brought "
        "to length 1 again, on which a step is larger for the same noise. Public, so free.",
        "learners/random_features/test_random_feature_maps.py::test_the_public_mean_is_the_mean",
    ),
    Claim(
        "004-joint-moments",
        "ours; Wang 2018 releases them one by one",
        "Σφφᵀ and w·Σyφ, |φ|, |y| <= 1, move together by at most √(2 + 2w² + w⁴/2) for w <= √2, and 2w beyond.",
        "holds",
        "√4.5 at w = 1, where two releases take √6",
        "At q = ⟨φ, φ'⟩ the square is at most 2 − 2q² + 2w²(1 + |q|), largest at |q| = w²/2. Attained.",
        "mechanisms/gradients/test_feature_queries.py::test_joint_moments_reach_their_bound_and_never_pass_it",
    ),
    Claim(
        "004-one-pass",
        "Wang & Guo 2024, with another proof",
        "One pass of SGD with cut residuals at a rate of at most 2 moves by at most 2·rate·clip/batch.",
        "holds",
        "2·rate·clip/batch, and rounding",
        "A record is in one step; the steps after it are those of a convex 1-smooth loss, which bring no two vectors "
        "further apart (Hardt, Recht & Singer 2016). Attained by the last record. Beyond rate 2 runs drift apart.",
        "mechanisms/gradients/test_feature_fits.py::test_one_pass_reaches_its_sensitivity",
    ),
    Claim(
        "004-ridge",
        "004, section 4.2: 2/(mλ)",
        "argmin Σ(c·φ − y)² + Λ|c|², Λ = mλ, |φ|, |y| <= 1, has Δ₂ <= (2/Λ)·max over θ of cos θ·(1 + (K/2)·sin θ), K "
        "= √((m − 1)/Λ), and that is reached but for a factor of 1 + 1/Λ where Λ <= m − 1.",
        "false as printed",
        "the bound on the left; the best sin θ is K/(1 + √(1 + 2K²))",
        "The printed bound is for losses of slope 1; squares have slopes up to 1 + |c|, and it is exceeded by more "
        "than 4 at m = 1000, λ = 1e-3 (the pair below). Ours: a record beside m − 1 others, H = Σφφᵀ of those, moves "
        "their c by Gφ(y − c·φ)/(1 + φᵀGφ), G = (H + Λ)⁻¹ (Sherman and Morrison). Let S = ΛG, p = Σyφ/√((m − 1)Λ): "
        "ppᵀ <= H/Λ by Cauchy and Schwarz, so p = √(H/Λ)·q, |q| <= 1, |Sp| <= max √h/(1 + h) = ½, and c·φ = K·Sp·φ. "
        "Along a unit vector n two records' moves differ, times Λ, by at most |a·φ| − K(a·φ)(b·φ) + |a·φ'| + "
        "K(a·φ')(b·φ'), a = Sn, |a| <= 1, b = Sp: denominators are at least 1, labels at most. At given a·φ, a unit "
        "φ in the plane of a and b does most. ω being the angle of b from a, t and −t' those of φ' and φ, which may "
        "be taken within ±90° as φ and −φ do the same, it is |a| times cos t + cos t' + K|b|[cos ω(cos² t − cos² t') "
        "+ sin ω(sin t cos t + sin t' cos t')], and […]² <= ¼(cos 2t − cos 2t')² + ¼(sin 2t + sin 2t')² = sin²(t + "
        "t'). With θ = (t + t')/2: cos t + cos t' <= 2cos θ, |sin 2θ| = 2cos θ|sin θ|. Reached: others along e with "
        "h = Λ and label 1, records −sin θ·e ± cos θ·f with label 1; both denominators are 1 + (cos² θ + ½sin² θ)/Λ. "
        "Adding two one-record bounds, a(1 + K√(a − a²)) each, would be up to 30 % more: they need φ along e, on "
        "both sides.",
        "mechanisms/gradients/test_feature_fits.py::test_ridge_reaches_its_sensitivity",
    ),
)
