"""What was kept is still there as it was: files are added, and never written anew."""

import hashlib

from proofs_tests.old_files.frozen import FILES


def test_no_file_was_changed_or_taken_out() -> None:
    """kept.txt is what `sha256sum` prints in that folder; new files get new lines, and no line ever goes."""
    lines = (FILES / "kept.txt").read_text(encoding="ascii").splitlines()
    listed = {name: digest for digest, name in (line.split("  ") for line in lines)}
    there = {path.relative_to(FILES).as_posix(): path for path in FILES.rglob("*.?z")}
    assert there.keys() == listed.keys()
    assert len(listed) >= 121
    for name, path in there.items():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == listed[name], name
