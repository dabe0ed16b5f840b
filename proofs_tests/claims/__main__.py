"""`python -m proofs_tests.claims` writes CLAIMS.md and the stamps of the code behind it.

Where code changed behind a claim and its entry did not, it stops. If the entry is still true, say so:
`python -m proofs_tests.claims --still-true ID ...`.
"""

import argparse

from proofs_tests.claims import stamps
from proofs_tests.claims.registry import CLAIMS, page


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m proofs_tests.claims", description=__doc__)
    parser.add_argument(
        "--still-true", nargs="*", default=[], metavar="ID", help="entries read again and left as they are"
    )
    still_true = set(parser.parse_args().still_true)
    if not stamps.comparable():
        raise SystemExit(f"the stamps were made with Python {stamps.python_of_stamps()}: use that one")
    now = stamps.current(CLAIMS)
    unread = [name for name in stamps.unread(now, stamps.stored()) if name not in still_true]
    if unread:
        raise SystemExit(
            f"the code behind {', '.join(unread)} changed, their entries did not: read them again, and change them or "
            "name them after --still-true"
        )
    (stamps.ROOT / "CLAIMS.md").write_text(page(), encoding="utf-8")
    stamps.write(now)


if __name__ == "__main__":
    main()
