#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Four validators in network namespaces of their own, with a network between them that is cut, slow and lossy.

    partition_e2e.py BIN halves    two and two: no blocks on either side, no divergence; they go on after healing
    partition_e2e.py BIN minority  three and one: three go on, the fourth catches up
    partition_e2e.py BIN delays    different delay and loss in each direction, under load: safe and live
    partition_e2e.py BIN random TIMES SEED
                                   one network after the other, cut and slow at random, under load

Where there can be no namespaces, or no CometBFT, it says so in one line that begins with "skipped: ", and ends with 0.
"""
import concurrent.futures
import json
import pathlib
import re
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cometbft_e2e  # noqa: E402
import switch  # noqa: E402
from cometbft_e2e import check  # noqa: E402

SEED = 11
EXIT_UNCERTAIN = 7  # whether a transaction took effect is not known
HEALING_S = 120  # TCP's retransmission timers have doubled as long as the cut lasted


class InsideRpc(cometbft_e2e.Rpc):
    """A node's JSON-RPC, from inside its namespace."""

    def __init__(self, url, host):
        super().__init__(url)
        self.host = host

    def call(self, method, **params):
        return self.host.inside(lambda: super(InsideRpc, self).call(method, **params))


class SpreadTestnet(cometbft_e2e.Testnet):
    """A testnet with each node at a host of its own."""

    def __init__(self, binaries, folder, hosts):
        super().__init__(binaries, folder, validators=len(hosts))
        configs = [(node.home / "config.toml").read_text() for node in self.nodes]
        ports = [re.search(r"^p2p_port = (\d+)", config, re.M).group(1) for config in configs]
        for node, host, config in zip(self.nodes, hosts, configs):
            for port, other in zip(ports, hosts):
                config = config.replace(f"@127.0.0.1:{port}", f"@{other.address}:{port}")
            config = re.sub(r"^# p2p_address = .*$", f'p2p_address = "{host.address}"', config, flags=re.M)
            check(f'p2p_address = "{host.address}"' in config, "the configuration has no p2p_address to set")
            (node.home / "config.toml").write_text(config)
            node.launcher, node.rpc = host.launcher(), InsideRpc(node.rpc.url, host)

    def heights(self):
        return [node.rpc.height() for node in self.nodes]


def check_executed(net, transfers):
    for transfer in transfers:
        for node in net.nodes:
            found = node.rpc.call("tx_get", hash=transfer["hash"])
            check(found["status"] == "executed" and found["code"] == 0, f"a transfer is lost: {transfer}: {found}")


def clients_of_one_account(net, *places):
    return [cometbft_e2e.Client(net, net.nodes[place], f"owner{place}", key_of=net.nodes[0]) for place in places]


def make_worse(network):
    chooser = network.random
    groups = [[] for _ in range(chooser.randint(1, 4))]
    for host in range(len(network.hosts)):
        chooser.choice(groups).append(host)
    for a, b in network.links:
        network.set(a, b, delay_ms=chooser.choice([0, 20, 300]), jitter_ms=10, loss=chooser.choice([0.0, 0.01, 0.1]))
    network.split(*groups)


def make_well(network):
    for a, b in network.links:
        network.set(a, b)
    network.heal()


def run_halves(net, network):
    net.await_height(3, range(4))
    left, right = clients_of_one_account(net, 0, 2)
    network.split([0, 1], [2, 3])
    time.sleep(1)  # a block whose votes have all crossed
    before = net.heights()
    pool = concurrent.futures.ThreadPoolExecutor()
    try:
        # One nonce, signed on both sides: one of them is executed, and the other is never signed again by itself.
        sends = [("account", "send", net.assayd_account(1 + i), f"{7 + i} grains") for i in range(2)]
        sent = [pool.submit(client.ask, *send) for client, send in zip((left, right), sends)]
        time.sleep(12)
        after = net.heights()
        check(max(after) <= max(before) + 1 and not any(f.done() for f in sent), f"half of the power made blocks: {before}, {after}")
        net.check_agreement(range(4))
        network.heal()
        healed = time.monotonic()
        net.await_height(max(after) + 1, range(4), HEALING_S)
        print(f"a block {time.monotonic() - healed:.1f} s after healing")
        net.await_height(max(after) + 5, range(4), HEALING_S)
        results = [future.result() for future in sent]
    finally:
        pool.shutdown(wait=False)  # clients of a failed test end with their nodes
    said = [f"{result.stdout} {result.stderr}" for result in results]
    check(sorted(result.returncode for result in results) == [0, EXIT_UNCERTAIN], f"not one of two was executed: {said}")
    first, second = sorted(range(2), key=lambda i: results[i].returncode)
    transfers = [json.loads(results[first].stdout), (left, right)[second].run(*sends[second], "--again")]
    net.await_height(max(net.heights()), range(4))
    check_executed(net, transfers)
    nonces = [net.nodes[3].rpc.call("tx_get", hash=t["hash"])["nonce"] for t in transfers]
    check(len(set(nonces)) == 2, f"one nonce was used twice: {nonces}")


