#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many validators with the real CometBFT on this host.

    cometbft_e2e.py BIN demo KIND        the demo of one fraud on four validators
    cometbft_e2e.py BIN minority         one validator down: blocks go on; two: they stop, and go on when one is back, with
                                         what was submitted meanwhile and passed on in bundles
    cometbft_e2e.py BIN kill TIMES SEED  kill -9 of nodes and engines at random, under load
    cometbft_e2e.py BIN crash-points POINTS VALIDATORS
                                         the engine's own crash points, one after the other, under load
    cometbft_e2e.py BIN join             a full node joins by replaying the blocks
    cometbft_e2e.py BIN state-sync       a full node joins by a snapshot of the state, and goes on
    cometbft_e2e.py BIN pruning          old blocks and states go, here and in the engine; the chain goes on
    cometbft_e2e.py BIN staking          a full node becomes a validator by staking, and leaves again
    cometbft_e2e.py BIN double-sign      two nodes with one key: its stake is slashed by the engine's evidence

Without CometBFT it says so in one line that begins with "skipped: ", and ends with 0.
"""
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "demo"))
import demo_e2e  # noqa: E402
from traffic import Burst, Load  # noqa: E402

check = demo_e2e.check
INSTALL = "go install github.com/cometbft/cometbft/cmd/cometbft@v0.38.25"


class Rpc:
    """A node's JSON-RPC."""

    def __init__(self, url):
        self.url = url

    def call(self, method, **params):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=15) as answer:
            out = json.load(answer)
        if "error" in out:
            raise RuntimeError(f"{method}: {out['error']}")
        return out["result"]

    def height(self):
        return self.call("node_status")["height"]


class Node:
    """An assayd of a testnet, started and killed as a test wants."""

    def __init__(self, binaries, home, url):
        self.binaries, self.home, self.rpc = binaries, home, Rpc(url)
        self.process = None
        self.launcher = []  # what runs it, such as a command that enters a namespace
        self.command = [str(binaries / "assayd"), "start", "--home", str(home)]

    def start(self, environment=None, wait=True):
        log = open(self.home / "data" / "assayd.log", "a")
        self.process = subprocess.Popen(
            [*self.launcher, *self.command], stdout=subprocess.PIPE, stderr=log,
            text=True, env={**os.environ, **(environment or {})})
        log.close()
        if wait:
            self.await_ready()

    def configure(self, section, **settings):
        """Changes config.toml; what is not said there has its default, as a comment."""
        file = self.home / "config.toml"
        head, body = file.read_text().split(f"[{section}]\n", 1)
        for key, value in settings.items():
            body, count = re.subn(rf"^(# )?{key} = .*$", lambda _: f"{key} = {json.dumps(value)}", body, count=1, flags=re.M)
            check(count == 1, f"{file} has no {section}.{key}")
        file.write_text(f"{head}[{section}]\n{body}")

    def engine_rpc(self):
        text = (self.home / "config.toml").read_text()
        return "127.0.0.1:" + re.search(r"\[cometbft\].*?^rpc_port = (\d+)", text, re.S | re.M).group(1)

    def await_ready(self):
        line = self.process.stdout.readline()
        check(line.startswith("assayd ready"), f"{self.home} did not become ready: {self.log_tail()}")

    def log_tail(self):
        return (self.home / "data" / "assayd.log").read_text()[-2000:]

    def engine_pid(self):
        found = subprocess.run(["pgrep", "-f", f"start --home={self.home / 'cometbft'} "], capture_output=True, text=True)
        return [int(pid) for pid in found.stdout.split()]

    def kill(self, of="node"):
        """kill -9 of the node or of its engine; the other ends by itself."""
        engines = self.engine_pid()
        if of == "engine" and engines:
            os.kill(engines[0], signal.SIGKILL)
            self.process.wait(timeout=30)
        else:
            self.process.kill()
            self.process.wait()
        end = time.monotonic() + 20
        while self.engine_pid() and time.monotonic() < end:
            time.sleep(0.05)
        check(not self.engine_pid(), f"the engine of {self.home} outlived its node")

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=60)


