#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A node as its operator runs it: a sealed key, a token, a Unix socket, a backup beside block production, a kill and a restore.

    operator_test.py ASSAYD ASSAY

Prints what it did; exits 1 and says what is wrong otherwise.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ASSAYD, ASSAY = sys.argv[1:3]
SECONDS_MAX = 60


def environment(**more):
    return {**{name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}, **more}


def run(command, expected=0, **variables):
    done = subprocess.run([str(word) for word in command], env=environment(**variables), capture_output=True, text=True,
                          timeout=SECONDS_MAX, stdin=subprocess.DEVNULL, start_new_session=True)
    if done.returncode != expected:
        raise AssertionError(f"{command} ended with {done.returncode}, not {expected}: {done.stdout}{done.stderr}")
    return done.stdout


def private(path, text):
    path.touch(mode=0o600)
    path.write_text(text)
    return path


class Node:
    def __init__(self, home, password_file):
        self.process = subprocess.Popen(
            [ASSAYD, "start", "--home", str(home), "--rpc-port", "0", "--block-interval-ms", "50", "--log-file", str(home / "log")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL, start_new_session=True,
            env=environment(ASSAY_NODE_PASSWORD_FILE=str(password_file), ASSAY_RPC_SOCKET="rpc.sock", ASSAY_RPC_PROT="1"))
        line = self.process.stdout.readline()
        if "rpc " not in line:
            raise AssertionError("assayd does not start: " + self.process.stderr.read())
        self.url = line.split("rpc ")[1].strip()

    def end(self, signal):
        getattr(self.process, signal)()
        self.process.communicate(timeout=SECONDS_MAX)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.end("kill")


def status_of(node):
    return json.loads(run([ASSAY, "--node", node, "query", "status", "-o", "json"]))


def reach(node, height):
    until = time.monotonic() + SECONDS_MAX
    while status_of(node)["height"] < height:
        assert time.monotonic() < until, f"no block {height}"
        time.sleep(0.1)


def app_hash_of(url, token, height):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "chain_block", "params": {"height": height}}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json", "Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)["result"]["app_hash"]


def refused(url):
    try:
        urllib.request.urlopen(urllib.request.Request(url, b"{}", {"Content-Type": "application/json"}), timeout=10)
    except urllib.error.HTTPError as error:
        return error.code
    return 200


def main():
    with tempfile.TemporaryDirectory(prefix="assay-operator-") as folder:
        folder = pathlib.Path(folder)
        home, backup, restored = folder / "home", folder / "backup", folder / "restored"
        password = private(folder / "password", "a password\n")
        wrong = private(folder / "wrong", "another\n")
        run([ASSAYD, "init", "--home", home, "--rpc-token", "--seal", "--password-file", password])
        assert "scrypt" in (home / "node_key").read_text()
        run([ASSAYD, "start", "--home", home, "--rpc-port", "0"], expected=3, ASSAY_NODE_PASSWORD_FILE=str(wrong))
        token = (home / "rpc_token").read_text().strip()
        with Node(home, password) as node:
            socket = f"unix://{home / 'rpc.sock'}"
            assert refused(node.url) == 401
            run([ASSAY, "--node", node.url, "query", "status"], expected=3)
            run([ASSAY, "--node", node.url, "query", "status"], ASSAY_RPC_TOKEN_FILE=str(home / "rpc_token"))
            reach(socket, 5)
            with urllib.request.urlopen(node.url + "/readyz", timeout=10) as answer:
                assert json.load(answer)["ready"] is True
            report = json.loads(run([ASSAY, "--node", socket, "--home", home, "doctor", "-o", "json"]))
            assert report["ok"], report
            assert {"node", "clock", "versions", "disk", "keys"} <= {each["name"] for each in report["checks"]}, report
            lost = json.loads(run([ASSAY, "--node", socket, "--home", home, "doctor", "--relay", "127.0.0.1:1", "-o", "json"], expected=1))
            assert [each["level"] for each in lost["checks"] if each["name"] == "relay"] == ["failure"], lost
            made = json.loads(run([ASSAYD, "backup", "--home", home, "--out", backup, "-o", "json"]))
            reach(socket, made["height"] + 3)
            assert app_hash_of(node.url, token, made["height"]) == made["app_hash"]
            node.end("kill")
        assert "ASSAY_RPC_PROT is not known" in (home / "log").read_text()
        run([ASSAY, "--node", socket, "--home", home, "doctor"], expected=1)
        run([ASSAYD, "restore", "--in", backup, "--home", home], expected=1)
        back = json.loads(run([ASSAYD, "restore", "--in", backup, "--home", restored, "-o", "json"]))
        assert (back["height"], back["app_hash"]) == (made["height"], made["app_hash"]), (back, made)
        run([ASSAYD, "start", "--home", restored, "--rpc-port", "0"], expected=3)  # the backup has no key
        private(restored / "node_key", (home / "node_key").read_text())
        private(restored / "rpc_token", token + "\n")
        with Node(restored, password) as node:
            assert app_hash_of(node.url, token, made["height"]) == made["app_hash"]
            reach(f"unix://{restored / 'rpc.sock'}", made["height"] + 2)
            node.end("terminate")
        shown = json.loads(run([ASSAYD, "config", "show", "--home", restored, "--rpc-port", "7", "-o", "json"]))["settings"]
        by_name = {each["name"]: each for each in shown}
        assert by_name["rpc.port"]["origin"] == "flag" and by_name["rpc.port"]["value"] == "7"
        assert by_name["rpc.token_file"]["origin"] == "file" and ":" in by_name["rpc.token_file"]["where"]
        run([ASSAYD, "key", "unseal", "--home", restored, "--password-file", password])
        assert len((restored / "node_key").read_text().strip()) == 64
    print(f"backup at height {made['height']} restored to the same app hash")


if __name__ == "__main__":
    main()
