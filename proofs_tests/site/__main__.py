"""`python -m proofs_tests.site [OUT]`: builds the site into a folder, ./site by default; any warning is an error."""

import sys
from pathlib import Path

from proofs_tests.site.building import build

if __name__ == "__main__":
    out = Path(sys.argv[1] if len(sys.argv) > 1 else "site")
    status = build(out)
    if not status:
        sys.stderr.write(f"open {out / 'index.html'} in a browser; no server is needed\n")
    sys.exit(status)
