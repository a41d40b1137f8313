# SPDX-License-Identifier: Apache-2.0
"""Transfers that go on while a test kills nodes."""
import json
import random
import threading
import time

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
