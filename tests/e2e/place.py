# SPDX-License-Identifier: Apache-2.0
"""A chain of one node with keys and workers, for end-to-end tests that are started as TEST BIN SOURCE."""
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
# What ends as soon as everybody has answered is long, so that a busy machine is not late.
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
    """A directory with a node, homes of keys, and the processes that were started."""

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

    def state(self, task):
        return self.assay("task", "status", task)["state"]


def make_chain(place, **params):
    """Starts a node of a chain with SHORT, and with these parameters besides."""
    node = place.root / "node"
    subprocess.run([ASSAYD, "init", "--home", str(node)], check=True, capture_output=True, timeout=60)
    genesis = json.loads((node / "genesis.json").read_text())
    genesis["params"].update({**SHORT, **params})
    (node / "genesis.json").write_text(json.dumps(genesis))
    _, log = place.start("assayd", [ASSAYD, "start", "--home", node, "--rpc-port", "0", "--block-interval-ms", "50"], "assayd ready")
    place.node = re.search(r"rpc (\S+)", log.read_text()).group(1)
    place.assay("keys", "import", "bank", node / "node_key")


def run(name, play):
    """Plays in a Place of its own, which is removed. Returns the exit status; if something is wrong, prints it and the ends of all logs."""
    with tempfile.TemporaryDirectory(prefix=f"assay-{name}-") as folder, contextlib.ExitStack() as stack:
        try:
            play(Place(pathlib.Path(folder), stack))
        except AssertionError as error:
            print(error)
            for log in sorted(pathlib.Path(folder).glob("*.log")):
                print(f"--- {log.name}\n" + log.read_text()[-3000:])
            return 1
    return 0
