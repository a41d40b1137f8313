#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Demos whose checkpoints lie in a store, and what they leave behind.

    store_e2e.py BIN directory|s3|ipfs [--chaos]

Prints "skipped: " and why where a server cannot be had.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent / "stores")]
import demo_e2e  # noqa: E402
import servers  # noqa: E402


def check_store(binaries, folder, kind, *faults):
    """Checkpoints in a store, with which verifiers judge a solver that has gone, or one that is killed and loses its disk."""
    if kind != "directory":
        try:
            {"s3": servers.versitygw, "ipfs": servers.ipfs_node}[kind](binaries.parent)
        except servers.Missing as missing:
            print(f"skipped: {missing}")
            return
    report, story = demo_e2e.run_demo(binaries, folder / "home", "--store", kind, *faults, patience_s=600)
    demo_e2e.check_shape(report)
    task, store = report["tasks"][0], report["store"]
    demo_e2e.check(task["state"] == "settled" and not report["disputes"], "an honest task must settle undisputed")
    demo_e2e.check(not demo_e2e.slash_reasons(task) and report["honest_lost"] == 0, f"nobody may lose anything: {demo_e2e.slash_reasons(task)}")
    demo_e2e.check(len(report["root"]) == 64 and report["root"] == report["plain_root"], "the root is not the plain demo's")
    demo_e2e.check(report["root"] == task["checkpoints"][-1]["state_root"], "the root is not the last checkpoint's")
    scheme = {"directory": "dir:", "s3": "s3://", "ipfs": "ipfs://bafkrei"}[kind]
    wanted = 2 if kind == "directory" else 1
    demo_e2e.check(all(len(names) == wanted and all(name.startswith(scheme) for name in names) for names in store["locations"]), f"{store}")
    demo_e2e.check(len(store["locations"]) == len(task["checkpoints"]) > 8, "not every checkpoint was published")
    verdicts = [event for event in task["history"] if event["event"] == "verdict_published"]
    demo_e2e.check(verdicts and all(verdict["accepts"] for verdict in verdicts), "a verifier rejected what is right")
    if faults:
        chaos = report["chaos"]
        solver, verifier = (next(r for r in chaos["recovered"] if (r["worker"] == "solver-1") == mine) for mine in (True, False))
        demo_e2e.check(solver["is_whole"] and solver["tasks"][0]["kept"] == solver["tasks"][0]["posted"] > 0, f"what was recovered: {solver}")
        demo_e2e.check(verifier["tasks"][0]["to_open"] > 0 and chaos["reopened"] > 0, f"no commitment was opened again: {chaos}")
        demo_e2e.check(min(chaos["kills"].values()) >= 4 and chaos["outages"] > 0, f"too little went wrong: {chaos}")
    else:
        left = store["solver_left_at"]
        committed = [event["height"] for event in task["history"] if event["event"] == "verdict_committed"]
        demo_e2e.check(committed and min(committed) >= left > 0, f"the solver left at {left}, verdicts came at {committed}")
    demo_e2e.check("the plain demo's" in story, "the story was not told")


def check_missing(binaries):
    """A demo that needs what this machine has not says so, and ends as tests that are skipped do."""
    command = [str(binaries / "assay"), "demo", "--store", "ipfs", "-o", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env={"PATH": "/nowhere", "HOME": "/nowhere"})
    error = json.loads(done.stdout)["error"]
    demo_e2e.check(done.returncode == 77 and error["name"] == "not_here" and "ASSAY_IPFS_API" in error["message"], f"{done}")


def main():
    check_missing(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as at:
        check_store(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(at), *sys.argv[2:])


if __name__ == "__main__":
    main()
