# SPDX-License-Identifier: Apache-2.0
"""Nodes for the tests of the SDKs, all on loopback: a recorded chain, a live chain with a key, and servers that lie."""
import http.server
import json
import os
import pathlib
import shutil
import signal
import subprocess
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RECORDED = ROOT / "tests/vectors/chain/exact"


def start(command, stderr=subprocess.DEVNULL):
    """A node's process and its URL."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
    line = process.stdout.readline()
    if "rpc " not in line:
        stop(process)
        raise RuntimeError(f"the node does not start: {line!r}")
    return process, line.split("rpc ")[1].strip()


def stop(process):
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if not process.stdout.closed:
        process.stdout.close()


def recorded(binaries, folder):
    """assayd inspect on the recorded chain, whose blocks, more than a hundred, have tasks, payments and disputes."""
    home = pathlib.Path(folder) / "recorded"
    (home / "data").mkdir(parents=True)
    shutil.copy(RECORDED / "genesis.json", home)
    shutil.copy(RECORDED / "blocks.log", home / "data")
    return start([str(pathlib.Path(binaries) / "assayd"), "inspect", "--home", str(home), "--rpc-port", "0"])


class LiveChain:
    """One node that makes a block every 100 ms, and can be restarted at the same address."""

    def __init__(self, binaries, folder):
        self.assayd, self.home, self.port = pathlib.Path(binaries) / "assayd", pathlib.Path(folder) / "live", 0
        made = subprocess.run([self.assayd, "init", "--home", self.home, "-o", "json"], check=True, capture_output=True, text=True)
        self.proposer = json.loads(made.stdout)["proposer"]
        self.process = None

    def start(self):
        self.process, self.url = start([str(self.assayd), "start", "--home", str(self.home), "--rpc-address", "127.0.0.1", "--rpc-port",
                                        str(self.port), "--block-interval-ms", "100"])
        self.port = int(self.url.rsplit(":", 1)[1])

    def restart(self):
        stop(self.process)
        self.start()

    def stop(self):
        if self.process is not None:
            stop(self.process)


class Liar:
    """A server that answers each POST and each stream with what the test gave it. `posts` counts what arrived."""

    def __init__(self, answer=b"{}", status=200, stream=b"", drop=0):
        self.posts, liar = 0, self
        self.answer, self.status, self.stream, self.drop = answer, status, stream, drop

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                liar.posts += 1
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self.close_connection = liar.posts <= liar.drop
                if self.close_connection:
                    return
                answer = liar.answer(body) if callable(liar.answer) else liar.answer
                self.send_response(liar.status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(liar.stream)
                self.close_connection = True

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def event(seq, prev, data=None):
    message = {"topic": "blocks", "seq": seq, "prev": prev, "kind": "block", "data": data or {"height": seq >> 24}}
    return f"id: {seq}\nevent: block\ndata: {json.dumps(message)}\n\n".encode()


def environment(**more):
    """Without what a developer has set for an own node."""
    return {key: value for key, value in os.environ.items() if not key.startswith("ASSAY_")} | more
