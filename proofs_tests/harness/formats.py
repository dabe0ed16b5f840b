"""Reports for other programs: JUnit's XML for CI systems, SARIF 2.1.0 for code hosts."""

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from importlib import metadata
from typing import Final

import attrs

from proofs_tests.harness.report import Report

RULE: Final = "privacy-claim"
"""The one rule of our SARIF results: a claim must not be below the loss."""


@attrs.frozen
class Located:
    """A report, and where what was checked is written.

    file: relative to where the check was started; None where nobody knows.  line: from 1.
    """

    report: Report
    file: str | None = None
    line: int = 1


def junit(found: Sequence[Located], suite: str = "exchequer audit") -> str:
    """An XML text with one test case per report; a refuted claim is a failure."""
    failures = sum(each.report.refuted for each in found)
    seconds = sum(each.report.seconds for each in found)
    head = {"name": suite, "tests": str(len(found)), "failures": str(failures), "errors": "0", "time": f"{seconds:.3f}"}
    root = ET.Element("testsuites")
    cases = ET.SubElement(root, "testsuite", head)
    for each in found:
        report = each.report
        about = {"name": f"{report.subject}: {report.claimed}", "classname": suite, "time": f"{report.seconds:.3f}"}
        case = ET.SubElement(cases, "testcase", about)
        if report.refuted:
            failure = ET.SubElement(case, "failure", {"message": report.statement, "type": "ClaimViolated"})
            failure.text = _printable(str(report))
        else:
            ET.SubElement(case, "system-out").text = _printable(str(report))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _printable(text: str) -> str:
    """XML has no place for control characters."""
    return "".join(letter if letter >= " " or letter in "\n\t" else f"\\x{ord(letter):02x}" for letter in text)


def sarif(found: Sequence[Located]) -> dict[str, object]:
    """A SARIF log with a result per report: "error" where a claim is refuted, else "pass"."""
    driver = {
        "name": "exchequer audit",
        "version": metadata.version("exchequer"),
        "rules": [{"id": RULE, "shortDescription": {"text": "What is lost must not be more than what is claimed."}}],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": [_result(each) for each in found]}],
    }


def _result(each: Located) -> dict[str, object]:
    report = each.report
    place = {"uri": each.file} if each.file is not None else None
    region = {"physicalLocation": {"artifactLocation": place, "region": {"startLine": each.line}}}
    return {
        "ruleId": RULE,
        "kind": "fail" if report.refuted else "pass",
        "level": "error" if report.refuted else "none",
        "message": {"text": str(report)},
        **({"locations": [region]} if place else {}),
        "properties": report.as_dict(),
    }
