#!/usr/bin/env python3
"""Adds up JUnit files: what failed with its output, what was skipped and why, and "N passed, N failed, N skipped".
A test of CTest that is a program of GoogleTest counts as many times as it has cases.

    junit_totals.py --details FILE...   everything; exit code 1 if anything failed
    junit_totals.py --one-line FILE...  the totals only
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

TAIL = 60  # lines shown of the output of a failed test


def outcome(case):
    """'passed', 'failed' or 'skipped', and why. CTest calls a test without its program skipped: here it failed."""
    skipped = case.find("skipped")
    said = case.findtext("system-out") or ""
    has_run = re.search(r"^\[  (PASSED|FAILED|SKIPPED) *\] [1-9]", said, re.M)
    if skipped is None and "[  PASSED  ] 0 tests." in said and not has_run:
        return "failed", "it has run no test"
    if case.find("failure") is not None or case.get("status") == "fail":
        return "failed", (case.find("failure").get("message") if case.find("failure") is not None else "") or ""
    if skipped is None and case.get("status") != "disabled":
        return "passed", ""
    why = (skipped.get("message") if skipped is not None else None) or "disabled"
    if case.get("status") == "notrun" and not why.startswith("SKIP_"):  # no program, a failed fixture
        return "failed", "not run: " + why
    return "skipped", " ".join(reasons(case)) or why


def reasons(case):
    """What the test itself said: the lines that GoogleTest prints between 'Skipped' and '[  SKIPPED ]'."""
    lines = (case.findtext("system-out") or "").splitlines()
    said = []
    for number, line in enumerate(lines):
        if line.endswith(": Skipped"):
            why = []
            for text in lines[number + 1:]:
                if text.startswith("["):
                    break
                why.append(text.strip())
            said.append(" ".join(filter(None, why)))
        elif line.startswith("SKIP: "):
            said.append(line.removeprefix("SKIP: "))
    return [why for why in dict.fromkeys(said) if why]


def counts(case, result):
    """How many passed, failed and were skipped. GoogleTest says "[  PASSED  ] 5 tests." at the end of each run."""
    text = case.findtext("system-out") or ""
    totals = {name: sum(map(int, re.findall(rf"^\[  {name.upper():<8}\] (\d+) tests?[.,]", text, re.M)))
              for name in ("passed", "failed", "skipped")}
    if result == "failed":
        totals["failed"] = max(totals["failed"], 1)
    elif result == "skipped":
        totals = {"passed": totals["passed"], "failed": 0, "skipped": max(totals["skipped"], 1)}
    else:  # also if a program that has to fail did
        totals = {"passed": max(totals["passed"], 0 if totals["skipped"] else 1), "failed": 0, "skipped": totals["skipped"]}
    return totals


def suites_of(file):
    """The suite of a file. One that cannot be read is a failure: what it would have said is not known."""
    try:
        suite = ElementTree.parse(file).getroot()
        if suite.tag != "testsuite" or not list(suite.iter("testcase")):
            raise ValueError("it has no test")
        return suite
    except (OSError, ValueError, ElementTree.ParseError) as error:
        suite = ElementTree.Element("testsuite", name=file)
        case = ElementTree.SubElement(suite, "testcase", name="results", status="run")
        ElementTree.SubElement(case, "failure", message=f"cannot be read: {error}")
        return suite


def main():
    form, files = sys.argv[1:2], sys.argv[2:]
    if form not in (["--details"], ["--one-line"]) or not files:
        sys.exit(__doc__)
    details = form == ["--details"]
    totals = {"passed": 0, "failed": 0, "skipped": 0}
    for suite in map(suites_of, files):
        for case in suite.iter("testcase"):
            result, why = outcome(case)
            its = counts(case, result)
            for name, number in its.items():
                totals[name] += number
            if result == "passed" and its["skipped"]:
                result, why = "skipped", f"{its['skipped']} of its cases: " + "; ".join(reasons(case))
            if not details or result == "passed":
                continue
            print(f"{result}: {suite.get('name')}: {case.get('name')}" + (f" ({why})" if why else ""))
            if result == "failed":
                for line in (case.findtext("system-out") or "").splitlines()[-TAIL:]:
                    print("    " + line)
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**totals))
    return 1 if totals["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
