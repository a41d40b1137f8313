#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the long tier, or a shard of it, and records the result.

    tools/long_tier.py [--shard INDEX/COUNT] [--round N] [--only REGEX] [--list] [--no-record] [--jobs N]

The long tier is every test with the label "long" of build/release, which has to be built. Of COUNT shards each takes every
COUNT-th of the tests, and of tests that go through seeds, files or mutants (label "sharded") its part, so that all shards
together run everything once. A round has seeds of its own: round 2 runs none that round 1 has. The variables ASSAY_SHARD
and ASSAY_ROUND tell the tests; with them a test that failed is run again as it was:

    ASSAY_SHARD=1/8 ASSAY_ROUND=1 ctest --preset release -R "^simulation: thousands of networks$"

What ran is recorded in docs/long-tier.json, one entry for each shard and test: when it ran last, on which commit, with what
result. A checkout with changes that are not committed is recorded as such. Exits with 1 where a test failed.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
RECORD = ROOT / "docs" / "long-tier.json"


def parse_shard(text):
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"INDEX/COUNT, such as 1/4, and not {text}")
    return int(match[1]), int(match[2])


def tests_of(shard):
    """Names of the tests that a shard runs."""
    if not (BUILD / "CTestTestfile.cmake").exists():
        sys.exit("long tier: build/release is not built; tools/quickstart.sh build builds it")
    listed = subprocess.run(["ctest", "--test-dir", str(BUILD), "--show-only=json-v1"], check=True, capture_output=True, text=True)
    whole, parted = [], []
    for test in json.loads(listed.stdout)["tests"]:
        labels = next((p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"), [])
        if "long" in labels:
            (parted if "sharded" in labels else whole).append(test["name"])
    index, count = shard
    return sorted(parted) + sorted(whole)[index - 1::count]


def git(*arguments):
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True).stdout.strip()


def commit():
    head = git("rev-parse", "HEAD") or "unknown"
    changed = [line for line in git("status", "--porcelain").splitlines() if not line.endswith(RECORD.name)]
    return head + (" with changes" if changed else "")


def run(name, options):
    """("passed", "failed" or "skipped: WHY", seconds) of one test."""
    environment = dict(os.environ, ASSAY_SHARD="%d/%d" % options.shard, ASSAY_ROUND=str(options.round))
    if options.jobs:
        environment["CTEST_PARALLEL_LEVEL"] = str(options.jobs)
    start = time.monotonic()
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        subprocess.run(
            ["ctest", "--test-dir", str(BUILD), "--output-on-failure", "-R", f"^{re.escape(name)}$", "--output-junit", report.name],
            env=environment, check=False)
        case = xml.etree.ElementTree.parse(report.name).getroot().find("testcase")
    seconds = round(time.monotonic() - start)
    if case is None:
        return "failed: CTest ran nothing", seconds
    if case.get("status") == "run":
        return "passed", seconds
    skipped = case.find("skipped")
    if skipped is not None and case.get("status") == "notrun":
        output = (case.findtext("system-out") or "").strip().splitlines()
        return "skipped: " + (output[-1] if output else skipped.get("message", "")), seconds
    return "failed", seconds


def record(entry):
    """Replaces what is known of the same test and shard."""
    known = json.loads(RECORD.read_text()) if RECORD.exists() else []
    key = (entry["test"], entry["shard"], entry["round"])
    known = [old for old in known if (old["test"], old["shard"], old["round"]) != key] + [entry]
    known.sort(key=lambda old: (old["test"], old["round"], [int(n) for n in reversed(old["shard"].split("/"))]))
    RECORD.write_text(json.dumps(known, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description="Runs the long tier, or a shard of it, and records the result.")
    parser.add_argument("--shard", type=parse_shard, default=(1, 1), metavar="INDEX/COUNT")
    parser.add_argument("--round", type=int, default=1, metavar="N", help="other seeds than those of other rounds")
    parser.add_argument("--only", type=re.compile, metavar="REGEX", help="tests whose names match")
    parser.add_argument("--list", action="store_true", help="say what would run")
    parser.add_argument("--no-record", action="store_true", help="leave docs/long-tier.json as it is")
    parser.add_argument("--jobs", type=int, metavar="N", help="for the tests that start others")
    options = parser.parse_args()
    names = [name for name in tests_of(options.shard) if options.only is None or options.only.search(name)]
    if options.list or not names:
        print("\n".join(names) or "long tier: no test has such a name")
        return 0 if names else 1
    failed = []
    for number, name in enumerate(names, 1):
        print(f"== {number}/{len(names)} {name}", flush=True)
        entry = {"test": name, "shard": "%d/%d" % options.shard, "round": options.round, "commit": commit(),
                 "date": datetime.date.today().isoformat(), "machine": f"{platform.machine()}, {os.cpu_count()} cores"}
        entry["result"], entry["seconds"] = run(name, options)
        print(f"== {name}: {entry['result']}, {entry['seconds']} s", flush=True)
        if entry["result"].startswith("failed"):
            failed.append(name)
        if not options.no_record:
            record(entry)
    print(f"long tier: {len(names)} tests, {len(failed)} failed" + "".join(f"\n  {name}" for name in failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