class Testnet:
    def __init__(self, binaries, folder, validators=4, full_nodes=0, interval_ms=200, genesis=None):
        self.binaries, self.folder = binaries, folder / "net"
        more = ["--genesis", str(genesis)] if genesis else []
        out = self.assayd("testnet", "--home", str(self.folder), "--validators", str(validators), "--full-nodes",
                          str(full_nodes), "--base-port", "0", "--block-interval-ms", str(interval_ms), "-o", "json", *more)
        self.nodes = [Node(binaries, pathlib.Path(n["home"]), n["rpc"]) for n in out["nodes"]]
        self.accounts = [n["account"] for n in out["nodes"]]

    def assayd_account(self, index):
        return self.accounts[index]

    def add_twin(self, index):
        """A node of the same chain with the validator key of another, ports and identity of its own."""
        other = self.assayd("testnet", "--home", str(self.folder / "twin"), "--validators", "1", "--base-port", "0",
                            "--block-interval-ms", "200", "-o", "json")["nodes"][0]
        home, original = pathlib.Path(other["home"]), self.nodes[index].home
        for name in ("genesis.json", "cometbft/config/genesis.json", "cometbft/config/priv_validator_key.json"):
            shutil.copy(original / name, home / name)
        peers = re.search(r"^peers = .*$", (original / "config.toml").read_text(), re.M).group(0)
        config = (home / "config.toml").read_text()
        (home / "config.toml").write_text(re.sub(r"^#? ?peers = .*$", lambda _: peers, config, flags=re.M))
        return Node(self.binaries, home, other["rpc"])

    def assayd(self, *arguments):
        result = subprocess.run([str(self.binaries / "assayd"), *arguments], capture_output=True, text=True, timeout=120)
        check(result.returncode == 0, f"assayd {arguments[0]}: {result.stderr}")
        return json.loads(result.stdout)

    def start(self, which=None):
        chosen = [n for i, n in enumerate(self.nodes) if which is None or i in which]
        for node in chosen:
            node.start(wait=False)
        for node in chosen:
            node.await_ready()

    def stop(self):
        with concurrent.futures.ThreadPoolExecutor() as pool:
            list(pool.map(Node.stop, self.nodes))

    def await_height(self, height, which, timeout=90):
        end = time.monotonic() + timeout
        for node in (self.nodes[i] for i in which):
            while node.rpc.height() < height:
                check(time.monotonic() < end, f"{node.home} did not reach height {height}: {node.log_tail()}")
                time.sleep(0.1)

    def check_agreement(self, which, first=1):
        """Every one of these nodes has the same block and the same state at every height from `first` on."""
        heights = [self.nodes[i].rpc.height() for i in which]
        for height in range(first, min(heights) + 1):
            found = {(b["hash"], b["app_hash"]) for b in (self.nodes[i].rpc.call("chain_block", height=height) for i in which)}
            check(len(found) == 1, f"nodes disagree at height {height}: {found}")
        return min(heights)


class Client:
    """The command line with a key of its own, at a node."""

    def __init__(self, net, node, name, key_of=None):
        self.net, self.node, self.name = net, node, name
        self.home = net.folder / f"client-{name}"
        self.home.mkdir()
        self.run("keys", "import", name, str((key_of or node).home / "node_key"))

    def ask(self, *arguments):
        command = [*self.node.launcher, str(self.net.binaries / "assay"), "--home", str(self.home), "--node", self.node.rpc.url, "-o", "json", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=90, env={**os.environ, "ASSAY_PASSWORD": "pw"})

    def run(self, *arguments):
        result = self.ask(*arguments)
        check(result.returncode == 0, f"{arguments}: {result.stdout} {result.stderr}")
        return json.loads(result.stdout)

    def validators(self):
        return {v["account"]: v for v in self.run("validator", "list")["validators"]}


def await_true(what, condition, timeout=90):
    end = time.monotonic() + timeout
    while not condition():
        check(time.monotonic() < end, f"not in time: {what}")
        time.sleep(0.3)


def under_load(net, which=None):
    payers = [Client(net, net.nodes[0], f"payer{i}", key_of=node) for i, node in enumerate(net.nodes)]
    return Load(net, payers, which)


def run_demo(binaries, folder, kind):
    report, _ = demo_e2e.run_demo(binaries, folder / "home", "--fraud", kind, "--seed", "7", "--validators", "4")
    demo_e2e.check_shape(report)
    demo_e2e.check_fraud(report, kind)


