"""What is public about the files' fields: bounds from what is measured and how, categories from the documentation.

Bounds are round numbers for the quantity, categories the closed lists of the files' own descriptions, whether or not a
record has them. None is computed when a table is read. But whoever wrote them down had seen the records, and where the
description hides what is measured, or an instrument's unit says little, only the records could suggest a round number:
comments say "with the data in sight" there. A curator would ask who took the measurements.

Codes whose order means something are numbers, other codes are categories, and so are yes and no.
"""

from collections.abc import Sequence
from typing import Final

from benchmarks.adapters.protocol import Column
from benchmarks.data import BOUNDS
from benchmarks.tables.reading import Field, columns_of
from exchequer.datasets import packaged_schema

Fields = tuple[Field, ...]

YES_NO: Final = "0 1"


def _words(name: str, categories: str) -> Column:
    return Column(name, categories=tuple(categories.split()))


def _codes(name: str, letter: str, first: int, last: int) -> Column:
    return Column(name, categories=tuple(f"{letter}{number}" for number in range(first, last + 1)))


def _bounded(names: str, bounds: Sequence[tuple[float, float]]) -> Fields:
    return tuple(Column(name, *pair) for name, pair in zip(names.split(), bounds, strict=True))


MAGIC: Final[Fields] = (
    # Ellipses in the camera of a Cherenkov telescope: millimetres, logarithm of photons, shares, and an angle in
    # degrees. The camera's size was not looked up: bounds of rado_domains, chosen with the data in sight.
    *_bounded("fLength fWidth fSize fConc fConc1 fAsym fM3Long fM3Trans fAlpha fDist", BOUNDS["magic"]),
    "label",
)

EEG: Final[Fields] = (
    # Microvolts on an offset of about 4,200 that the headset adds; swings of more than a few hundred are movements or
    # errors of sensors. Bounds of rado_domains, chosen with the data in sight.
    *_bounded("AF3 F7 F3 FC5 T7 P7 O1 O2 P8 T8 FC6 F4 F8 AF4", BOUNDS["eeg"]),
    "label",
)

TRANSFUSION: Final[Fields] = (
    # Months since the last gift, gifts, 250 ml each, months since the first: eight years of a donor service.
    *_bounded("recency frequency monetary time", BOUNDS["transfusion"]),
    "label",
)

BANKNOTE: Final[Fields] = (
    # Statistics of wavelet coefficients, without units: bounds of rado_domains, chosen with the data in sight.
    *_bounded("variance skewness curtosis entropy", BOUNDS["banknote"]),
    "label",
)

IONOSPHERE: Final[Fields] = (
    # Real and imaginary parts of autocorrelations, normalised to [-1, 1]; the description calls all of them continuous.
    *(Column(f"{part} {pulse}", -1.0, 1.0) for pulse in range(1, 18) for part in ("real", "imaginary")),
    "label",
)

SONAR: Final[Fields] = (
    # "Each pattern is a set of 60 numbers in the range 0.0 to 1.0": energies in frequency bands.
    *(Column(f"band {number}", 0.0, 1.0) for number in range(1, 61)),
    "label",
)

BREAST_CANCER: Final[Fields] = (
    "dropped",  # the sample's id
    # Nine properties of cells that a pathologist graded on a scale of 1 to 10.
    *(
        Column(name, 1.0, 10.0)
        for name in (
            *("clump thickness", "uniformity of cell size", "uniformity of cell shape", "marginal adhesion"),
            *("single epithelial cell size", "bare nuclei", "bland chromatin", "normal nucleoli", "mitoses"),
        )
    ),
    "label",
)

WDBC: Final[Fields] = (
    # The schema's bounds are the ranges that the description prints, moved outward to one significant digit.
    *("dropped", "label"),  # the patient's id, the diagnosis
    *columns_of(packaged_schema("breast_cancer")),
)

FERTILITY: Final[Fields] = (
    # The description gives every code. Seasons and yes or no are categories; fevers (in the last three months, longer
    # ago, none), drinks, smoking (never, at times, daily) and hours sitting have an order; age is 18 to 36 on [0, 1].
    _words("season", "-1 -0.33 0.33 1"),
    Column("age", 0.0, 1.0),
    *(_words(name, YES_NO) for name in ("childish diseases", "accident or trauma", "surgery")),
    Column("fevers", -1.0, 1.0),
    Column("alcohol", 0.0, 1.0),
    Column("smoking", -1.0, 1.0),
    Column("sitting", 0.0, 1.0),
    "label",
)

HABERMAN: Final[Fields] = (
    # Years of life; "a study that was conducted between 1958 and 1970"; an armpit holds some tens of lymph nodes.
    Column("age", 0.0, 100.0),
    Column("year of operation", 58.0, 70.0),
    Column("positive nodes", 0.0, 60.0),
    "label",
)

PIMA: Final[Fields] = (
    # Count; mg/dl two hours after glucose; mm Hg; mm of a skin fold; mu U/ml of insulin; kg/m²; a score of relatives
    # with diabetes, of the order of 1; years, "at least 21". Zeros that stand for missing values are left zeros.
    Column("pregnancies", 0.0, 20.0),
    Column("glucose", 0.0, 250.0),
    Column("blood pressure", 0.0, 150.0),
    Column("skin fold", 0.0, 100.0),
    Column("insulin", 0.0, 1_000.0),
    Column("body mass index", 0.0, 80.0),
    Column("pedigree", 0.0, 3.0),
    Column("age", 21.0, 100.0),
    "label",
)

