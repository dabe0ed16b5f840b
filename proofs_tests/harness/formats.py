"""Reports for other programs: JUnit's XML for CI systems, SARIF 2.1.0 for code hosts.

Both also tell of checks that could not be made, as the messages in `errors`.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from importlib import metadata
from typing import Final
from urllib.parse import quote

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


def junit(found: Sequence[Located], suite: str = "exchequer audit", errors: Sequence[str] = ()) -> str:
    """Reports as JUnit's XML: a test case each; a refuted claim is a failure, one not understood is skipped.

    found: the reports, and where each was made.  suite: the name of the test suite.  errors: what failed to run.
    """
    head = {
        "name": suite,
        "tests": str(len(found) + len(errors)),
        "failures": str(sum(each.report.refuted for each in found)),
        "errors": str(len(errors)),
        "skipped": str(sum(each.report.verdict == "not understood" for each in found)),
        "time": f"{sum(each.report.seconds for each in found):.3f}",
    }
    root = ET.Element("testsuites")
    cases = ET.SubElement(root, "testsuite", head)
    for report in (each.report for each in found):
        about = {"classname": suite, "time": f"{report.seconds:.3f}"}
        case = ET.SubElement(cases, "testcase", {"name": _printable(f"{report.subject}: {report.claimed}"), **about})
        if report.refuted:
            failure = ET.SubElement(case, "failure", {"message": report.statement, "type": "ClaimViolated"})
            failure.text = _printable(str(report))
        else:
            if report.verdict == "not understood":
                ET.SubElement(case, "skipped", {"message": _printable(f"not understood: {report.not_understood}")})
            ET.SubElement(case, "system-out").text = _printable(str(report))
    for place, message in enumerate(errors):
        case = ET.SubElement(cases, "testcase", {"name": f"error {place + 1}", "classname": suite})
        ET.SubElement(case, "error", {"message": _printable(message)})
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


NO_XML: Final = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no place for: control characters, halves of surrogate pairs."""


def _printable(text: str) -> str:
    return NO_XML.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def sarif(found: Sequence[Located], errors: Sequence[str] = ()) -> dict[str, object]:
    """Reports as a SARIF log: "fail" for a refuted claim, "open" for one not understood, else "pass".

    found: the reports, and where each was made.  errors: what failed to run.
    """
    driver = {
        "name": "exchequer audit",
        "version": metadata.version("exchequer"),
        "rules": [{"id": RULE, "shortDescription": {"text": "What is lost must not be more than what is claimed."}}],
    }
    run: dict[str, object] = {"tool": {"driver": driver}, "results": [_result(each) for each in found]}
    if errors:
        told = [{"level": "error", "message": {"text": message}} for message in errors]
        run["invocations"] = [{"executionSuccessful": False, "toolExecutionNotifications": told}]
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def _result(each: Located) -> dict[str, object]:
    report = each.report
    place = {"uri": quote(each.file)} if each.file is not None else None
    region = {"physicalLocation": {"artifactLocation": place, "region": {"startLine": each.line}}}
    return {
        "ruleId": RULE,
        "kind": "fail" if report.refuted else "open" if report.verdict == "not understood" else "pass",
        "level": "error" if report.refuted else "none",
        "message": {"text": str(report)},
        **({"locations": [region]} if place else {}),
        "properties": report.as_dict(),
    }
