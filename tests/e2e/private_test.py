#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Private tasks with real processes: what happens to their keys, pieces and results when somebody lies, is late, or loses a disk.

    private_test.py BIN SOURCE

A task whose training diverges ends, with a sealed file for the state after it. Of a second task one verifier asks a node that lies
about the key: it reports nothing and says so. A committee finds the task available by pieces of sealed files; most of its seats are an
account's that was given no key. The solver keeps the result, which is paid for, loses its home, recovers it from a store, and
shows a piece. The submitter opens the result. Prints what it did; exits 1 and says what is wrong otherwise.
"""
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from lying_node_e2e import Proxy  # noqa: E402
from place import ASSAY, SOURCE, WORKER, check, free_port, make_chain, run, until  # noqa: E402

ASY = 10**9
FEE = ASY // 2
# Whoever asks the lying node misses its verdicts, so everybody waits for the whole time to commit.
PARAMS = dict(challenge_blocks=40, commit_blocks=500, share_blocks=600, dispute_clock_blocks=1_200, attest_blocks=1_000,
              retention_shows=1, retention_show_blocks=400)


class Lies:
    """What the node of one verifier says of a private task: another key of the checkpoints than the chain has."""

    def __init__(self, place):
        self.proxy = Proxy(place.node)
        self.task, self.told = None, 0
        self.proxy.lie = self.lie

    def lie(self, method, params, answer):
        if method == "task_get" and params.get("task") == self.task and "result" in answer:
            key = answer["result"]["privacy"]["checkpoint_key"]
            if key:
                self.told += 1
                answer["result"]["raw"] = answer["result"]["raw"].replace(key, key[::-1] if key[::-1] != key else "ab" * 32)
        return answer


def make_account(place, name, role, coins):
    account = place.assay("keys", "new", name)["account"]
    place.assay("account", "send", account, f"{coins} ASY", "--from", "bank")
    place.assay("stake", "bond", role, f"{coins - 5} ASY", "--from", name)
    return account


def start_worker(place, mode, name, node=None, *more):
    command = [WORKER, mode, "--home", place.root / name, "--key", place.root / "me/keys" / f"{name}.json", "--node", node or place.node,
               "--allow-private-addresses", "--progress", "json", *more]
    return place.start(name, command, "assay-worker ready")


def start_solver(place):
    return start_worker(place, "solve", "solver", None, "--publish", f"dir:{place.root / 'copies'}")


def too_large(points):
    """Coordinates by which the second step overflows, not the first: a solver declines what diverges there."""
    data = bytearray(points.read_bytes())
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    first, end = json.loads(data[8:begin])["inputs"]["data_offsets"]
    data[begin + first:begin + end] = struct.pack("<f", 1e15) * ((end - first) // 4)
    points.write_bytes(data)


def submit(place, location, name, change, change_data=None):
    """The example, private and changed, whose keys are shared with the solver that is drawn."""
    directory = place.root / name
    shutil.copytree(SOURCE / "examples/mlp", directory)
    file = directory / "task.toml"
    file.write_text("private = true\n" + change(file.read_text()))
    if change_data:
        change_data(directory / "points.safetensors")
    task = place.assay("task", "submit", directory, "--store", place.root / "store", "--location", f"http://{location}", "--from", "bank")["task"]
    shared = place.assay("task", "share-keys", task, "--from", "bank")
    check(len(shared["shared"]) == 1 and shared["state"] in ("training", "completed"), shared)
    return task


def events_of(place, task, *names):
    history = place.assay("task", "history", task, "--limit", "10000")
    return [record for record in history["records"] if record["event"] in names]


def diverge(place, location):
    """PRV-6: the state after a training that diverged is sealed too, and verifiers read it."""
    task = submit(place, location, "diverging", lambda text: text, too_large)
    until("the end of the task that diverges", lambda: place.state(task) in ("settled", "convicted", "expired"))
    found = events_of(place, task, "diverged")
    check(len(found) == 1 and len(found[0]["sealed"]["root"]) == 64 and found[0]["sealed"]["size"] > 1_000, found)
    last = place.assay("task", "status", task)["checkpoints"][-1]
    check(last["sealed"] == found[0]["sealed"], last)
    verdicts = events_of(place, task, "verdict_published")
    check(verdicts and all(verdict["accepts"] for verdict in verdicts), verdicts)
    check(not events_of(place, task, "slashed"), "somebody lost stake by a training that diverged")
    print(f"a training diverged in step {found[0]['step']}, and its sealed state was verified")


def readers_of(place, task):
    return {share["to"] for event in events_of(place, task, "keys_shared") for share in event["shares"]}


def judge(place, location, lies, fooled, newcomer_name):
    """A reader at a lying node reports nothing, and others judge in its place, by pieces that they check without a key."""
    change = lambda text: f'retention_blocks = {3 * PARAMS["retention_show_blocks"]}\nretention_fee = "{FEE / ASY} ASY"\n' + text  # noqa: E731
    task = submit(place, location, "task", change)
    lies.task = task
    until("the shares of the verifiers", lambda: len(events_of(place, task, "keys_shared")) >= 2)
    drawn = {event["verifier"] for event in events_of(place, task, "verifier_drawn")}
    check(fooled in drawn, f"the verifier at the lying node was not drawn: {drawn}")
    log = place.root / "fooled.log"
    until("what the verifier at the lying node says of it", lambda: '"event":"unproven"' in log.read_text())
    told = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    check([event["what"] for event in told if event["event"] == "unproven"] == ["of keys"], told)
    check(any(event["event"] == "trouble" and "Give --node another one" in event["reason"] for event in told), told)
    check(not any(event["event"] in ("wrong_keys", "wrong_chunk", "commit") and event.get("task") == task for event in told), told)
    share = next(share for event in events_of(place, task, "keys_shared") for share in event["shares"] if share["to"] == fooled)
    check(not any(share["of_task"] in tx or share["of_checkpoints"] in tx for tx in lies.proxy.submitted), "a right share was revealed")
    check(lies.told > 0, "the node told no lie")
    newcomer = make_account(place, newcomer_name, "verifier", 30_005)
    start_worker(place, "verify", newcomer_name)
    until("an attestation of the newcomer", lambda: any(event["actor"] == newcomer for event in events_of(place, task, "attested")))
    attested_at = next(event["height"] for event in events_of(place, task, "attested") if event["actor"] == newcomer)
    given = [event["height"] for event in events_of(place, task, "keys_shared") if any(share["to"] == newcomer for share in event["shares"])]
    check(not given or min(given) > attested_at, "the newcomer was given keys before it attested")
    until("the settlement", lambda: place.state(task) == "kept")
    check(newcomer in readers_of(place, task), "the newcomer was not drawn in the place of the verifier at the lying node")
    reasons = {event["reason"] for event in events_of(place, task, "slashed")}
    check(reasons <= {"missed_verdict", "unserved"}, f"somebody lost stake for something else than the missing verdicts: {reasons}")
    print("a verifier at a lying node revealed nothing; a committee found the task available without a key; others judged it")
    return task


def keep(place, task, solver_process):
    """The solver's home is gone: the sealed result comes back from the store, is shown, and earns the fee."""
    os.kill(solver_process.pid, signal.SIGKILL)
    solver_process.wait()
    shutil.rmtree(place.root / "solver")
    command = [WORKER, "recover", "--home", place.root / "solver", "--key", place.root / "me/keys/solver.json", "--node", place.node,
               "--allow-private-addresses", "--patience", "5", "-o", "json"]
    done = subprocess.run([str(word) for word in command], env=place.environment, capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL)
    check(done.returncode == 0, f"recover ended with {done.returncode}: {done.stdout}{done.stderr}")
    found = json.loads(done.stdout)["tasks"]
    check([each["task"] for each in found] == [task] and found[0]["kept"] == found[0]["posted"] == 1, found)
    root = place.assay("task", "status", task)["checkpoints"][-1]["sealed"]["root"]
    check((place.root / "solver/store" / root).exists(), "the sealed result is not in the home")
    start_solver(place)
    until("the end of the keeping", lambda: place.state(task) == "settled")
    check([event["is_whole"] for event in events_of(place, task, "keeping_ended")] == [True], "the result was not shown")
    check(len(events_of(place, task, "result_shown")) == 1, "not one piece was shown")
    print("the solver's home was lost, and the sealed result came back, was shown and earned its fee")
    return root


