#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy 14 with the checks of .clang-tidy, on all cores.

    run_tidy.py [--changed|--all|FILE...] [--jobs N] [--budget SECONDS]

--changed (what is meant where nothing is said) takes the sources that differ from the merge base with origin/main, or, on
main itself, from the commit before, and those not committed yet. A header is seen through the source of the same name, or
else through the first that includes it. --all takes everything, or one shard's part where ASSAY_SHARD is set.
After --budget seconds no further source is begun, and those that are left out are counted; they come in an order of chance.
The commands are those of the preset lint, which this configures in build/lint where it has not been. Exits with 1 where there
is a finding, and with 77 (skipped) where there is nothing to run: no clang-tidy-14, or no history that would say what has
changed.
"""
import concurrent.futures
import json
import math
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # nothing is left behind in the checkout
import shard  # noqa: E402
import sources  # noqa: E402

TOOL = "clang-tidy-14"
SKIPPED = 77
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build" / "lint"
ONCE = BUILD / "tidy"  # the commands with one for each source: clang-tidy would run all that it finds
FOLDERS = ("core", "contracts", "consensus", "client", "node", "verifier", "tools", "tests")


def configure():
    """The command of each source; what generates headers has been run."""
    commands = BUILD / "compile_commands.json"
    if not commands.exists():
        done = subprocess.run(["cmake", "--preset", "lint"], cwd=ROOT, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit("tidy: `cmake --preset lint` failed:\n" + done.stdout + done.stderr)
    subprocess.run(["cmake", "--build", str(BUILD), "--target", "generated_sources"], check=True, stdout=subprocess.DEVNULL)
    chosen = {}
    for entry in json.loads(commands.read_text()):
        path = pathlib.Path(entry["file"])
        if path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "build"):
            chosen.setdefault(path.relative_to(ROOT).as_posix(), entry)
    ONCE.mkdir(exist_ok=True)
    (ONCE / "compile_commands.json").write_text(json.dumps(list(chosen.values())))
    return set(chosen)


def changed_files():
    """(The files that differ, None) or (None, the reason why nobody knows)."""
    if not sources.is_checkout(ROOT):
        return None, "this is no Git checkout"
    head = sources.git(ROOT, "rev-parse", "HEAD")
    base = sources.git(ROOT, "merge-base", "HEAD", "origin/main")
    if base is None or base == head:
        base = sources.git(ROOT, "rev-parse", "--verify", "--quiet", "HEAD~1")
    if base is None:
        return None, "the history has no commit to compare with"
    listed = sources.git(ROOT, "diff", "--name-only", "-z", "--diff-filter=d", base.strip())
    fresh = sources.git(ROOT, "ls-files", "-z", "--others", "--exclude-standard")
    return sorted({name for name in (listed + fresh).split("\0") if name}), None


def source_of(header, known):
    """The source through which a header is seen, or None."""
    own = header.removesuffix(".hpp") + ".cpp"
    if own in known:
        return own
    include = re.compile(r"^#include <" + re.escape(header) + ">", re.MULTILINE)
    return next((name for name in sorted(known) if include.search((ROOT / name).read_text(encoding="utf-8"))), None)


def choose(arguments, known):
    """(The sources to look at, None) or (None, the reason why there are none)."""
    if "--all" in arguments:
        return sorted(known), None
    names, reason = [a for a in arguments if not a.startswith("--")], None
    if not names:
        names, reason = changed_files()
    if names is None:
        return None, reason
    chosen = {source_of(name, known) if name.endswith(".hpp") else name for name in names}
    return sorted(chosen & known), None


def look(name):
    """What clang-tidy finds in one source and in the project's headers that it includes."""
    # g++ knows warnings that clang does not. A header's finding is told with its source's.
    done = subprocess.run(
        [TOOL, "-p", str(ONCE), "--quiet", "--extra-arg=-Wno-unknown-warning-option",
         f"--header-filter=^{re.escape(str(ROOT))}/({'|'.join(FOLDERS)})/", str(ROOT / name)],
        cwd=ROOT, capture_output=True, text=True)
    return name, done.returncode, done.stdout.replace(str(ROOT) + "/", ""), done.stderr


def look_at_all(names, jobs, budget):
    """The findings, each once however many sources include its header, the sources that clang could not take whole, and
    how many were left out."""
    findings, partly, left_out = {}, [], 0
    end = time.monotonic() + budget
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for result in pool.map(lambda name: look(name) if time.monotonic() < end else None, names):
            if result is None:
                left_out += 1
                continue
            name, status, output, errors = result
            blocks = re.split(r"^(?=[^\s:]+:\d+:\d+: (?:error|warning): )", output, flags=re.MULTILINE)
            found = [block for block in blocks if re.match(r"[^\s:]+:\d+:\d+: ", block)]
            foreign = [block for block in found if block.startswith("/")]  # in headers of others
            if foreign:
                partly.append(name)
            for block in found:
                if block not in findings and block not in foreign:
                    findings[block] = name
                    print(block, end="", flush=True)
            if status != 0 and not found:
                findings[errors] = name
                print(f"{name}: {TOOL} failed\n{output}{errors}", flush=True)
    return findings, partly, left_out


def take_number(arguments, option, default):
    """The number behind an option, which is taken out of the arguments with it."""
    if option not in arguments:
        return default
    at = arguments.index(option)
    number = int(arguments[at + 1])
    del arguments[at:at + 2]
    return number


def main():
    arguments = sys.argv[1:]
    jobs = take_number(arguments, "--jobs", os.cpu_count())
    budget = take_number(arguments, "--budget", math.inf)
    if shutil.which(TOOL) is None:
        print(f"tidy: skipped, since {TOOL} is not installed (apt-get install {TOOL})")
        return SKIPPED
    names, reason = choose(arguments, configure())
    if names is None:
        print(f"tidy: skipped, since {reason}")
        return SKIPPED
    if "--all" in arguments:
        names = shard.take_share(names)
    start = time.monotonic()
    if budget < math.inf:
        random.shuffle(names)
    findings, partly, left_out = look_at_all(names, jobs, budget)
    print(f"tidy: {len(names) - left_out} sources, {len(findings)} findings, {time.monotonic() - start:.0f} s")
    if left_out:
        print(f"tidy: {left_out} sources were not looked at within {budget} s")
    if partly:
        print(f"tidy: seen in part only, since {TOOL} does not take a header of a library: " + ", ".join(partly))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
