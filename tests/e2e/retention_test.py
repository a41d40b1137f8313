#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Results that a submitter pays for: one is kept by a solver whose disk was lost and whose store has a copy, one is gone.

    retention_test.py BIN SOURCE [recover]

A solver takes a task to its settlement and keeps its result. It is killed, and its files are deleted: `assay-worker recover` has the
result again in another home, and the solver goes on with its own and earns the fee. Of a second task the copy in the store is deleted
as well: `recover` says what that costs, and it loses the bond. With `recover` a second tile of the first task is asked for, after
the solver's whole home was deleted: it goes on with what `assay-worker recover` makes of the chain, the store and the key.
Prints what it did; exits 1 and says what is wrong otherwise.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from place import ASSAY, SOURCE, WORKER, check, free_port, make_chain, run, until  # noqa: E402

ASY = 10**9
FEE = ASY // 2
LOSES_HOME = "recover" in sys.argv[3:]
PARAMS = dict(challenge_blocks=40, retention_shows=2 if LOSES_HOME else 1, retention_show_blocks=160)
SHOWS = PARAMS["retention_shows"]


def make_account(place, role, coins):
    account = place.assay("keys", "new", role)["account"]
    place.assay("account", "send", account, f"{coins} ASY", "--from", "bank")
    place.assay("stake", "bond", role, f"{coins - 5} ASY", "--from", role)
    return account


def start_worker(place, mode, key, name, *more):
    command = [WORKER, mode, "--home", place.root / mode, "--key", place.root / "me/keys" / f"{key}.json", "--node", place.node,
               "--allow-private-addresses", "--progress", "json", *more]
    return place.start(name, command, "assay-worker ready")


def start_solver(place, name):
    return start_worker(place, "solve", "solver", name, "--publish", f"dir:{place.root / 'copies'}")


def recover(place, home, whole):
    """What `assay-worker recover` makes of an empty home: one task, in which the account keeps the result."""
    command = [WORKER, "recover", "--home", place.root / home, "--key", place.root / "me/keys/solver.json", "--node", place.node,
               "--allow-private-addresses", "--patience", "2", "-o", "json"]
    done = subprocess.run([str(word) for word in command], env=place.environment, capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL)
    check((done.returncode == 0) == whole, f"recover ended with {done.returncode}: {done.stdout}{done.stderr}")
    answer = json.loads(done.stdout)
    check(answer["is_whole"] == whole and len(answer["tasks"]) == 1, answer)
    found = answer["tasks"][0]
    check(found["state"] == "kept" and found["posted"] == 1 and found["kept"] == int(whole), found)
    check(bool(found["missing"]) == bool(found["lost"]) == (not whole), found)
    return found


def submit(place, location, blocks, seed):
    """The example with a result that is kept for `blocks` blocks."""
    directory = place.root / f"task-{seed}"
    shutil.copytree(SOURCE / "examples/mlp", directory)
    file = directory / "task.toml"
    file.write_text(f'seed = {seed}\nretention_blocks = {blocks}\nretention_fee = "{FEE / ASY} ASY"\n' + file.read_text())
    task = place.assay("task", "submit", directory, "--store", place.root / "store", "--location", f"http://{location}", "--from", "bank")
    return task["task"]


def events_of(place, task, *names):
    history = place.assay("task", "history", task)
    return [record for record in history["records"] if record["event"] in names]


def copies(place):
    return {file for file in (place.root / "copies").rglob("*") if file.is_file()}


def crash(place, worker, *gone):
    """Kills the solver, and deletes its files and those of `gone`."""
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()
    for name in ("store", "fetched"):
        shutil.rmtree(place.root / "solve" / name)
    for file in gone:
        file.unlink()


def keep_one(place, solver, location):
    """A result whose file is lost and whose copy is not: the solver earns the whole fee."""
    worker, _ = start_solver(place, "solver")
    task = submit(place, location, 3 * SHOWS * PARAMS["retention_show_blocks"], 1)  # time to start again
    until("the settlement of the first task", lambda: place.state(task) == "kept")
    shown = place.assay("task", "status", task)["retention"]
    check(shown["blocks"] and int(shown["fee"]) == FEE and shown["keeping"]["shows_due"] == SHOWS, shown)
    crash(place, worker)
    check(recover(place, "another", True)["task"] == task, "another task was recovered")
    check(recover(place, "another", True)["task"] == task, "a second call finds something else")
    worker, log = start_solver(place, "solver again")
    if LOSES_HOME:
        until("the first show", lambda: events_of(place, task, "result_shown"))
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
        shutil.rmtree(place.root / "solve")
        check(recover(place, "solve", True)["task"] == task, "another task was recovered")
        worker, _ = start_solver(place, "solver with another home")
    until("the end of the first task", lambda: place.state(task) == "settled")
    ended = events_of(place, task, "keeping_ended")
    check([event["is_whole"] for event in ended] == [True], ended)
    paid = [int(event["amount"]) for event in events_of(place, task, "paid") if event["reason"] == "retention"]
    check('"result_stored"' in log.read_text(), "the solver did not store its result again")
    check(len(paid) == SHOWS and sum(paid) == FEE - SHOWS * 350_000, f"the fee of {FEE} was paid in parts of {paid}")
    check(not events_of(place, task, "slashed"), "the solver that kept the result lost something")
    check(int(place.assay("account", "earnings", solver)["paid"]["retention"]) == sum(paid), "the earnings lack what it was paid")
    print(f"the first result came back from the store, was shown and earned {sum(paid)} grains")
    return worker


def lose_one(place, solver, location, worker):
    """A result of which no copy is left: the solver loses its bond."""
    before = copies(place)
    check(before, "nothing was published")
    task = submit(place, location, SHOWS * PARAMS["retention_show_blocks"], 2)
    until("the settlement of the second task", lambda: place.state(task) == "kept")
    crash(place, worker, *(copies(place) - before))
    lost = recover(place, "a third", False)
    check(lost["task"] == task and "RET-6" in lost["lost"][0], lost)
    start_solver(place, "solver without the result")
    until("the end of the second task", lambda: place.state(task) == "settled")
    ended = events_of(place, task, "keeping_ended")
    check([event["is_whole"] for event in ended] == [False], ended)
    slashed = [(event["reason"], int(event["amount"]), int(event["burned"])) for event in events_of(place, task, "slashed")]
    check(slashed == [("not_shown", FEE, FEE)], slashed)
    earned = place.assay("account", "earnings", solver)
    check(int(earned["slashed"]["not_shown"]) == FEE, earned)
    print(f"the second result was gone, and cost {FEE} grains")


def play(place):
    make_chain(place, **PARAMS)
    solver = make_account(place, "solver", 200)
    make_account(place, "verifier", 2105)
    (place.root / "copies").mkdir()
    start_worker(place, "verify", "verifier", "verifier")
    location = f"127.0.0.1:{free_port()}"
    place.start("store", [ASSAY, "--home", place.root / "me", "task", "serve", "--store", place.root / "store", "--listen", location], location)
    worker = keep_one(place, solver, location)
    lose_one(place, solver, location, worker)


if __name__ == "__main__":
    sys.exit(run("retention", play))