def run_minority(binaries, folder):
    burst = Burst(binaries, folder, 400)
    net = Testnet(binaries, folder, genesis=burst.genesis)
    try:
        net.start()
        net.await_height(3, range(4))
        net.nodes[3].kill()
        net.await_height(net.nodes[0].rpc.height() + 5, range(3))
        net.nodes[2].kill()
        time.sleep(3)
        stuck = net.nodes[0].rpc.height()
        time.sleep(5)
        check(net.nodes[0].rpc.height() <= stuck + 1, "two of four validators made blocks")
        burst.submit(net.nodes[0])
        entries = burst.check_spread(net.nodes[1])
        net.nodes[2].start()
        net.await_height(stuck + 5, range(3))
        net.nodes[3].start()
        net.await_height(net.nodes[0].rpc.height(), range(4))
        for node in net.nodes:
            burst.check_executed(node)
        print(f"agreed on {net.check_agreement(range(4))} blocks; {len(burst.txs)} transfers in {entries} entries of a mempool")
    finally:
        net.stop()


def run_kill(binaries, folder, times, seed):
    net = Testnet(binaries, folder)
    chooser = random.Random(seed)
    print(f"seed {seed}")
    try:
        net.start()
        with under_load(net) as load:
            for _ in range(times):
                time.sleep(chooser.uniform(0.1, 1.5))
                node = chooser.choice(net.nodes)
                node.kill(chooser.choice(["node", "engine"]))
                node.start()
            net.await_height(max(n.rpc.height() for n in net.nodes) + 2, range(4))
        net.await_height(max(n.rpc.height() for n in net.nodes), range(4))
        heights = net.check_agreement(range(4))
        print(f"{times} kills, {load.check_executed()} transfers, none lost; agreed on {heights} blocks")
    finally:
        net.stop()


def crash_at(node, index):
    """Starts the node so that its engine dies at its crash point number `index`, counted as it comes to them."""
    node.start(environment={"FAIL_TEST_INDEX": str(index)}, wait=False)
    try:
        node.process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        node.stop()
        check(False, f"crash point {index} was not met in a minute")
    check(node.process.returncode != 0, "the node did not say that its engine ended")
    said = (node.home / "data" / "cometbft.log").read_text()
    check(f"*** fail-test {index} ***" in said, f"the engine ended by something else than crash point {index}")


def run_crash_points(binaries, folder, points, validators):
    net = Testnet(binaries, folder, validators=validators)
    node = net.nodes[0]
    try:
        net.start()
        net.await_height(2, range(validators))
        with under_load(net) as load:
            load.await_first()
            for index in range(points):
                node.stop()
                crash_at(node, index)
                node.start()
                net.await_height(node.rpc.height() + 2, range(validators))
        net.await_height(max(n.rpc.height() for n in net.nodes), range(validators))
        heights = net.check_agreement(range(validators))
        print(f"{points} crash points, all recovered; {load.check_executed()} transfers, none lost; {heights} blocks")
    finally:
        net.stop()


def run_join(binaries, folder):
    net = Testnet(binaries, folder, full_nodes=1)
    try:
        net.start(range(4))
        net.await_height(15, range(4))
        net.nodes[4].start()
        net.await_height(net.nodes[0].rpc.height() + 3, range(5))
        print("agreed on", net.check_agreement(range(5)), "blocks")
        audit_whole_chain(net, binaries)
    finally:
        net.stop()


def audit_whole_chain(net, binaries):
    """Exports every block with its transactions from the node that joined, and verifies them without any node."""
    client = Client(net, net.nodes[4], "auditor")
    sent = client.run("account", "send", net.assayd_account(0), "1 ASY")["hash"]
    net.await_height(net.nodes[4].rpc.height() + 3, [4])
    out = net.folder / "chain.json"
    said = client.run("audit", "export", "--chain", "--out", str(out))
    check(said["verified"] and said["blocks"] == said["height"] + 1, f"the chain's export: {said}")
    whole = json.loads(out.read_text())
    check(sum(len(block.get("txs", [])) for block in whole["blocks"]) >= 1, f"transaction {sent} is not in the export")
    offline = [str(binaries / "assay"), "--node", "http://127.0.0.1:9", "-o", "json", "audit", "verify", "--file", str(out)]
    done = subprocess.run(offline, capture_output=True, text=True, timeout=90)
    check(done.returncode == 0, f"the file does not verify: {done.stdout} {done.stderr}")
    holder = next(block for block in whole["blocks"] if block.get("txs"))
    holder["txs"] = []
    out.write_text(json.dumps(whole))
    done = subprocess.run(offline, capture_output=True, text=True, timeout=90)
    check(done.returncode == 10 and "are not the transactions" in done.stdout, f"a block without its transactions verifies: {done.stdout}")
    print("the whole chain was exported and verified without a node")


