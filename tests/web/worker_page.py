# SPDX-License-Identifier: Apache-2.0
"""The network for the test of the worker's page: a node, a bank, a verifier that judges what is trained, and somebody who serves a
task's artifacts. The page's own worker is started, and killed, by the test itself."""
import json
import os
import pathlib
import subprocess
import tempfile
import threading

import chain
from tools import install

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PASSWORD = "only for this test"
# Shorter spans than a new chain has, and a class that a busy machine reaches.
SHORTER = {"block_ms": 50, "challenge_blocks": 40, "accept_blocks": 400, "contribute_blocks": 100, "commit_blocks": 400}
SECONDS_MAX = 280


class Child:
    """A program whose output is read until it says that it is ready. Ended by stop()."""

    def __init__(self, command, ready, log, env):
        self.log = open(log, "w", encoding="utf-8")
        self.process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=self.log, text=True, env=env,
                                        stdin=subprocess.DEVNULL)
        for line in self.process.stdout:
            self.log.write(line)
            if ready in line:
                threading.Thread(target=self.drain, daemon=True).start()
                return
        self.log.flush()
        raise RuntimeError(f"{command[0]} did not start: {pathlib.Path(log).read_text(encoding='utf-8')}")

    def drain(self):
        for line in self.process.stdout:
            self.log.write(line)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def shorten(genesis):
    document = json.loads(genesis.read_text(encoding="utf-8"))
    params = document["params"]
    params.update({name: value for name, value in SHORTER.items() if name in params})
    for each in params["hardware_classes"]:
        each["least_score"] = max(1, each["least_score"] // 100)
    genesis.write_text(json.dumps(document, indent=2), encoding="utf-8")


def run(binaries, folder, browser, node_js):
    install(folder / "npm")
    with tempfile.TemporaryDirectory(prefix="assay-ui-") as scratch:
        scratch = pathlib.Path(scratch)
        env = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
        env["ASSAY_PASSWORD"] = PASSWORD
        home = scratch / "node"
        subprocess.run([binaries / "assayd", "init", "--home", home], check=True, env=env, capture_output=True)
        shorten(home / "genesis.json")
        started = []
        try:
            node = chain.Node(binaries / "assayd", home, scratch / "node.log", 50)
            started.append(node)
            env |= {"ASSAY_HOME": str(scratch / "bank"), "ASSAY_NODE": node.url}

            def assay(*words):
                done = subprocess.run([str(binaries / "assay"), *words], env=env, capture_output=True, text=True, timeout=90, stdin=subprocess.DEVNULL)
                if done.returncode != 0:
                    raise RuntimeError(f"assay {' '.join(words)}: {done.stdout}{done.stderr}")
                return done.stdout

            assay("keys", "import", "bank", str(home / "node_key"))
            assay("keys", "new", "verifier")
            assay("account", "send", "verifier", "2100 ASY", "--from", "bank")
            assay("stake", "bond", "verifier", "2000 ASY", "--from", "verifier")
            started.append(Child(
                [binaries / "assay-worker", "verify", "--home", scratch / "verifier", "--key", scratch / "bank" / "keys" / "verifier.json",
                 "--node", node.url, "--allow-private-addresses"], "assay-worker ready", scratch / "verifier.log", env))
            given = {"browser": browser, "modules": str((folder / "npm" / "node_modules").resolve()), "scratch": str(scratch), "node": node.url,
                     "assay": str(binaries / "assay"), "worker": str(binaries / "assay-worker"), "home": str(scratch / "owner"),
                     "example": str(ROOT / "examples" / "mlp"), "password": PASSWORD}
            env.pop("ASSAY_PASSWORD")  # the page asks for it
            return subprocess.run([node_js, str(HERE / "worker_page.mjs")], env={**env, "ASSAY_WEB": json.dumps(given)}, timeout=SECONDS_MAX).returncode
        finally:
            for each in reversed(started):
                each.stop()
