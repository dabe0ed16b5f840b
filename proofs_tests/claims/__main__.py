"""Write CLAIMS.md."""

from pathlib import Path

from proofs_tests.claims.registry import page

if __name__ == "__main__":
    (Path(__file__).parents[2] / "CLAIMS.md").write_text(page(), encoding="utf-8")
