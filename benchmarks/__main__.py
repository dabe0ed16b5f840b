"""`python -m benchmarks` lists the benchmarks; `python -m benchmarks NAME [--data DIR] [--out DIR]` runs one."""

import argparse
import importlib
from pathlib import Path

from benchmarks.report import Report, Reports

NAMES = {
    "boosted-trees": "the tables and figures of 001 on Adult, Cod-RNA and Mushroom, beside it (about 10 minutes)",
    "peers": "ours beside diffprivlib and interpret (about 20 minutes, can be resumed; extra `bench`)",
    "recommended": "PrivateBoostClassifier on the three sets, both adjacencies, beside PrivateGBDT (about 5 minutes)",
    "halfspaces": "halfspaces beside logistic regression and theory, with a figure (about 20 minutes; extra `bench`)",
    "rados": "rados: the tables of 000, honest costs, noise, hardness and speed (about 15 minutes)",
    "random-features": "random features: 004 beside ours, honest costs, fairness and speed (about 20 minutes)",
    "adult": "accuracy and AUC on Adult, twenty seeds, against the figures of the issue (about 1 minute)",
    "speed": "100 rounds on Adult against interpret's DP-EBM, same machine, same run (about 1 minute; extra `bench`)",
    "composition": "price of k rounds against the exact value, and the time it takes (about 20 seconds)",
    "selection": "private choice among 10^6 and, securely, among 326 candidates (about 10 seconds)",
    "ledger": "what a release costs over its sampling, from the 1st to the 1,000,000th entry (about a minute)",
    "durable": "a durable charge against a bare INSERT, and races for the last of a budget (about 5 minutes)",
    "verification": "10^5 and 10^6 entries verified, against hashing them once (about a minute)",
}


RESUMED = {"peers", "boosted-trees", "halfspaces"}
"""They keep measurements as CSV, or a figure, where the tables go, and take the path as a third argument."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", nargs="?", choices=sorted(NAMES))
    parser.add_argument("--data", help="folder with the real data sets; default: EXCHEQUER_DATA")
    parser.add_argument("--out", type=Path, default=Path("benchmark-results"), help="where the tables go")
    parser.add_argument("--quick", action="store_true", help="fewer repeats, for a first look")
    options = parser.parse_args()
    if options.name is None:
        for name, what in NAMES.items():
            print(f"{name:<15} {what}")
        return
    options.out.mkdir(parents=True, exist_ok=True)
    run = importlib.import_module(f"benchmarks.{options.name.replace('-', '_')}").run
    where = (options.out,) if options.name in RESUMED else ()
    report: Report | Reports = run(options.data, options.quick, *where)
    print(report)
    (options.out / f"{options.name}.md").write_text(str(report) + "\n", encoding="utf-8")
    raise SystemExit(0 if report.met else 1)


if __name__ == "__main__":
    main()
