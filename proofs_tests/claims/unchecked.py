"""Claims that were not checked, and why. None of them is behind a cost or a certificate."""

UNCHECKED: tuple[tuple[str, str, str], ...] = (
    (
        "000-eq8",
        "000, Theorem 3, inequality (8)",
        "Neither O nor how large m must be is quantified; 000-Thm3 has (5) and (6) with constants.",
    ),
    (
        "000-eq13",
        "000, eq. 13",
        "Blends Lemma 4 with (5) or (8), for a θ that must be in a ball fixed beforehand; (8) has unnamed constants.",
    ),
    (
        "000-eq17-many-rounds",
        "000, eq. 17, 4/3 <= κ < 2, several rounds",
        "Holds for one round; no proof and no counterexample for many.",
    ),
    (
        "000-Lem11",
        "000, Lemma 11",
        "NP-hardness: nothing numeric to check, and no privacy guarantee.",
    ),
    (
        "003-Thm19",
        "003, Theorem 19 (Bassily et al. 2016)",
        "Cited. As printed q maps to ℝ; it must map to [0, 1].",
    ),
    (
        "003-Claim4",
        "003, Claim 4",
        "Is Theorem 19.",
    ),
    (
        "003-rates",
        "003, the rates of Theorem 30, Claim 1 and Theorem 33",
        "Asymptotic, and depending on 27.2 and Lemma 29, which are false as printed.",
    ),
)
"""Id, source, reason."""