GERMAN_CREDIT: Final[Fields] = (
    # Codes of german.doc, A47 and A95 included, which no record has. Seven years and DM 20,000 are round numbers for
    # consumers' credits, chosen with the data in sight; instalments in per cent of income, years at the address,
    # credits at this bank and dependants are classes with an order, numbered 1 to 4 or 1 to 2.
    _codes("checking account", "A1", 1, 4),
    Column("months", 0.0, 84.0),
    _codes("credit history", "A3", 0, 4),
    _codes("purpose", "A4", 0, 10),
    Column("amount", 0.0, 20_000.0),
    _codes("savings", "A6", 1, 5),
    _codes("employment", "A7", 1, 5),
    Column("instalment rate", 1.0, 4.0),
    _codes("status and sex", "A9", 1, 5),
    _codes("other debtors", "A10", 1, 3),
    Column("residence", 1.0, 4.0),
    _codes("property", "A12", 1, 4),
    Column("age", 18.0, 100.0),
    _codes("other plans", "A14", 1, 3),
    _codes("housing", "A15", 1, 3),
    Column("credits", 1.0, 4.0),
    _codes("job", "A17", 1, 4),
    Column("dependants", 1.0, 2.0),
    _codes("telephone", "A19", 1, 2),
    _codes("foreign worker", "A20", 1, 2),
    "label",
)

AUSTRALIAN_CREDIT: Final[Fields] = (
    # "Attribute names and values have been changed to meaningless symbols": categories are those of australian.doc,
    # bounds round numbers chosen with the data in sight. Those of A13 and A14 leave out a few large values.
    _words("A1", YES_NO),
    Column("A2", 0.0, 100.0),
    Column("A3", 0.0, 30.0),
    _codes("A4", "", 1, 3),
    _codes("A5", "", 1, 14),
    _codes("A6", "", 1, 9),
    Column("A7", 0.0, 30.0),
    _words("A8", YES_NO),
    _words("A9", YES_NO),
    Column("A10", 0.0, 100.0),
    _words("A11", YES_NO),
    _codes("A12", "", 1, 3),
    Column("A13", 0.0, 1_000.0),
    Column("A14", 0.0, 20_000.0),
    "label",
)

TIC_TAC_TOE: Final[Fields] = (
    # A player's mark, or blank.
    *(_words(f"{row} {side}", "x o b") for row in ("top", "middle", "bottom") for side in ("left", "middle", "right")),
    "label",
)

HOUSE_VOTES: Final[Fields] = (
    "label",
    # Yea, nay, or neither, which the description says is no missing value.
    *(
        _words(name, "y n ?")
        for name in (
            *("handicapped infants", "water project", "budget resolution", "physician fee freeze", "el salvador aid"),
            *("religion in schools", "satellite test ban", "nicaraguan contras", "mx missile", "immigration"),
            *("synfuels cutback", "education spending", "superfund right to sue", "crime", "duty free exports"),
            "south africa exports",
        )
    ),
)

MAMMOGRAPHIC: Final[Fields] = (
    # The first field is a physician's assessment, which the description calls non-predictive: it is a guess at the
    # label. Years of life; shapes and margins are nominal, density is graded from 1 (high) to 4 (fat).
    "dropped",
    Column("age", 0.0, 100.0),
    _words("shape", "1 2 3 4 ?"),
    _words("margin", "1 2 3 4 5 ?"),
    Column("density", 1.0, 4.0),
    "label",
)

PARKINSONS: Final[Fields] = (
    # Pitch of voices lies between 50 and 600 Hz. Jitter and shimmer are relative changes from cycle to cycle, a few
    # per cent and some ten per cent (DDP and DDA are three times RAP and APQ3), the absolute one in seconds; ratios of
    # noise to harmonics, and the inverse in decibels; entropies of 0 to 1, an exponent of 1/2 (noise) to 1, and a
    # dimension of few. Round numbers, those of jitter, shimmer and spread chosen with the data in sight.
    "dropped",  # the recording's name, and in it the person's
    *(Column(name, 50.0, 600.0) for name in ("pitch", "highest pitch", "lowest pitch")),
    Column("jitter", 0.0, 0.05),
    Column("absolute jitter", 0.0, 0.0005),
    Column("RAP", 0.0, 0.03),
    Column("PPQ", 0.0, 0.03),
    Column("DDP", 0.0, 0.09),
    Column("shimmer", 0.0, 0.2),
    Column("shimmer dB", 0.0, 2.0),
    Column("APQ3", 0.0, 0.1),
    Column("APQ5", 0.0, 0.1),
    Column("APQ", 0.0, 0.2),
    Column("DDA", 0.0, 0.3),
    Column("NHR", 0.0, 0.5),
    Column("HNR", 0.0, 40.0),
    "label",
    Column("RPDE", 0.0, 1.0),
    Column("DFA", 0.5, 1.0),
    Column("spread1", -10.0, 0.0),
    Column("spread2", 0.0, 1.0),
    Column("D2", 0.0, 5.0),
    Column("PPE", 0.0, 1.0),
)

SKIN: Final[Fields] = (*(Column(name, 0.0, 255.0) for name in ("blue", "green", "red")), "label")
"""A byte each."""

CLAVE: Final[Fields] = (*(_words(f"pulse {number}", YES_NO) for number in range(1, 17)), *("label",) * 4)
"""A note starts or none does, in each of 16 sixteenths; the class is one of four, one-hot."""
