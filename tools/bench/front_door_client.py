#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends transactions to a node and says when they were in blocks. front_door.py starts it where the node can be reached.

    front_door_client.py '{"url": ..., "protocol": "assay" or "comet", "file": ..., "from": N, "count": N, "rate": N}'

At a rate it offers that many a second, whatever becomes of them; at rate 0 it keeps `outstanding` of them under way.
Transactions that the mempool has no room for are offered again. What an engine took and has not put into a block half a
minute after the last one is lost, and counted.
"""
import base64
import http.client
import json
import sys
import threading
import time
import urllib.parse

BATCH = 20  # the most that a request to assayd may have
CONNECTIONS = 8
PATIENCE_S = 60
LOST_S = 30
LIMIT_EXCEEDED = -32005  # docs/rpc.md: of tx_submit, that the mempool is full


class Connection:
    def __init__(self, url):
        place = urllib.parse.urlsplit(url)
        self.http = http.client.HTTPConnection(place.hostname, place.port, timeout=PATIENCE_S)

    def post(self, body):
        self.http.request("POST", "/", json.dumps(body), {"Content-Type": "application/json"})
        return json.loads(self.http.getresponse().read())

    def call(self, method, **params):
        answer = self.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]


class Assay:
    """assayd's JSON-RPC. A transaction is known by its hash, which the node tells."""

    def submission(self, tx, number):
        return {"jsonrpc": "2.0", "id": number, "method": "tx_submit", "params": {"tx": tx}}

    def known_by(self, tx, answer):
        return answer["result"]["hash"]

    def has_no_room(self, error):
        return error.get("code") == LIMIT_EXCEEDED

    def next_height(self, connection, after):
        return connection.call("chain_wait", after=after, timeout_ms=10_000)["height"]

    def height(self, connection):
        return connection.call("chain_block")["height"]

    def block(self, connection, height):
        txs = connection.call("chain_block", height=height)["txs"]
        failed = [tx for tx in txs if tx["code"] != 0]
        if failed:
            raise RuntimeError(f"a transfer failed: {failed[0]}")
        return [tx["hash"] for tx in txs]


class Comet:
    """CometBFT's RPC, which an application without one is reached by. A transaction is known by its bytes."""

    def submission(self, tx, number):
        return {"jsonrpc": "2.0", "id": number, "method": "broadcast_tx_sync", "params": {"tx": base64.b64encode(bytes.fromhex(tx)).decode()}}

    def known_by(self, tx, answer):
        if answer["result"]["code"] != 0:
            raise RuntimeError(f"a transaction was refused: {answer['result']}")
        return base64.b64encode(bytes.fromhex(tx)).decode()

    def has_no_room(self, error):
        return "mempool is full" in str(error)

    def height(self, connection):
        return int(connection.call("abci_info")["response"].get("last_block_height", 0))

    def next_height(self, connection, after):
        while True:
            height = self.height(connection)
            if height > after:
                return height
            time.sleep(0.01)

    def block(self, connection, height):
        return connection.call("block", height=str(height))["block"]["data"]["txs"] or []


class Run:
    def __init__(self, given):
        self.given = given
        self.protocol = Assay() if given["protocol"] == "assay" else Comet()
        with open(given["file"]) as file:
            lines = file.read().split()
        self.txs = lines[given["from"] : given["from"] + given["count"]]
        self.lock, self.changed = threading.Lock(), threading.Condition()
        self.next, self.offered_at, self.seen_at = 0, {}, {}
        self.accepted, self.refused, self.failure, self.blocks = 0, 0, None, []

    def take(self):
        """The next batch, when it is due."""
        with self.lock:
            first = self.next
            self.next += BATCH
        if self.given["rate"]:
            time.sleep(max(0.0, self.start + first / self.given["rate"] - time.monotonic()))
        else:
            with self.changed:
                self.changed.wait_for(
                    lambda: self.failure or first - len(self.seen_at) < self.given["outstanding"], timeout=PATIENCE_S)
        return range(first, min(first + BATCH, len(self.txs)))

    def send(self):
        connection = Connection(self.given["url"])
        try:
            while not self.failure:
                wanted = list(self.take())
                if not wanted:
                    return
                offered = time.monotonic()
                while wanted and not self.failure:
                    answers = connection.post([self.protocol.submission(self.txs[i], i) for i in wanted])
                    wanted = self.sort(answers, offered)
                    if wanted:
                        time.sleep(0.05)
        except Exception as error:  # noqa: BLE001: told by the main thread
            self.fail(error)

    def sort(self, answers, offered):
        """Notes what was accepted; returns what is to be offered again."""
        again = []
        for answer in answers if isinstance(answers, list) else [answers]:
            if "error" in answer:
                if not self.protocol.has_no_room(answer["error"]):
                    raise RuntimeError(f"a transaction was refused: {answer['error']}")
                again.append(answer["id"])
                continue
            with self.changed:
                self.offered_at[self.protocol.known_by(self.txs[answer["id"]], answer)] = offered
                self.accepted += 1
        with self.lock:
            self.refused += len(again)
        return again

    def watch(self):
        connection = Connection(self.given["url"])
        try:
            height = self.protocol.height(connection)
            self.ready.set()
            end = time.monotonic() + self.given["seconds_max"]
            newest = time.monotonic()
            while len(self.seen_at) < len(self.txs) and not self.failure:
                now = time.monotonic()
                if now > end:
                    raise RuntimeError(f"only {len(self.seen_at)} of {len(self.txs)} transactions were committed in time")
                if self.accepted == len(self.txs) and now > newest + LOST_S:
                    return
                last = self.protocol.next_height(connection, height)
                now = time.monotonic()
                for each in range(height + 1, last + 1):
                    found = self.protocol.block(connection, each)
                    self.blocks.append((now, len(found)))
                    newest = now if found else newest
                    with self.changed:
                        self.seen_at.update((tx, now) for tx in found)
                        self.changed.notify_all()
                height = last
        except Exception as error:  # noqa: BLE001: told by the main thread
            self.fail(error)

    def fail(self, error):
        self.ready.set()
        with self.changed:
            self.failure = self.failure or error
            self.changed.notify_all()

    def run(self):
        self.ready = threading.Event()
        threads = [threading.Thread(target=self.watch)] + [threading.Thread(target=self.send) for _ in range(CONNECTIONS)]
        threads[0].start()
        self.ready.wait()
        self.start = time.monotonic()
        for thread in threads[1:]:
            thread.start()
        for thread in threads:
            thread.join()
        if self.failure:
            raise self.failure
        return self.result()

    def result(self):
        latencies = sorted(self.seen_at[tx] - offered for tx, offered in self.offered_at.items() if tx in self.seen_at)
        full = [(at, count) for at, count in self.blocks if count]
        # From the first block to the last one. The first one's transactions are left out: they came in before that time.
        steady = sum(count for _, count in full[1:]) / (full[-1][0] - full[0][0]) if len(full) > 1 else 0.0
        return {
            "offered_per_s": self.given["rate"] or None,
            "transactions": len(self.txs),
            "committed_per_s": round(steady, 1),
            "blocks": len(full),
            "most_in_a_block": max(count for _, count in full),
            "offered_again": self.refused,
            "lost": len(self.txs) - len(latencies),
            "latency_s": {"median": round(latencies[len(latencies) // 2], 3), "p95": round(latencies[len(latencies) * 95 // 100], 3)},
        }


if __name__ == "__main__":
    print(json.dumps(Run(json.loads(sys.argv[1])).run()))
