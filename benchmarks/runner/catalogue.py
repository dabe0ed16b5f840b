"""The front page: every benchmark, what it reproduces, on which data, and how long it takes."""

from typing import Final

from benchmarks.data import OFFERED
from benchmarks.runner.suite import Benchmark

PAPER: Final = ("adult", "mushroom")
"""Of 001's three, those that OpenML has."""

DOMAINS: Final = tuple(name for name in OFFERED if name not in PAPER)

CATALOGUE: Final = (
    Benchmark(
        "boosted-trees",
        "boosted_trees",
        "The tables and figures of 001 (boosted 1-Rules and trees), the recommended learner, and what others reach.",
        "Adult, Cod-RNA, Mushroom.",
        10,
        PAPER,
    ),
    Benchmark(
        "halfspaces",
        "halfspaces",
        "003: error against records, margin, ε, flipped labels and dimension, beside what theory promises.",
        "made-up points with a margin; Adult, Cod-RNA, Mushroom.",
        8,
        PAPER,
    ),
    Benchmark(
        "rados",
        "rados",
        "000: its tables, the honest cost of its DP-FEAT, noise on rados and on edges, hardness, speed.",
        "twelve UCI domains, Adult, Mushroom.",
        10,
        (*PAPER, *DOMAINS),
    ),
    Benchmark(
        "random-features",
        "random_features",
        "004: its tables and figures, what its noise really costs, and solvers at a true ε.",
        "medical costs, wine quality.",
        10,
        ("wine-quality",),
    ),
    Benchmark(
        "fairness",
        "random_features",
        "004, Table 2 and excess risk by group, with and without the noise that makes them.",
        "medical costs, wine quality.",
        3,
        ("wine-quality",),
    ),
    Benchmark(
        "ledger",
        "ledgers",
        "Throughput, latency, growth and verification of the books, in memory, on SQLite and on PostgreSQL.",
        "none.",
        8,
    ),
    Benchmark(
        "ledger-readers",
        "ledgers",
        "What it takes to open, show, report on, state and verify a ledger of 10^6 entries, all of it or what is new.",
        "none.",
        3,
    ),
    Benchmark(
        "ledger-serve",
        "ledgers",
        "The served page over a ledger of 10^6 entries: 50 requests at once, memory, and what one more charge takes.",
        "none.",
        3,
    ),
    Benchmark(
        "verification-kit",
        "kit",
        "What the kit detects: mutants killed, the smallest miscalibration by samples, and the time it takes.",
        "none.",
        5,
    ),
    Benchmark(
        "audits",
        "kit",
        "Programs of foreign style, seen from their outputs: which mistakes are caught, and false alarms.",
        "none.",
        12,
    ),
    Benchmark(
        "foreign",
        "prices",
        "Spends of Opacus, OpenDP and diffprivlib: what they cost here over what their own accountants say.",
        "none.",
        2,
    ),
    Benchmark(
        "one-run",
        "kit",
        "What canaries in one fit prove of ε, by its outputs and by its releases, for every estimator of ours.",
        "none.",
        25,
    ),
    Benchmark(
        "hall",
        "kit",
        "The hall of audits: programs of other libraries against what their documentation claims; see AUDITS.md.",
        "none; the libraries, from a package registry.",
        20,
    ),
    Benchmark(
        "recordings",
        "kit",
        "Other libraries and our learners, their noise recorded and given back on a neighbour: what that refutes.",
        "none.",
        3,
    ),
    Benchmark(
        "records-alone",
        "speed",
        "What one record moves in a whole fit where its type used to change all others; reading and predicting alone.",
        "Adult; made-up tables.",
        3,
        ("adult",),
    ),
    Benchmark(
        "composition",
        "prices",
        "ε at δ under every rule of composition against the number of rounds, beside dp-accounting's PLD.",
        "none.",
        2,
    ),
    Benchmark(
        "peers",
        "peers",
        "Ours beside diffprivlib, interpret's DP-EBM, OpenDP and dp-accounting, side by side in one run.",
        "Adult, Cod-RNA, Mushroom.",
        15,
        PAPER,
    ),
    Benchmark(
        "leaderboard",
        "leaderboard",
        "Private learners on 30 tables at the same ε, δ, bounds and splits: ranks, distance to the ceiling, losses.",
        "all public tables; Friedman #1.",
        90,
        (*PAPER, *DOMAINS),
    ),
    Benchmark(
        "speed",
        "speed",
        "The hot paths against the bound of the machine, 100 rounds on Adult beside peers, and 10^7 records.",
        "Adult; made-up codes.",
        11,
        ("adult",),
    ),
    Benchmark(
        "blocks",
        "speed",
        "10^8 records from Parquet in bounded memory, what moves with Dask, and models that are the same everywhere.",
        "made-up codes; breast cancer.",
        8,
    ),
    Benchmark(
        "databases",
        "speed",
        "Training inside DuckDB, 10^8 records, and PostgreSQL, 10^7, beside Parquet and LightGBM on the same tables.",
        "made-up codes.",
        22,
    ),
)
