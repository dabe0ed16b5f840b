"""Let the kit look at every mutant, and print what it found as Markdown: `python -m proofs_tests.mutants`."""

import sys
from collections.abc import Sequence

from proofs_tests.mutants import MUTANTS, Verdict, verdict


def by_method(verdicts: Sequence[Verdict]) -> str:
    """How many were killed by which method, in how many seconds."""
    lines = ["| method | mutants | killed | seconds |", "| --- | --- | --- | --- |"]
    for method in [*sorted({each.mutant.method for each in verdicts}), ""]:
        those = [each for each in verdicts if method in (each.mutant.method, "")]
        killed, seconds = sum(bool(each.said) for each in those), sum(each.seconds for each in those)
        lines.append(f"| {method or 'all'} | {len(those)} | {killed} | {seconds:.1f} |")
    return "\n".join(lines)


def survivors(verdicts: Sequence[Verdict]) -> str:
    """Those that live, with the reason."""
    lines = ["| survivor | why |", "| --- | --- |"]
    lines += [
        f"| {each.mutant.name} | {' '.join(each.mutant.survives.split())} |" for each in verdicts if not each.said
    ]
    return "\n".join(lines)


def everything(verdicts: Sequence[Verdict]) -> str:
    """Each mutant with what is wrong, its source, the verdict on it, and what was found of what was claimed."""
    lines = ["| mutant | what is wrong | source | verdict | method | s |", "| --- " * 6 + "|"]
    for each in verdicts:
        mutant = each.mutant
        cells = (mutant.name, mutant.reason, mutant.source, each.said or _unharmed(each), mutant.method)
        # A bar would end the cell.
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + f" | {each.seconds:.2f} |")
    return "\n".join(lines)


def _unharmed(each: Verdict) -> str:
    """What the kit says of one that lives."""
    return f"{'no verdict' if each.report is None else each.report.statement} (survives)"


def main() -> int:
    """Print the three tables; 1 where a mutant lives that nobody has explained."""
    verdicts = [verdict(mutant) for mutant in MUTANTS]
    sys.stdout.write("\n\n".join(part(verdicts) for part in (by_method, survivors, everything)) + "\n")
    return int(any(not each.said and not each.mutant.survives for each in verdicts))


if __name__ == "__main__":
    sys.exit(main())
