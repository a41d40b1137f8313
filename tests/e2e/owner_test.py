#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Workers that do duties with operators' keys while their owners' keys are elsewhere, and a rotation in the middle of a verdict.

    owner_test.py BIN SOURCE

A solver and a verifier take a task to its settlement. Once the verifier's operator has committed to a verdict its owner names
another key, and the worker goes on with that one, in the same home. Prints what it did; exits 1 and says what is wrong otherwise.
"""
import contextlib
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

BIN, SOURCE = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
ASSAY, ASSAYD, WORKER = (str(BIN / name) for name in ("assay", "assayd", "assay-worker"))
SECONDS_MAX = 240
# What ends as soon as everybody has answered is long, so that a busy machine is not late; the window is long enough to rotate in.
SHORT = dict(block_ms=50, challenge_blocks=200, accept_blocks=2_000, commit_blocks=2_000, publish_blocks=2_000, disclose_blocks=2_000,
             contribute_blocks=1_000)


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def until(what, look):
    deadline = time.monotonic() + SECONDS_MAX
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"{what} does not come")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Place:
    """A directory with a node, two homes of keys, and the processes that were started."""

    def __init__(self, root, stack):
        self.root, self.stack, self.node = root, stack, None
        self.environment = {**{k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")}, "ASSAY_PASSWORD": "only-for-this-test"}

    def start(self, name, command, ready):
        log = self.root / f"{name}.log"
        with open(log, "w", encoding="utf-8") as out:
            process = subprocess.Popen([str(word) for word in command], stdout=out, stderr=subprocess.STDOUT, env=self.environment,
                                       stdin=subprocess.DEVNULL, start_new_session=True)
        self.stack.callback(self.end, process)

        def said():
            check(process.poll() is None, f"{name} has ended: {log.read_text()}")
            return ready in log.read_text()
        until(f"{name}: {ready}", said)
        return process, log

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def assay(self, *words, home="me", fails=False):
        command = [ASSAY, "--home", self.root / home, "-o", "json", *(["--node", self.node] if self.node else []), *words]
        done = subprocess.run([str(word) for word in command], env=self.environment, capture_output=True, text=True, timeout=120,
                              stdin=subprocess.DEVNULL, start_new_session=True)
        check((done.returncode != 0) == fails, f"{words} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)


def make_chain(place):
    node = place.root / "node"
    subprocess.run([ASSAYD, "init", "--home", str(node)], check=True, capture_output=True, timeout=60)
    genesis = json.loads((node / "genesis.json").read_text())
    genesis["params"].update(SHORT)
    (node / "genesis.json").write_text(json.dumps(genesis))
    _, log = place.start("assayd", [ASSAYD, "start", "--home", node, "--rpc-port", "0", "--block-interval-ms", "50"], "assayd ready")
    place.node = re.search(r"rpc (\S+)", log.read_text()).group(1)
    place.assay("keys", "import", "bank", node / "node_key")


def make_owner(place, role, coins, operators):
    """An owner whose key is in the vault, and the keys of its operators, which have a coin each for fees. Returns its address."""
    owner = place.assay("keys", "new", role, home="vault")["account"]
    place.assay("account", "send", owner, f"{coins} ASY", "--from", "bank")
    place.assay("stake", "bond", role, f"{coins - 5} ASY", "--from", role, home="vault")
    for name in operators:
        address = place.assay("keys", "new", name)["account"]
        place.assay("account", "send", address, "1 ASY", "--from", "bank")
    return owner


def name_operator(place, role, name):
    address = place.assay("keys", "show", name)["account"]
    said = place.assay("operator", "name", address, "--from", role, home="vault")
    check(said["operator"] == address, said)
    return address


def start_worker(place, mode, key, owner):
    command = [WORKER, mode, "--home", place.root / mode, "--key", place.root / "me/keys" / f"{key}.json", "--owner", owner, "--node",
               place.node, "--allow-private-addresses"]
    return place.start(f"{mode}-{key}", command, f"account {owner}, operator assay1")


def history_of(place, owner):
    """What was done for the owner: (action, sender), in the order of the blocks."""
    txs = place.assay("account", "history", owner, "--limit", "100000")["txs"]
    return [(tx["action"], tx["sender"]) for tx in txs if tx["owner"] == owner and tx["status"] == "executed"]


def submit(place):
    location = f"127.0.0.1:{free_port()}"
    place.start("store", [ASSAY, "--home", place.root / "me", "task", "serve", "--store", place.root / "store", "--listen", location], location)
    return place.assay("task", "submit", SOURCE / "examples/mlp", "--store", place.root / "store", "--location", f"http://{location}",
                       "--from", "bank")["task"]


def play(place):
    make_chain(place)
    owners = {"solver": make_owner(place, "solver", 200, ["trainer"]),
              "verifier": make_owner(place, "verifier", 2105, ["first", "second"])}
    name_operator(place, "solver", "trainer")
    first = name_operator(place, "verifier", "first")
    start_worker(place, "solve", "trainer", owners["solver"])
    worker, _ = start_worker(place, "verify", "first", owners["verifier"])
    task = submit(place)
    until("a commitment", lambda: ("commit_verdict", first) in history_of(place, owners["verifier"]))
    second = name_operator(place, "verifier", "second")
    place.end(worker)
    print("the first operator has committed to a verdict; the second one goes on")
    refused = place.assay("account", "send", "bank", "1 ASY", "--from", "second", "--owner", owners["verifier"], fails=True)
    check("owner_only" in json.dumps(refused), refused)
    refused = place.assay("stake", "register", "verifier", "any", "--score", "1", "--from", "first", "--owner", owners["verifier"],
                          fails=True)
    check("not_operator" in json.dumps(refused), refused)
    start_worker(place, "verify", "second", owners["verifier"])
    until("the settlement", lambda: place.assay("task", "status", task)["state"] == "settled")
    for role, owner in owners.items():
        earned = place.assay("account", "earnings", owner)
        check(sum(map(int, earned["paid"].values())) > 0 and not earned["slashed"], f"{role}: {earned}")
        check(int(earned["fees"]) > 0, f"{role}: the owner paid for its own transactions: {earned}")
    done = history_of(place, owners["verifier"])
    check(("disclose_verdict", second) in done, f"the second operator disclosed no verdict: {done}")
    switch = min(i for i, (_, sender) in enumerate(done) if sender == second)
    check(all(sender == second for _, sender in done[switch:]), f"the first operator acted after the rotation: {done}")
    shown = place.assay("operator", "show", owners["verifier"])
    check(shown["operator"] == second, shown)
    print(f"settled: {len(done)} transactions of two operators for the verifier, {len(history_of(place, owners['solver']))} for the "
          "solver; both owners are paid, and nobody is slashed")


def main():
    with tempfile.TemporaryDirectory(prefix="assay-owner-") as folder, contextlib.ExitStack() as stack:
        try:
            play(Place(pathlib.Path(folder), stack))
        except AssertionError as error:
            print(error)
            for log in sorted(pathlib.Path(folder).glob("*.log")):
                print(f"--- {log.name}\n" + log.read_text()[-3000:])
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