def open_result(place, task, root):
    """Sealed files are fetched by their roots, and opened by the submitter alone."""
    copies = f"dir:{place.root / 'copies'}"
    got = place.assay("store", "get", root, "--sealed", "--from", copies, "--store", place.root / "got")
    check(got["is_sealed"] and pathlib.Path(got["file"]).name == root, got)
    again = place.assay("store", "get", root, "--sealed", "--from", "dir:/nowhere", "--store", place.root / "got")
    check(again["size_bytes"] == got["size_bytes"], "what is there was fetched again")
    wrong = place.assay("store", "get", root, "--from", copies, "--store", place.root / "plain", fails=True)["error"]
    check(wrong["name"] == "mismatch" and "--sealed" in json.dumps(wrong), wrong)
    damaged = place.root / "damaged"
    damaged.mkdir()
    data = bytearray(pathlib.Path(got["file"]).read_bytes())
    data[len(data) // 2] ^= 1
    (damaged / root).write_bytes(data)
    error = place.assay("store", "get", root, "--sealed", "--from", f"dir:{damaged}", "--store", place.root / "other", fails=True)["error"]
    check(error["name"] == "mismatch", error)
    both = place.assay("store", "get", root, "--sealed", "--from", f"dir:{damaged}", "--from", copies, "--store", place.root / "other")
    check(pathlib.Path(both["file"]).read_bytes() == pathlib.Path(got["file"]).read_bytes(), "the damaged file was taken")
    # What is damaged on this disk is not taken either.
    pathlib.Path(got["file"]).write_bytes(data)
    place.assay("store", "get", root, "--sealed", "--from", copies, "--store", place.root / "got")
    check(pathlib.Path(got["file"]).read_bytes() != bytes(data), "a damaged file in the store was taken")
    state_root = place.assay("task", "status", task)["checkpoints"][-1]["state_root"]
    opened = place.assay("task", "fetch", task, "--from", "bank", "--out", place.root / "opened.safetensors")
    check(opened["state_root"] == state_root and opened["verified"], opened)
    place.assay("store", "get", root, "--sealed", "--from", copies, "--store", place.root / "store")
    place.assay("task", "fetch", task, "--from", "bank", "--store", place.root / "store", "--out", place.root / "local.safetensors")
    check((place.root / "local.safetensors").read_bytes() == (place.root / "opened.safetensors").read_bytes(), "two openings differ")
    check((place.root / "store" / root).exists(), "the sealed file is not in the submitter's store any more")
    place.assay("task", "fetch", task, "--from", "solver", "--out", place.root / "not.safetensors", fails=True)
    check(not (place.root / "not.safetensors").exists(), "somebody else opened the result")
    print("the submitter opened the result, from the solver's copy and from its own store; nobody else did")


def play(place):
    make_chain(place, **PARAMS)
    make_account(place, "solver", "solver", 2_005)
    make_account(place, "verifier", "verifier", 1_005)
    # Its stake is so much that it is drawn, and less than that of who comes later, so that it decides no committee.
    fooled = make_account(place, "fooled", "verifier", 3_005)
    (place.root / "copies").mkdir()
    location = f"127.0.0.1:{free_port()}"
    place.start("store", [ASSAY, "--home", place.root / "me", "task", "serve", "--store", place.root / "store", "--listen", location], location)
    start_worker(place, "verify", "verifier")
    lies = Lies(place)
    start_worker(place, "verify", "fooled", lies.proxy.address())
    solver, _ = start_solver(place)
    diverge(place, location)
    task = judge(place, location, lies, fooled, "newcomer")
    open_result(place, task, keep(place, task, solver))


if __name__ == "__main__":
    sys.exit(run("private", play))
