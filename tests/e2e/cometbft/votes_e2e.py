#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Four validators with the real CometBFT change a parameter, halt, go on, and upgrade to the next version of the protocol.

    votes_e2e.py BIN

The program of the next version is tests/assayd_next. Without CometBFT it says so in one line that begins with "skipped: ",
and ends with 0.
"""
import json
import pathlib
import re
import sys
import tempfile
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cometbft_e2e  # noqa: E402

check = cometbft_e2e.check
HALTED = 11


def pass_proposal(clients, *proposal):
    """Proposes as the first and votes as the two others that it takes; the fourth does not vote."""
    made = clients[0].run("validator", "propose", *proposal)["proposal"]
    for client in clients[1:3]:
        client.run("validator", "vote", made["id"])


def check_halted(nodes, height):
    """All of these stop by themselves after the same block, and do not start again as they were."""
    for node in nodes:
        check(node.process.wait(timeout=60) == HALTED, f"{node.home}: {node.process.returncode} {node.log_tail()}")
        check(f"halted after block {height - 1}:" in node.log_tail(), f"{node.home}: {node.log_tail()}")
    nodes[0].start(wait=False)
    check(nodes[0].process.wait(timeout=60) == HALTED, f"it started: {nodes[0].log_tail()}")


def run_votes(binaries, folder):
    template = cometbft_e2e.Testnet(binaries, folder / "template", validators=1)
    genesis = json.loads((template.nodes[0].home / "genesis.json").read_text())
    genesis["params"]["vote_delay_blocks"] = 5
    genesis.pop("validators")
    genesis["balances"] = {template.accounts[0]: genesis["balances"][template.accounts[0]]}
    (folder / "genesis.json").write_text(json.dumps(genesis))
    net = cometbft_e2e.Testnet(binaries, folder, interval_ms=100, genesis=folder / "genesis.json")
    rpc = net.nodes[0].rpc
    try:
        net.start()
        net.await_height(2, range(4))
        clients = [cometbft_e2e.Client(net, net.nodes[0], f"validator{i}", key_of=node) for i, node in enumerate(net.nodes)]
        sponsor = cometbft_e2e.Client(net, net.nodes[0], "sponsor", key_of=template.nodes[0])
        for account in net.accounts:
            sponsor.run("account", "send", account, "10 ASY")
        version = rpc.call("node_status")["protocol_version"]
        pass_proposal(clients, "params", "jail_blocks=2000", "gas_price_min=60")
        cometbft_e2e.await_true("the parameters change", lambda: rpc.call("chain_params")["jail_blocks"] == 2000)
        check(clients[3].run("query", "params")["gas_price_min"] == "60", "the command line sees it")

        pass_proposal(clients, "halt")
        net.nodes[0].process.wait(timeout=60)
        next_block = int(re.findall(r"--resume-at (\d+)", net.nodes[0].log_tail())[-1])
        check_halted(net.nodes, next_block)
        for node in net.nodes:
            node.command += ["--resume-at", str(next_block)]
        net.start()
        net.await_height(next_block + 2, range(4))

        planned = rpc.height() + 60
        pass_proposal(clients, "upgrade", "--height", str(planned), "--protocol-version", str(version + 1))
        cometbft_e2e.await_true("the upgrade is planned", lambda: rpc.call("node_status")["plan"] is not None)
        check(rpc.call("node_status")["plan"]["height"] == planned, f"{rpc.call('node_status')['plan']}")
        check_halted(net.nodes, planned)
        for node in net.nodes[:3]:
            node.command = [str(binaries.parent / "tests" / "assayd_next"), str(node.home)]
        net.start(range(3))
        net.await_height(planned + 3, range(3))
        net.nodes[3].start(wait=False)
        check(net.nodes[3].process.wait(timeout=60) == HALTED, f"the old program went on: {net.nodes[3].log_tail()}")
        net.nodes[3].command = net.nodes[0].command[:1] + [str(net.nodes[3].home)]
        net.nodes[3].start()
        net.await_height(planned + 5, range(4))
        check(rpc.call("node_status")["protocol_version"] == version + 1, "the chain has the next version")
        with urllib.request.urlopen(f"http://{net.nodes[0].engine_rpc()}/header?height={planned + 2}", timeout=15) as answer:
            app = json.load(answer)["result"]["header"]["version"]["app"]
        check(int(app) == version + 1, f"the engine's headers have version {app}")
        refused = clients[0].ask("account", "send", net.accounts[1], "1 grains")
        check(refused.returncode == 10, f"a client of the old version signed: {refused.stdout} {refused.stderr}")
        print("agreed on", net.check_agreement(range(4)), "blocks")
    finally:
        net.stop()


def main():
    binaries = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="assay-votes-") as folder:
        why_not = cometbft_e2e.why_impossible(binaries, pathlib.Path(folder))
        if why_not:
            print(f"skipped: {why_not}")
            return
        run_votes(binaries, pathlib.Path(folder))
    print("ok")


if __name__ == "__main__":
    main()
