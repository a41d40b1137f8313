#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts old, wrong rules back, one at a time, and demands that a test finds each of them.

    mutants.py CHECKOUT FOLDER [NAME...]
    mutants.py --fits CHECKOUT

The first works on a copy of the checkout in FOLDER, which is kept for the next time. It builds the copy as it is, runs
every test that is to find a mutant, and demands that it passes; then it does the same with each mutant, and demands that
the test fails. The second only sees whether every mutant still has its place in the checkout: a mutant whose old text
does not occur exactly once in its file is an error, since the rule has moved and the table has to follow.
The mutants, what finds them and what they are about are in mutants_table.py.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # nothing is left behind in the checkout
from mutants_table import MUTANTS, NOT_APPLICABLE  # noqa: E402
import shard  # noqa: E402

IGNORED = shutil.ignore_patterns("build", ".git", "__pycache__")


def copy_tree(checkout, source):
    """Copies what differs, so that what was built before is built again only where it changed."""
    fresh = source.with_name("fresh")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(checkout, fresh, ignore=IGNORED, symlinks=True)
    wanted = {path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file()}
    if source.exists():
        for path in [p for p in source.rglob("*") if p.is_file()]:
            inner = path.relative_to(source)
            if inner.parts[0] != "build" and inner not in wanted:
                path.unlink()
    for inner in sorted(wanted):
        target = source / inner
        if not target.exists() or target.read_bytes() != (fresh / inner).read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(fresh / inner, target)
    shutil.rmtree(fresh)


def environment(source):
    env = dict(os.environ)
    env["CCACHE_BASEDIR"] = str(source)  # what the checkout itself compiled is found again
    env["CCACHE_NOHASHDIR"] = "1"
    return env


def build(source, targets):
    """None, or what the compiler said."""
    folder = source / "build" / "release"
    env = environment(source)
    if not (folder / "build.ninja").exists():
        subprocess.run(
            ["cmake", "--preset", "release", "-DASSAY_WITH_TORCH=OFF"],
            cwd=source, env=env, check=True, stdout=subprocess.DEVNULL)
    jobs = os.environ.get("ASSAY_MUTANT_JOBS", "1")
    done = subprocess.run(
        ["ninja", "-C", str(folder), f"-j{jobs}", *targets], env=env, capture_output=True, text=True)
    return None if done.returncode == 0 else done.stdout[-4000:]


def run(source, test):
    """The exit code, and what was found: the last line that says so."""
    folder = source / "build" / "release" / "tests"
    done = subprocess.run([str(folder / test[0]), *test[1:]], capture_output=True, text=True, cwd=folder)
    found = ""
    for line in done.stdout.splitlines() + done.stderr.splitlines():
        if re.search(r"law [123]|model / chain|^TEST CASE:|^[^ ]+:[0-9]+: |^test_simulation --seed", line):
            found = found or line.strip()
    return done.returncode, found


def mutated(source, mutant):
    """The mutant's files: their texts before and with the old rule."""
    texts = {}
    for path, old, new in mutant.edits:
        target = source / path
        before, text = texts.get(target) or 2 * (target.read_text(encoding="utf-8") if target.exists() else "",)
        if text.count(old) != 1:
            raise SystemExit(
                f"mutant '{mutant.name}': its old text occurs {text.count(old)} times in {path}, not once. "
                "Where the rule moved, move the mutant in mutants_table.py with it")
        texts[target] = (before, text.replace(old, new))
    return texts


def try_mutant(source, mutant):
    start = time.monotonic()
    texts = mutated(source, mutant)
    try:
        for target, (_, text) in texts.items():
            target.write_text(text, encoding="utf-8")
        complaint = build(source, [mutant.test[0]])
        if complaint:
            raise SystemExit(f"mutant {mutant.name} does not compile:\n{complaint}")
        code, found = run(source, mutant.test)
    finally:
        for target, (text, _) in texts.items():
            target.write_text(text, encoding="utf-8")
    return {"mutant": mutant, "code": code, "found": found, "seconds": time.monotonic() - start}


def is_found(row):
    return row["code"] != 0 and row["mutant"].expects in row["found"]


def show(rows):
    print(f"\n{'finding':8}{'mutant':36}{'result':9}{'seconds':>8}  found by")
    for row in rows:
        seed = re.search(r"--seed (\d+) \(([^)]*)\): (.*)", row["found"])
        by = f"seed {seed.group(1)}, {seed.group(2)}: {seed.group(3)}" if seed else f"{row['mutant'].test[0]}: {row['found']}"
        result = "found" if is_found(row) else "ESCAPED"
        print(f"{row['mutant'].finding:<8}{row['mutant'].name:36}{result:9}{row['seconds']:8.1f}  {by[:150]}")
    for finding, why in NOT_APPLICABLE:
        print(f"{finding:<8}no mutant: {why}")


def main():
    if sys.argv[1] == "--fits":
        for mutant in MUTANTS:
            mutated(pathlib.Path(sys.argv[2]), mutant)
            if any(word.startswith("--test-case=") and "," in word for word in mutant.test):
                raise SystemExit(f"{mutant.name}: doctest takes a comma for the end of a pattern, so this one finds no test")
        print(f"mutants: all {len(MUTANTS)} have their places")
        return 0
    checkout = pathlib.Path(sys.argv[1]).resolve()
    folder = pathlib.Path(sys.argv[2]).resolve()
    names = sys.argv[3:]
    mutants = [mutant for mutant in MUTANTS if not names or mutant.name in names]
    if len(mutants) != len(names or MUTANTS):
        raise SystemExit("no mutant has that name; there are " + ", ".join(m.name for m in MUTANTS))
    mutants = shard.take_share(mutants)
    source = folder / "source"
    folder.mkdir(parents=True, exist_ok=True)
    copy_tree(checkout, source)
    start = time.monotonic()
    complaint = build(source, sorted({mutant.test[0] for mutant in mutants}))
    if complaint:
        raise SystemExit(f"the checkout itself does not build:\n{complaint}")
    sound = 0
    tests = sorted({mutant.test for mutant in mutants})
    for test in tests:
        code, found = run(source, test)
        print(f"{' '.join(test)}: {'passes' if code == 0 else 'FAILS ' + found}", flush=True)
        sound += code == 0
    rows = []
    for mutant in mutants:
        rows.append(try_mutant(source, mutant))
        print(f"{mutant.name}: {'found' if is_found(rows[-1]) else 'ESCAPED'}", flush=True)
    show(rows)
    found = sum(is_found(row) for row in rows)
    print(f"mutants: {found} of {len(rows)} found, {sound} of {len(tests)} tests pass without one, "
          f"{time.monotonic() - start:.0f} s")
    return 0 if found == len(rows) and sound == len(tests) else 1


if __name__ == "__main__":
    sys.exit(main())