def run_state_sync(binaries, folder):
    net = Testnet(binaries, folder, full_nodes=1)
    newcomer = net.nodes[4]
    try:
        for node in net.nodes:
            node.configure("snapshot", interval_blocks=10)
        net.start(range(4))
        with under_load(net, range(4)) as load:
            net.await_height(25, range(4))
        account = net.assayd_account(0)
        trusted = net.nodes[0].rpc.call("chain_block", height=5)
        newcomer.configure("cometbft", state_sync_rpc=",".join(n.engine_rpc() for n in net.nodes[:2]),
                           state_sync_trust_height=5, state_sync_trust_hash=trusted["hash"])
        newcomer.start(environment={"CMT_STATESYNC_DISCOVERY_TIME": "5s"})
        net.await_height(net.nodes[0].rpc.height() + 3, range(5))
        first = newcomer.rpc.call("node_status")["first_block"]
        check(first > 10 and first % 10 == 1, f"the newcomer began after a snapshot, not at block {first}")
        check("state sync: the state is that of height" in newcomer.log_tail(), newcomer.log_tail())
        for method, params in (("chain_block", {"height": 3}), ("chain_proof", {"account": account, "height": 3})):
            try:
                newcomer.rpc.call(method, **params)
                check(False, f"{method} answers what is not here")
            except RuntimeError as error:
                check("is not here: heights" in str(error), f"{method}: {error}")
        # The same state at every height that it has, also after a crash, and it takes and relays transactions.
        newcomer.kill()
        newcomer.start()
        client = Client(net, newcomer, "newcomer")
        check(client.run("account", "show", account)["nonce"] > 0, "the state is there")
        client.run("account", "send", account, "1 grains")
        heights = net.check_agreement(range(5), first + 1)
        print(f"joined at height {first - 1} of {heights}, {len(load.executed)} transfers; agreed since")
    finally:
        net.stop()


def run_pruning(binaries, folder):
    # The evidence of the chain counts for 50 blocks only: no more than 100 have to be kept.
    template = Testnet(binaries, folder / "template", validators=1)
    genesis = json.loads((template.nodes[0].home / "genesis.json").read_text())
    genesis["params"]["unbonding_blocks"] = 50
    genesis["params"]["validator_unbonding_ms"] = 1000
    genesis["params"]["trusting_period_ms"] = 500
    genesis.pop("validators")
    genesis["balances"] = {template.accounts[0]: genesis["balances"][template.accounts[0]]}
    (folder / "genesis.json").write_text(json.dumps(genesis))
    net = Testnet(binaries, folder, validators=2, interval_ms=20, genesis=folder / "genesis.json")
    pruning, keeping = net.nodes
    try:
        pruning.configure("pruning", keep_blocks=99)
        pruning.start(wait=False)
        check(pruning.process.wait(timeout=30) == 3 and "must be 0 or at least 100" in pruning.log_tail(), pruning.log_tail())
        pruning.configure("pruning", keep_blocks=100)
        net.start()
        net.await_height(130, range(2))
        pruning.kill()
        pruning.start()
        net.await_height(180, range(2))
        status = pruning.rpc.call("node_status")
        check(status["height"] - 110 < status["first_state"] < status["height"], f"pruned up to the last 100: {status}")
        check(status["first_block"] == status["first_state"] + 1, f"{status}")
        check(keeping.rpc.call("node_status")["first_block"] == 1, "the other keeps everything")
        with urllib.request.urlopen(f"http://{pruning.engine_rpc()}/status", timeout=15) as answer:
            earliest = int(json.load(answer)["result"]["sync_info"]["earliest_block_height"])
        check(earliest > 20, f"the engine keeps its blocks from {earliest} on")
        try:
            pruning.rpc.call("chain_block", height=5)
            check(False, "an old block is there")
        except RuntimeError as error:
            check("is not here: heights" in str(error), f"{error}")
        heights = net.check_agreement(range(2), status["first_block"] + 20)
        print(f"pruned up to {status['first_state']} of {heights}, the engine up to {earliest}; agreed since")
    finally:
        net.stop()


