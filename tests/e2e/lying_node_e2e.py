#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays a node that lies to the command line: a proxy before a real node forwards requests and alters answers.

    lying_node_e2e.py ASSAYD ASSAY

Whatever the proxy says, the user pays at most what one command named and one small fee, and signs nothing for another chain
and no secret of the beacon that is not due.
"""
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.request

ASY = 10**9


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def ask(url, method, params=None):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


class Proxy:
    """Forwards to `url`; `lie(method, params, answer)` may change or replace the whole JSON-RPC answer."""

    def __init__(self, url):
        self.url = url
        self.lie = lambda method, params, answer: answer
        self.submitted = []
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if request["method"] == "tx_submit":
                    proxy.submitted.append(request["params"]["tx"])
                answer = ask(proxy.url, request["method"], request.get("params"))
                answer = proxy.lie(request["method"], request.get("params") or {}, answer)
                body = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def address(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def honest(self):
        self.lie = lambda method, params, answer: answer
        self.submitted = []


class Node:
    def __init__(self, assayd, home, interval_ms=100):
        self.home = home
        self.process = subprocess.Popen(
            [assayd, "start", "--home", str(home), "--rpc-port", "0", "--block-interval-ms", str(interval_ms)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        check("ready" in line, "the node starts")
        self.url = line.split("rpc ")[1].strip()

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)


class Client:
    def __init__(self, assay, home, url):
        self.assay, self.home, self.url = assay, home, url

    def __call__(self, *arguments, code=0, url=None):
        command = [self.assay, "--home", str(self.home), "--node", url or self.url, "-o", "json", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, "ASSAY_PASSWORD": "pw"})
        check(done.returncode == code, f"{arguments} ends with {code}, not {done.returncode}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    def send(self, amount, *more, code=0):
        return self("account", "send", self.to, amount, *more, code=code)


def balance(node, account):
    return int(ask(node.url, "account_get", {"account": account})["result"]["balance"])


def altered(name, change):
    """A lie about one member of the results of one method."""
    method, member = name

    def lie(asked, params, answer):
        if asked == method and "result" in answer:
            answer["result"][member] = change(answer["result"][member])
        return answer
    return lie


def flip(text):
    return ("1" if text[0] != "1" else "2") + text[1:]


def refuses_other_chains(node, proxy, client):
    for member, change in [("chain_id", lambda text: "other"), ("genesis_hash", flip)]:
        proxy.lie = altered(("node_status", member), change)
        error = client.send("1 ASY", code=10)["error"]
        check("this home is of" in error["message"], error)
    proxy.lie = altered(("node_status", "height"), lambda height: 1)
    check("is behind" in client.send("1 ASY", code=10)["error"]["message"], "an old state is refused")
    check(not proxy.submitted, "nothing was signed")
    proxy.honest()
    client.send("1 ASY", "--chain-id", "other-1", code=10)
    client.send("1 ASY", "--genesis-hash", "ab" * 32, code=10)
    check(not proxy.submitted, "nothing was signed for a chain that the user did not name")


def refuses_another_proposer(assayd, folder, node, proxy, client):
    """The same genesis and id, and blocks of somebody else."""
    twin = folder / "twin"
    subprocess.run([assayd, "init", "--home", str(twin), "--genesis", str(node.home / "genesis.json")], check=True,
                   stdout=subprocess.DEVNULL)
    other = Node(assayd, twin, interval_ms=10)
    height = lambda of: ask(of.url, "node_status")["result"]["height"]
    try:
        while height(other) < height(node) + 100:
            ask(other.url, "chain_wait", {"after": 10**9, "timeout_ms": 500})
        proxy.url = other.url
        error = client.send("1 ASY", code=10)["error"]["message"]
        check("not by the chain's proposer" in error, error)
        check(not proxy.submitted, "nothing was signed")
    finally:
        proxy.url = node.url
        other.stop()


def pays_a_small_fee(node, proxy, client):
    def dear(method, params, answer):
        if method == "chain_params":
            answer["result"]["gas_price_min"] = str(998_999 * ASY)
        if method == "chain_proof":
            answer["result"]["value"] = flip(answer["result"]["value"] or "00")
        return answer
    proxy.lie = dear
    client.send("1 ASY", code=10)
    check(not proxy.submitted, "parameters that are not proven sign nothing")
    proxy.honest()
    error = client.send("1 ASY", "--fee-max", "10 grains", code=5)["error"]
    check(error["name"] == "fee_too_high", error)
    check(not proxy.submitted, "a fee above --fee-max signs nothing")


def pays_once(node, proxy, client, bob):
    """Eight tries of one payment: the node executes it, says each time that it did not, and offers the next nonce."""
    before = balance(node, bob)
    offered = [0]

    def denies(method, params, answer):
        if method == "account_get" and "result" in answer:
            answer["result"]["next_nonce"] += offered[0]
        if method == "tx_get":
            return {"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "no", "data": {"name": "not_found"}}}
        if method == "tx_submit":
            data = {"name": "tx_rejected", "tx_error": 5, "reason": "nonce_too_low"}
            return {"jsonrpc": "2.0", "id": 1, "error": {"code": -32003, "message": "refused", "data": data}}
        return answer
    proxy.lie = denies
    for attempt in range(8):
        offered[0] = attempt
        check(client.send("100 ASY", code=7)["error"]["name"] == "tx_uncertain", "nobody knows what became of it")
    check(len(set(proxy.submitted)) == 1, "one action was signed once")
    proxy.honest()
    client.send("100 ASY")  # follows the first, which it can see now
    check(not proxy.submitted, "nothing more was signed")
    check(balance(node, bob) - before == 100 * ASY, f"one payment moved {(balance(node, bob) - before) / ASY} ASY")
    client.send("100 ASY")
    check(balance(node, bob) - before == 200 * ASY, "the next payment is one of its own")
    check(not list((client.home / "unsettled").glob("*.tx")), "what is settled is forgotten")


def keeps_its_secret(node, proxy, client):
    client("stake", "bond", "verifier", "2000 ASY")
    client("beacon", "join")
    wait = ask(node.url, "node_status")["result"]["height"]
    ask(node.url, "chain_wait", {"after": wait, "timeout_ms": 5000})
    proxy.honest()
    proxy.lie = altered(("beacon_get", "raw"), lambda raw: raw[:-2])
    client("beacon", "contribute", code=1)  # what the node says of the beacon is not asked for
    proxy.lie = altered(("chain_proof", "value"), lambda value: flip(value) if value else value)
    client("beacon", "contribute", code=10)
    check(not proxy.submitted, "no secret was shown")
    proxy.honest()


def main():
    assayd, assay = sys.argv[1:3]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="assay-lying-node-"))
    home = folder / "node"
    subprocess.run([assayd, "init", "--home", str(home), "--chain-id", "lies-1"], check=True, stdout=subprocess.DEVNULL)
    node = Node(assayd, home)
    try:
        proxy = Proxy(node.url)
        client = Client(assay, folder / "client", proxy.address())
        client("keys", "import", "alice", str(home / "node_key"))
        bob = client.to = Client(assay, folder / "bob", node.url)("keys", "new", "bob")["hex"]
        ask(node.url, "chain_wait", {"after": 1, "timeout_ms": 5000})
        client.send("1 ASY")
        check(balance(node, bob) == ASY, "an honest node executes it")
        check((folder / "client" / "chain.json").exists(), "the chain is pinned")
        proxy.honest()
        refuses_other_chains(node, proxy, client)
        print("other chains and old states: refused")
        pays_a_small_fee(node, proxy, client)
        print("fees: bounded, and from proven parameters")
        refuses_another_proposer(assayd, folder, node, proxy, client)
        print("another proposer's chain: refused")
        keeps_its_secret(node, proxy, client)
        print("secrets of the beacon: kept")
        pays_once(node, proxy, client, bob)
        print("one payment, tried eight times: paid once")
    finally:
        node.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
