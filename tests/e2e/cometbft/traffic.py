# SPDX-License-Identifier: Apache-2.0
"""Transfers that go on while a test kills nodes, and many at once."""
import json
import random
import subprocess
import threading
import time
import urllib.request

import demo_e2e

check = demo_e2e.check


class Load:
    """Transfers of one grain from every node's account, each to whatever node is up, until stopped."""

    def __init__(self, net, payers, which=None):
        self.nodes = [node for i, node in enumerate(net.nodes) if which is None or i in which]
        self.net, self.executed, self.stopped = net, [], threading.Event()
        self.threads = [threading.Thread(target=self.loop, args=(payer, i)) for i, payer in enumerate(payers)]

    def loop(self, payer, seed):
        chooser = random.Random(seed)
        while not self.stopped.is_set():
            payer.node = chooser.choice(self.nodes)
            result = payer.ask("account", "send", self.net.assayd_account(seed), "1 grains")
            if result.returncode == 0:
                self.executed.append(json.loads(result.stdout))
            else:
                self.stopped.wait(0.2)  # its node is down

    def await_first(self):
        """Until a transfer is executed, so that what is killed from now on is killed under load."""
        end = time.monotonic() + 60
        while not self.executed:
            check(time.monotonic() < end, "no transfer was executed in a minute")
            time.sleep(0.1)

    def check_executed(self):
        """What a client was told to be executed is so at every node."""
        check(self.executed, "no transfer was executed under load")
        for transfer in self.executed:
            for node in self.net.nodes:
                check(node.rpc.call("tx_get", hash=transfer["hash"])["status"] == "executed", f"a transfer is lost: {transfer}")
        return len(self.executed)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        for thread in self.threads:
            thread.join()


BATCH = 20  # the most calls that a request may have


class Burst:
    """Signed transfers of many accounts, given to one node as fast as it takes them."""

    def __init__(self, binaries, folder, count):
        self.genesis, lines = folder / "burst-genesis.json", folder / "burst"
        done = subprocess.run(
            [str(binaries / "assay-bench"), "transfers", "--count", str(count), "--senders", "50", "--accounts", "50", "--genesis",
             str(self.genesis), "--out", str(lines)], capture_output=True, text=True)
        check(done.returncode == 0, f"no transfers: {done.stderr}")
        self.txs, self.hashes = lines.read_text().split(), []

    def submit(self, node):
        for first in range(0, len(self.txs), BATCH):
            calls = [{"jsonrpc": "2.0", "id": i, "method": "tx_submit", "params": {"tx": tx}}
                     for i, tx in enumerate(self.txs[first:first + BATCH])]
            request = urllib.request.Request(node.rpc.url, json.dumps(calls).encode(), {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=30) as answer:
                for each in json.load(answer):
                    check("result" in each, f"a transfer was refused: {each}")
                    self.hashes.append(each["result"]["hash"])

    def check_spread(self, node):
        """All of them wait at another node, in fewer entries of its engine's mempool: they came in bundles."""
        end = time.monotonic() + 60
        while (waiting := node.rpc.call("node_status")["mempool"]["txs"]) != len(self.txs):
            check(time.monotonic() < end, f"{waiting} of {len(self.txs)} transfers reached {node.home}")
            time.sleep(0.1)
        with urllib.request.urlopen(f"http://{node.engine_rpc()}/num_unconfirmed_txs", timeout=15) as answer:
            entries = int(json.load(answer)["result"]["n_txs"])
        check(0 < entries < len(self.txs), f"{len(self.txs)} transfers came in {entries} entries")
        return entries

    def check_executed(self, node):
        end = time.monotonic() + 60
        for tx in self.hashes:
            while (status := node.rpc.call("tx_get", hash=tx)["status"]) != "executed":
                check(time.monotonic() < end, f"the transfer {tx} is {status} at {node.home}")
                time.sleep(0.1)
