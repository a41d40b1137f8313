#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A demo whose solver and verifiers are behind home routers, and a demo where there can be none.

    nat_e2e.py BIN

Prints "skipped: " and why where this machine gives no network namespaces.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import demo_e2e  # noqa: E402

AT_HOME = {"solver-1", "verifier-1", "verifier-2"}


def check_missing(binaries):
    """Without the programs that make routers the demo says which is missing, and ends as tests that are skipped do."""
    command = [str(binaries / "assay"), "demo", "--nat", "-o", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env={"PATH": "/nowhere", "HOME": "/nowhere"})
    error = json.loads(done.stdout)["error"]
    demo_e2e.check(done.returncode == 77 and error["name"] == "not_here", f"{done}")


def check_refused(binaries):
    """What does not go together is refused before anything is started."""
    command = [str(binaries / "assay"), "demo", "--nat", "--store", "directory", "-o", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    demo_e2e.check(done.returncode not in (0, 77) and "--nat" in done.stdout + done.stderr, f"{done}")


def check_report(report, story):
    demo_e2e.check_shape(report)
    task, nat = report["tasks"][0], report["nat"]
    demo_e2e.check(task["state"] == "settled" and not report["disputes"], "an honest task must settle undisputed")
    demo_e2e.check(not demo_e2e.slash_reasons(task) and report["honest_lost"] == 0, "nobody may lose anything")
    demo_e2e.check(len(report["root"]) == 64 and report["root"] == report["plain_root"], "the root is not the plain demo's")
    demo_e2e.check(set(nat["homes"]) == AT_HOME, f"who was at home: {nat['homes']}")
    for name, home in nat["homes"].items():
        demo_e2e.check(not home["is_reachable"], f"{name} was reached past its router")
        demo_e2e.check(home["registered"] >= 2, f"{name} did not come back to the relay: {home}")
    routers = {home["router"] for home in nat["homes"].values()}
    demo_e2e.check(len(routers) == len(AT_HOME), f"each has a router of its own: {routers}")
    demo_e2e.check(len(nat["locations"]) == len(task["checkpoints"]) > 8, "not every checkpoint was posted")
    demo_e2e.check(all(text.startswith("relay://203.0.113.254:") for text in nat["locations"]), f"{nat['locations'][:2]}")
    demo_e2e.check(nat["fetched"]["answer"]["state_root"] == report["root"] and nat["fetched"]["bytes"] > 0, f"{nat['fetched']}")
    demo_e2e.check(nat["relay"]["status"] == 0 and nat["relay"]["bytes"] > nat["fetched"]["bytes"], f"{nat['relay']}")
    demo_e2e.check("the relay is killed" in story, "the story was not told")


def main():
    binaries = pathlib.Path(sys.argv[1]).resolve()
    check_missing(binaries)
    check_refused(binaries)
    with tempfile.TemporaryDirectory() as at:
        folder = pathlib.Path(at)
        report = folder / "report.json"
        command = [str(binaries / "assay"), "demo", "--nat", "--seed", "3", "--report", str(report), "--home", str(folder / "home")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode == 77:
            print(f"skipped: {done.stderr.strip()}")
            return
        demo_e2e.check(done.returncode == 0, f"the demo ended with {done.returncode}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        check_report(json.loads(report.read_text()), done.stdout)


if __name__ == "__main__":
    main()
