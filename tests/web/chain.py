# SPDX-License-Identifier: Apache-2.0
"""Chains for the explorer's test: one that the demo made, with a hostile title, a score and a dispute, and one that ends in
the middle of the dispute."""
import json
import pathlib
import re
import shutil
import struct
import subprocess
import threading
import urllib.request

HOSTILE = "<img src=x onerror=alert(1)> Checked in this browser"
PLAIN = "characters of the GPL"
TASK = """title = "TITLE"
steps = 60
checkpoint_interval = 10
reward = "20 ASY"
verification_fee = "3 ASY"
training_blocks = 600

[model]
kind = "char"
context = 16
embedding = 32
hidden = 128
batch_size = 64

[optimizer]
kind = "adam"
learning_rate = 0.003

[data]
text = "train.txt"

[evaluation]
text = "holdout.txt"
"""
LOG_MAGIC = 8  # bytes before the first record
RECORD_HEAD = struct.Struct("<4sI8s")  # mark, length of the payload, check


def make(binaries, folder, text, title):
    """Runs the demo, which trains the task twice, once with an altered tile. Returns the home of its node."""
    task = folder / "task"
    task.mkdir(parents=True)
    (task / "task.toml").write_text(TASK.replace("TITLE", title), encoding="utf-8")
    (task / "train.txt").write_text(text, encoding="utf-8")
    (task / "holdout.txt").write_text(text[:1200], encoding="utf-8")
    home = folder / "demo"
    with open(folder / "demo.log", "w", encoding="utf-8") as log:
        subprocess.run([str(binaries / "assay"), "demo", "--task", str(task), "--home", str(home)], stdout=log, stderr=log,
                       check=True, timeout=240)
    return home / "network" / "node"


def cut(home, to, height):
    """A copy of a node's home whose log ends with `height`. The node makes its database again from that."""
    (to / "data").mkdir(parents=True)
    for name in ("genesis.json", "node_key", "config.toml"):
        if (home / name).exists():
            shutil.copy2(home / name, to / name)
    log = (home / "data" / "blocks.log").read_bytes()
    at = LOG_MAGIC
    for _ in range(height):
        _, size, _ = RECORD_HEAD.unpack_from(log, at)
        at += RECORD_HEAD.size + size
    (to / "data" / "blocks.log").write_bytes(log[:at])
    return to


class Node:
    """A running assayd, ended by stop()."""

    def __init__(self, assayd, home, log, interval_ms):
        self.log = open(log, "w", encoding="utf-8")
        self.process = subprocess.Popen(
            [str(assayd), "start", "--home", str(home), "--rpc-port", "0", "--block-interval-ms", str(interval_ms)],
            stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        match = re.search(r"rpc (http://\S+)", line)
        if not match:
            self.stop()
            raise RuntimeError(f"assayd did not start: {line or pathlib.Path(log).read_text(encoding='utf-8')}")
        self.url = match.group(1)
        # Whatever else it prints is read, so that it never waits for a reader.
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def call(self, method, **params):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as response:
            answer = json.load(response)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
