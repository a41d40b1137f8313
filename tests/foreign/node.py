# SPDX-License-Identifier: Apache-2.0
"""A node of our own on loopback (docs/operations/node.md), and a server of artifacts (artifacts.md, ART-6)."""
import hashlib
import http.server
import json
import subprocess
import threading

# What has to pass is short, so that a task's whole life takes seconds; what ends as soon as everybody has answered is long,
# so that a busy machine is not late. All else is as `assayd init` writes it.
SHORT = dict(block_ms=50, unbonding_blocks=5, challenge_blocks=60, redraw_blocks=2, accept_blocks=1_000, commit_blocks=1_000,
             publish_blocks=1_000, disclose_blocks=1_000, contribute_blocks=1_000, forced_error_bps=5_000)


class Node:
    def __init__(self, assayd, home, chain_id):
        self.assayd, self.home, self.process = assayd, home, None
        made = subprocess.run([assayd, "init", "--home", str(home), "--chain-id", chain_id, "-o", "json"], check=True,
                              capture_output=True, text=True, timeout=60)
        self.proposer = json.loads(made.stdout)["proposer"]
        path = home / "genesis.json"
        self.genesis = json.loads(path.read_text())
        self.genesis["params"].update(SHORT)
        path.write_text(json.dumps(self.genesis))
        self.secret = bytes.fromhex((home / "node_key").read_text().strip())

    def start(self, interval_ms):
        command = [self.assayd, "start", "--home", str(self.home), "--rpc-address", "127.0.0.1", "--rpc-port", "0",
                   "--block-interval-ms", str(interval_ms)]
        self.log = open(self.home / "stderr.txt", "w", encoding="utf-8")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        if "ready" not in line:
            raise RuntimeError("the node does not start: " + (self.home / "stderr.txt").read_text())
        return line.split("rpc ")[1].strip()

    def stop(self):
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.log.close()


class Store:
    """Artifacts by name, served on loopback."""

    def __init__(self):
        self.content, store = {}, self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                content = store.content.get(self.path.removeprefix("/artifact/"))
                self.send_response(404 if content is None else 200)
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def location(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def add(self, content):
        digest = hashlib.sha256(content)
        self.content[digest.hexdigest()] = content
        return dict(sha256=digest.digest(), size_bytes=len(content), location=self.location)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
