"""Draws findings to be read, from json reports, always the same ones for the same seed.

usage: draw_findings.py [--count N] [--most N] [--seed TEXT] [--severity WORD,...] [--read TABLE] REPORT...

A REPORT is what `graphlint check --format json` wrote about one package or repository; the file's name without
.json is what the source is called (NAME@VERSION). Each finding has a rank that depends on the seed and on itself
only, so that findings that come or go leave the others where they were. Of each source at most --most are drawn.
With --read TABLE (docs/accuracy.md) only drawn findings without a verdict there are printed, and the last lines
count the verdicts of the drawn ones, by rule and severity.
"""

import argparse
import collections
import hashlib
import json
import pathlib
import re
import sys

VERDICT = re.compile(r"^\| `(?P<where>[^`]+:\d+)` \| (?P<code>GL\d+) \| (?P<verdict>true|false|unclear)\b")


def findings_of(report):
    """The findings of one report, as (where, code, severity, message)."""
    source = pathlib.Path(report).name.removesuffix(".json")
    for finding in json.loads(pathlib.Path(report).read_text(encoding="utf-8"))["findings"]:
        name = finding["filename"].removeprefix("./")
        cell = f"#{finding['cell']}" if finding["cell"] else ""
        where = f"{source}:{name}{cell}:{finding['location']['row']}"
        yield where, finding["code"], finding["severity"], finding["message"]


def rank(seed, finding):
    where, code = finding[:2]
    return hashlib.sha256(f"{seed} {where} {code}".encode()).digest()


def draw(findings, count, most, seed):
    """At most `count` findings, at most `most` of each source, lowest rank first."""
    drawn = []
    of_source = collections.Counter()
    for finding in sorted(set(findings), key=lambda finding: rank(seed, finding)):
        source = finding[0].split(":", 1)[0]
        if of_source[source] < most and len(drawn) < count:
            of_source[source] += 1
            drawn.append(finding)
    return drawn


def verdicts_of(table):
    verdicts = {}
    for line in pathlib.Path(table).read_text(encoding="utf-8").splitlines():
        if row := VERDICT.match(line):
            verdicts[row["where"], row["code"]] = row["verdict"]
    return verdicts


def print_counts(drawn, verdicts):
    counts = collections.defaultdict(collections.Counter)
    for where, code, severity, _ in drawn:
        verdict = verdicts.get((where, code), "unread")
        counts[code, severity][verdict] += 1
        counts["all", severity][verdict] += 1
        counts["all", "all"][verdict] += 1
    for (code, severity), count in sorted(counts.items()):
        print(f"{code} {severity}:", ", ".join(f"{number} {verdict}" for verdict, number in sorted(count.items())))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--most", type=int, default=10)
    parser.add_argument("--seed", default="graphlint")
    parser.add_argument("--severity", default="error,warning,info")
    parser.add_argument("--read")
    parser.add_argument("reports", nargs="+", metavar="REPORT")
    options = parser.parse_args()
    severities = options.severity.split(",")
    findings = [found for report in options.reports for found in findings_of(report) if found[2] in severities]
    drawn = draw(findings, options.count, options.most, options.seed)
    verdicts = verdicts_of(options.read) if options.read else {}
    for where, code, severity, message in sorted(drawn):
        if (where, code) not in verdicts:
            print(f"{where} {code} {severity}: {message}")
    if options.read:
        print_counts(drawn, verdicts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
