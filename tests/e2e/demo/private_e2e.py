#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A demo of a private task: nothing that anybody is served has any of it in plain. And solvers that cheat those who judge them,
and a submitter that cheats solvers.

    private_e2e.py BIN
    private_e2e.py BIN tolerance
    private_e2e.py BIN wrong-keys|keys-withheld|wrong-chunk|wrong-shares
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import demo_e2e  # noqa: E402

WINDOW = 64
# Each window of 64 bytes contains a block of 32 that begins at a multiple of 32.
BLOCK = WINDOW // 2
# A block of few different bytes, such as zeros, is in other files as well.
DIFFERENT = 12
REASONS = {"wrong-keys": "wrong_keys", "keys-withheld": "keys_withheld", "wrong-chunk": "wrong_chunk"}


def blocks_of(data):
    """The blocks of a plaintext by which its windows are found."""
    found = (data[at:at + BLOCK] for at in range(0, len(data) - BLOCK + 1, BLOCK))
    return {block for block in found if len(set(block)) >= DIFFERENT}


def leaks(data, blocks):
    """Where `data` has one of the blocks."""
    return [at for at in range(len(data) - BLOCK + 1) if data[at:at + BLOCK] in blocks]


def check_scanner():
    """The scanner finds what it looks for, wherever it lies."""
    plain = bytes((7 * i * i + i // 3) % 251 for i in range(4096))
    blocks = blocks_of(plain)
    other = bytes((11 * i * i + i // 5) % 253 for i in range(1000))
    demo_e2e.check(not leaks(other, blocks), "the scanner finds what is not there")
    for at in (0, 1, 31, 77, 4096 - WINDOW):
        demo_e2e.check(leaks(other + plain[at:at + WINDOW] + other, blocks), f"the scanner misses a window at {at}")


def files_in(folders):
    """The files in these folders and those below them."""
    return [file for folder in folders for file in sorted(folder.rglob("*")) if file.is_file()]


def workers_of(network):
    """The homes of a demo's workers."""
    return sorted(home for home in network.iterdir() if (home / "journal.db").exists())


def check_no_plaintext(home):
    """The plain demo beside it had the same program, data and checkpoints: no window of them is in what is served."""
    plain_network = home / "plain" / "network"
    plain = files_in([home / "plain" / "submitter" / "store", plain_network / "solver-1" / "store"])
    demo_e2e.check(len(plain) >= 10, f"the plain demo has artifacts and checkpoints to look for: {plain}")
    blocks = set()
    for file in plain:
        blocks |= blocks_of(file.read_bytes())
    demo_e2e.check(len(blocks) > 1000, f"there is something to look for: {len(blocks)} blocks")
    workers = workers_of(home / "network")
    demo_e2e.check(len(workers) >= 4, f"who worked: {workers}")
    served = files_in([home / "submitter" / "store"] + [worker / part for worker in workers for part in ("store", "fetched", "losses")])
    sealed = sum(file.stat().st_size for file in served)
    demo_e2e.check(sealed > 100_000, f"what is served was looked through: {sealed} bytes in {len(served)} files")
    for file in served:
        found = leaks(file.read_bytes(), blocks)
        demo_e2e.check(not found, f"{file} has plaintext at {found[:3]}")
    for worker in workers:
        private = worker / "private"
        demo_e2e.check((private.stat().st_mode & 0o777) == 0o700, f"{private} is readable by others")
    kept = [file for file in files_in([worker / "private" for worker in workers]) if len(file.name) == 64]
    demo_e2e.check(not kept, f"what was opened stays after the task has ended: {kept}")


def run(binaries, folder, *options):
    """Runs the demo with a home of its own; its report, and what it told."""
    report = folder / "report.json"
    command = [str(binaries / "assay"), "demo", "--private", "--seed", "3", "--report", str(report), "--home", str(folder / "home"), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=800, check=False)
    demo_e2e.check(done.returncode == 0, f"the demo ended with {done.returncode}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return json.loads(report.read_text()), done.stdout


def check_refused(binaries):
    """What does not go together is refused before anything is started."""
    for options in (["--private", "--nat"], ["--private", "--fraud", "tile"], ["--fraud", "wrong-keys"]):
        command = [str(binaries / "assay"), "demo", *options, "-o", "json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        demo_e2e.check(done.returncode not in (0, 77) and "--private" in done.stdout + done.stderr, f"{options}: {done}")


def check_honest(report, story):
    """An honest private task ends as the public one does."""
    demo_e2e.check_shape(report)
    task, private = report["tasks"][0], report["private"]
    demo_e2e.check(task["state"] == "settled" and not report["disputes"], "an honest task must settle undisputed")
    demo_e2e.check(not demo_e2e.slash_reasons(task) and report["honest_lost"] == 0, "nobody may lose anything")
    demo_e2e.check(len(report["root"]) == 64 and report["root"] == report["plain_root"], "the root is not the plain demo's")
    demo_e2e.check(private["served_in_plain"] == [], f"{private['served_in_plain']}")
    demo_e2e.check(private["fetched"]["answer"]["state_root"] == report["root"] and private["fetched"]["bytes"] > 0, f"{private}")
    # Killed, it seals again what it had not kept.
    demo_e2e.check(private["solver_killed"] and private["sealed_checkpoints"] >= len(task["checkpoints"]) > 8, f"{private}")
    demo_e2e.check(private["readers"] >= 3, "the solver, verifiers and a watcher can read it")
    demo_e2e.check("shares the task's keys" in story, "the story was not told")


def check_wrong_shares(report, story):
    """Who was given other keys shows it and loses nothing; another draw follows, and the task settles."""
    task, private = report["tasks"][0], report["private"]
    demo_e2e.check(task["state"] == "settled" and not report["disputes"], f"the task ended {task['state']}")
    demo_e2e.check(not demo_e2e.slash_reasons(task) and report["honest_lost"] == 0, "nobody may lose anything")
    drawn = [event for event in task["history"] if event["event"] in ("solver_drawn", "keys_refused")]
    demo_e2e.check([event["event"] for event in drawn[:3]] == ["solver_drawn", "keys_refused", "solver_drawn"], f"{drawn}")
    demo_e2e.check(len(private["sharing"]["answer"]["shared"]) == 1 and private["served_in_plain"] == [], f"{private}")
    demo_e2e.check("shares keys that are not the task's" in story and "are not the task's" in story, "the story was not told")


def check_profiled(report):
    """Who measured the task had its key before there was a solver, and nothing of a checkpoint."""
    shared = report["private"]["sharing"]["answer"]["shared"]
    demo_e2e.check([each["solver"] is None for each in shared] == [True, False], f"first with profilers, then with the solver: {shared}")
    demo_e2e.check(shared[0]["readers"] == 4, f"{shared}")


def main():
    binaries = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as at:
        folder = pathlib.Path(at)
        if len(sys.argv) > 2:
            kind = sys.argv[2]
            if kind == "tolerance":
                report, story = run(binaries, folder, "--mode", "tolerance")
                check_honest(report, story)
                check_profiled(report)
                check_no_plaintext(folder / "home")
                return
            report, story = run(binaries, folder, "--fraud", kind)
            if kind == "wrong-shares":
                check_wrong_shares(report, story)
                return
            task = report["tasks"][0]
            demo_e2e.check(task["state"] == "convicted", f"the task ended {task['state']}")
            demo_e2e.check(set(demo_e2e.slash_reasons(task)) == {REASONS[kind]}, f"{demo_e2e.slash_reasons(task)}")
            return
        check_scanner()
        check_refused(binaries)
        check_honest(*run(binaries, folder))
        check_no_plaintext(folder / "home")


if __name__ == "__main__":
    main()