def engine_set(node):
    """The powers of the engine's own validators, by address."""
    with urllib.request.urlopen(f"http://{node.engine_rpc()}/validators?per_page=100", timeout=15) as answer:
        found = json.load(answer)["result"]["validators"]
    return {v["address"].lower(): int(v["voting_power"]) for v in found}


def run_staking(binaries, folder):
    net = Testnet(binaries, folder, full_nodes=1)
    try:
        net.start()
        net.await_height(3, range(5))
        client = Client(net, net.nodes[4], "newcomer")
        account = client.run("keys", "show", "newcomer")["account"]
        check(account not in client.validators(), "the newcomer is no validator yet")
        key = str(net.nodes[4].home / "cometbft/config/priv_validator_key.json")
        client.run("stake", "bond", "validator", "5000 ASY")
        client.run("validator", "register", key)
        await_true("the newcomer votes", lambda: client.validators()[account]["power"] == 5000)
        address = client.validators()[account]["address"]
        await_true("the engine has it", lambda: engine_set(net.nodes[0]).get(address) == 5000)
        # Without it the others go on; with two others down, three of five with its power are too few.
        client.run("stake", "unbond", "validator", "5000 ASY")
        await_true("the engine lets it go", lambda: address not in engine_set(net.nodes[0]))
        check(client.validators()[account]["power"] == 0, "and so does the chain")
        net.await_height(net.nodes[0].rpc.height() + 3, range(5))
        print("agreed on", net.check_agreement(range(5)), "blocks")
    finally:
        net.stop()


def run_double_sign(binaries, folder):
    net = Testnet(binaries, folder)
    twin = None
    try:
        net.start()
        net.await_height(3, range(4))
        client = Client(net, net.nodes[0], "rich")
        victim = client.run("account", "show", net.assayd_account(3))["account"]
        before = client.validators()[victim]
        # The same validator key in another node, which knows nothing of what was signed.
        twin = net.add_twin(3)
        twin.start()
        await_true("the evidence is in a block", lambda: client.validators()[victim]["is_banned"], timeout=180)
        after = client.validators()[victim]
        check(after["power"] == 0 and int(after["slashed"]) > 0, f"banned and slashed: {after}")
        check(int(before["stake"]["free"]) - int(after["stake"]["free"]) == int(after["slashed"]), "the stake is gone")
        await_true("the engine lets it go", lambda: after["address"] not in engine_set(net.nodes[0]))
        net.await_height(net.nodes[0].rpc.height() + 3, range(3))
        print("slashed", after["slashed"], "grains; agreed on", net.check_agreement(range(3)), "blocks")
    finally:
        if twin:
            twin.stop()
        net.stop()


def why_impossible(binaries, folder):
    """Why CometBFT cannot be run here; None when it can."""
    probe = subprocess.run([str(binaries / "assayd"), "init", "--home", str(folder / "probe"), "--engine", "cometbft"],
                           capture_output=True, text=True)
    if probe.returncode != 0 and "cometbft" in probe.stderr:
        return f"{probe.stderr.strip()}; with Go 1.22 or newer: {INSTALL}"
    check(probe.returncode == 0, probe.stderr)
    return None


def main():
    binaries, mode, rest = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    with tempfile.TemporaryDirectory(prefix="assay-cometbft-") as folder:
        folder = pathlib.Path(folder)
        why_not = why_impossible(binaries, folder)
        if why_not:
            print(f"skipped: {why_not}")
            return
        modes = {"demo": lambda: run_demo(binaries, folder, rest[0]), "minority": lambda: run_minority(binaries, folder),
                 "kill": lambda: run_kill(binaries, folder, int(rest[0]), int(rest[1])),
                 "crash-points": lambda: run_crash_points(binaries, folder, int(rest[0]), int(rest[1])), "join": lambda: run_join(binaries, folder), "state-sync": lambda: run_state_sync(binaries, folder), "pruning": lambda: run_pruning(binaries, folder),
                 "staking": lambda: run_staking(binaries, folder),
                 "double-sign": lambda: run_double_sign(binaries, folder)}
        if mode not in modes:
            sys.exit(__doc__)
        modes[mode]()
    print("ok")


if __name__ == "__main__":
    main()