def run_minority(net, network):
    net.await_height(3, range(4))
    client = clients_of_one_account(net, 1)[0]
    network.split([0, 1, 2], [3])
    time.sleep(1)
    alone = net.nodes[3].rpc.height()
    transfer = client.run("account", "send", net.assayd_account(3), "5 grains")
    net.await_height(alone + 6, range(3))
    check(net.nodes[3].rpc.height() <= alone + 1, "a validator alone made blocks")
    network.heal()
    healed = time.monotonic()
    net.await_height(net.nodes[0].rpc.height(), range(4), HEALING_S)
    print(f"the fourth caught up in {time.monotonic() - healed:.1f} s")
    # Its vote is needed when another is cut off in its place.
    network.split([1, 2, 3], [0])
    net.await_height(net.nodes[3].rpc.height() + 3, [1, 2, 3], HEALING_S)
    network.heal()
    net.await_height(net.nodes[3].rpc.height() + 1, range(4), HEALING_S)
    check_executed(net, [transfer])


def run_delays(net, network):
    net.await_height(2, range(4))
    chooser = network.random
    for a, b in network.links:
        network.set(a, b, delay_ms=chooser.choice([5, 40, 150]), jitter_ms=5, loss=chooser.choice([0.0, 0.02, 0.08]))
    network.set(0, 1, delay_ms=400, jitter_ms=100, loss=0.05)  # and one way is much slower than its way back
    start, started = net.nodes[0].rpc.height(), time.monotonic()
    client = clients_of_one_account(net, 2)[0]
    transfers = [client.run("account", "send", net.assayd_account(1), "1 grains") for _ in range(3)]
    net.await_height(start + 8, range(4), HEALING_S)
    seconds = time.monotonic() - started
    blocks = net.nodes[0].rpc.height() - start
    check(network.counts["lost"] > 0, "the network lost nothing")
    make_well(network)
    net.await_height(max(net.heights()) + 3, range(4), HEALING_S)
    check_executed(net, transfers)
    print(f"{blocks} blocks in {seconds:.1f} s of delay and loss")


def run_random(net, network, times, seed):
    network.random.seed(seed)
    net.await_height(2, range(4))
    live = 0
    with cometbft_e2e.under_load(net) as load:
        for _ in range(times):
            before = max(net.heights())
            make_worse(network)
            time.sleep(network.random.uniform(0.5, 8))
            make_well(network)
            live += max(net.heights()) > before
            if network.random.random() < 0.3:
                net.await_height(max(net.heights()) + 1, range(4), HEALING_S)
        net.await_height(max(net.heights()) + 3, range(4), HEALING_S)
    net.await_height(max(net.heights()), range(4), HEALING_S)
    print(f"{times} networks, {live} of them made blocks; {load.check_executed()} transfers, none lost")


def main():
    binaries, mode, rest = pathlib.Path(sys.argv[1]), sys.argv[2], [int(a) for a in sys.argv[3:]]
    tests = {"halves": run_halves, "minority": run_minority, "delays": run_delays, "random": run_random}
    if mode not in tests:
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("FAILED: told to stop"))
    switch.sweep()
    why_not = switch.why_impossible()
    if why_not:
        print(f"skipped: {why_not}")
        return
    with tempfile.TemporaryDirectory(prefix="assay-partition-") as folder:
        folder = pathlib.Path(folder)
        why_not = cometbft_e2e.why_impossible(binaries, folder)
        if why_not:
            print(f"skipped: {why_not}")
            return
        network = switch.Switch(4, SEED)
        try:
            net = SpreadTestnet(binaries, folder, network.hosts)
            try:
                net.start()
                tests[mode](net, network, *rest)
                print("agreed on", net.check_agreement(range(4)), "blocks;", network.counts)
            finally:
                net.stop()
        finally:
            network.close()
    print("ok")


if __name__ == "__main__":
    main()
