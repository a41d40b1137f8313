#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Signed transfers through the JSON-RPC of one node, to the block that has them: throughput and latency.

    sudo python3 tools/bench/front_door.py build/release/bin OUT.json [--parts solo network kvstore cosmos] [--rates N ...]
        [--seconds N] [--delay-ms N] [--mbit N] [--interval-ms N] [--outstanding N] [--cosmos DIR] [--cosmos-rates N ...]
        [--quick]

solo       one node with the embedded engine
network    four validators under CometBFT, each in a network namespace of its own, with a delay between each two
kvstore    the same network of CometBFT's own kvstore, whose transactions are not signed, through CometBFT's RPC
cosmos     the same network of the Cosmos SDK's example chain, with bank transfers that pay no fee, each of an account of
           its own, through the RPC of its engine; --cosmos names what tools/bench/cosmos/build.sh made, and --cosmos-rates
           gives it lower rates, without which it would take a quarter of an hour

All parameters of the chain are those that it has by default. At each rate as many transfers a second are offered, and at
the end 4,000 are kept under way, or as many as --outstanding says: assayd's mempool has room for 10,000, the others' for 5,000. The client runs on the machine of the nodes and takes processor time from them; so do
the processes that forward frames between namespaces.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import emulated_links as emulated  # noqa: E402

VALIDATORS = 4
MEMPOOL_TXS = 5_000  # the default of both
TICKS = os.sysconf("SC_CLK_TCK")


def check(condition, what):
    if not condition:
        raise SystemExit(f"front_door: {what}")


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    check(done.returncode == 0, f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr}{done.stdout}")
    return done.stdout


def cpu_seconds(pids):
    """Of these processes and their children."""
    total, todo = 0, list(pids)
    while todo:
        pid = todo.pop()
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            todo += (task / "children").read_text().split()
    return total / TICKS


class Nodes:
    """Processes that make up a chain; the client asks the first one."""

    def __init__(self, folder):
        self.folder, self.processes, self.url, self.protocol, self.links = folder, [], "", "assay", None

    def start(self, command, log, environment=None, ready=None):
        with open(self.folder / log, "w") as file:
            process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE if ready else file, stderr=file,
                                       text=True, env={**os.environ, **(environment or {})})
        self.processes.append(process)
        if ready:
            line = process.stdout.readline()
            check(ready in line, f"a node does not start: {(self.folder / log).read_text()[-2000:]}")
            return line.strip()
        return ""

    def inside(self, rank, command):
        return self.links.command(rank, command) if self.links else command

    def stop(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self.links:
            self.links.close()


class Solo(Nodes):
    def __init__(self, options, folder):
        super().__init__(folder)
        assayd, home = options.bin / "assayd", folder / "home"
        run(assayd, "init", "--home", home, "--genesis", folder / "genesis.json")
        line = self.start([assayd, "start", "--home", home, "--rpc-port", 0, "--block-interval-ms", options.interval_ms],
                          "solo.log", ready="rpc ")
        self.url = re.search(r"rpc (http\S+)", line).group(1)


class Network(Nodes):
    def __init__(self, options, folder):
        super().__init__(folder)
        self.links = emulated.Links(options.bin / "assay-bench", VALIDATORS, options.mbit, options.delay_ms)
        assayd = options.bin / "assayd"
        out = json.loads(run(assayd, "testnet", "--home", folder / "net", "--validators", VALIDATORS, "--genesis",
                             folder / "genesis.json", "--base-port", 0, "--block-interval-ms", options.interval_ms, "-o", "json"))
        self.url = out["nodes"][0]["rpc"]
        homes = [pathlib.Path(node["home"]) for node in out["nodes"]]
        ports = [re.search(r"^p2p_port = (\d+)", (home / "config.toml").read_text(), re.M).group(1) for home in homes]
        for rank, home in enumerate(homes):
            config = (home / "config.toml").read_text()
            for other, port in enumerate(ports):
                config = config.replace(f"@127.0.0.1:{port}", f"@{emulated.address(other)}:{port}")
            config = re.sub(r"^# p2p_address = .*$", f'p2p_address = "{emulated.address(rank)}"', config, flags=re.M)
            (home / "config.toml").write_text(config)
        for rank, home in enumerate(homes):
            self.start(self.inside(rank, [assayd, "start", "--home", home]), f"node{rank}.log", ready="rpc ")


class Kvstore(Nodes):
    """With the settings that assayd gives its engine (consensus/cometbft/supervisor.cpp)."""

    def __init__(self, options, folder):
        super().__init__(folder)
        self.protocol, self.url = "comet", "http://127.0.0.1:26657"
        self.links = emulated.Links(options.bin / "assay-bench", VALIDATORS, options.mbit, options.delay_ms)
        run(options.cometbft, "testnet", "--v", VALIDATORS, "--o", folder / "kv", "--starting-ip-address", emulated.address(0))
        environment = {
            "CMT_CONSENSUS_TIMEOUT_COMMIT": f"{options.interval_ms}ms", "CMT_MEMPOOL_SIZE": str(MEMPOOL_TXS),
            "CMT_TX_INDEX_INDEXER": "null", "CMT_P2P_ADDR_BOOK_STRICT": "false", "CMT_RPC_MAX_REQUEST_BATCH_SIZE": "0",
            "CMT_LOG_LEVEL": "error"}
        for rank in range(VALIDATORS):
            self.start(self.inside(rank, [options.cometbft, "start", "--home", folder / "kv" / f"node{rank}", "--proxy_app=kvstore",
                                          "--rpc.laddr=tcp://127.0.0.1:26657", f"--p2p.laddr=tcp://{emulated.address(rank)}:26656"]),
                       f"kv{rank}.log", environment)


class Cosmos(Nodes):
    def __init__(self, options, folder):
        super().__init__(folder)
        self.protocol, self.url = "comet", "http://127.0.0.1:26657"
        self.links = emulated.Links(options.bin / "assay-bench", VALIDATORS, options.mbit, options.delay_ms)
        environment = {
            "SIMD_CONSENSUS_TIMEOUT_COMMIT": f"{options.interval_ms}ms", "SIMD_MEMPOOL_SIZE": str(MEMPOOL_TXS),
            "SIMD_TX_INDEX_INDEXER": "null", "SIMD_P2P_ADDR_BOOK_STRICT": "false", "SIMD_RPC_PPROF_LADDR": ""}
        for rank in range(VALIDATORS):
            home = cosmos_home(folder, rank)
            self.start(self.inside(rank, [options.cosmos / "simd", "start", "--home", home, "--grpc.enable=false", "--grpc-web.enable=false",
                                          "--rpc.laddr=tcp://127.0.0.1:26657", f"--p2p.laddr=tcp://{emulated.address(rank)}:26656",
                                          "--minimum-gas-prices=0stake", "--log_level=error"]),
                       f"cosmos{rank}.log", environment)


COSMOS_CHAIN = "front-door"


def cosmos_home(folder, rank):
    return folder / "cosmos" / f"node{rank}" / "simd"


def make_cosmos(options, folder, total):
    """Homes of the validators, with a genesis whose accounts send the transfers."""
    run(options.cosmos / "simd", "testnet", "init-files", "--v", VALIDATORS, "--output-dir", folder / "cosmos", "--chain-id", COSMOS_CHAIN,
        "--starting-ip-address", emulated.address(0), "--keyring-backend", "test")
    genesis, transfers = cosmos_home(folder, 0) / "config" / "genesis.json", folder / "cosmos-transfers"
    run(options.cosmos / "transfers", total, COSMOS_CHAIN, genesis, transfers)
    for rank in range(1, VALIDATORS):
        shutil.copy(genesis, cosmos_home(folder, rank) / "config" / "genesis.json")
    return transfers


PARTS = {"solo": Solo, "network": Network, "kvstore": Kvstore, "cosmos": Cosmos}


def await_blocks(nodes):
    """Until the chain makes blocks."""
    probe = ("import sys; sys.path.insert(0, sys.argv[1]); import front_door_client as c; "
             "p = c.Assay() if sys.argv[3] == 'assay' else c.Comet(); print(p.height(c.Connection(sys.argv[2])))")
    end = time.monotonic() + 60
    while True:
        asked = subprocess.run(nodes.inside(0, [sys.executable, "-B", "-c", probe, str(HERE), nodes.url, nodes.protocol]),
                               capture_output=True, text=True)
        if asked.returncode == 0 and int(asked.stdout) >= 3:
            return
        check(time.monotonic() < end, f"the chain makes no blocks: {asked.stderr[-1000:]}")
        time.sleep(0.5)


def loads_of(options, part):
    """The rates that are offered to a part, with how many transactions; at the end as many as there is room for."""
    rates = options.cosmos_rates if part == "cosmos" else options.rates
    return [(rate, (rate or max(rates)) * options.seconds) for rate in [*rates, 0]]


def total_of(options, part):
    return sum(count for _, count in loads_of(options, part))


def measure(options, folder, part, transactions):
    nodes = None
    out, used = [], 0
    try:
        nodes = PARTS[part](options, folder)
        await_blocks(nodes)
        for rate, count in loads_of(options, part):
            given = {"url": nodes.url, "protocol": nodes.protocol, "file": str(transactions),
                     "from": used, "count": count, "rate": rate, "outstanding": options.outstanding, "seconds_max": 20 * options.seconds + 60}
            used += count
            before = cpu_seconds(process.pid for process in nodes.processes)
            said = json.loads(run(*nodes.inside(0, [sys.executable, "-B", HERE / "front_door_client.py", json.dumps(given)])))
            said["node_cpu_us_per_transaction"] = round(
                (cpu_seconds(process.pid for process in nodes.processes) - before) * 1e6 / count, 1)
            out.append(said)
            print(part, json.dumps(said), file=sys.stderr, flush=True)
    finally:
        if nodes:
            nodes.stop()
    return out


def make_transfers(options, folder):
    total = total_of(options, "solo")
    said = json.loads(run(options.bin / "assay-bench", "transfers", "--count", total, "--genesis", folder / "genesis.json",
                          "--out", folder / "transfers"))
    with open(folder / "pairs", "w") as file:
        for number in range(total):
            # A key and a value of the kvstore, as long as a transfer.
            file.write(f"key{number:012d}=".encode().ljust(said["tx_bytes"], b"v").hex() + "\n")
    return said, {"solo": folder / "transfers", "network": folder / "transfers", "kvstore": folder / "pairs"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=["solo", "network", "kvstore"])
    parser.add_argument("--cosmos", type=lambda text: pathlib.Path(text).resolve(), help="folder with simd and transfers")
    parser.add_argument("--rates", nargs="+", type=int, default=[1_000, 2_000])
    parser.add_argument("--cosmos-rates", nargs="+", type=int, default=[200])
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--delay-ms", type=float, default=100)
    parser.add_argument("--mbit", type=int, default=1_000)
    parser.add_argument("--interval-ms", type=int, default=1_000)
    parser.add_argument("--outstanding", type=int, default=4_000, help="transactions under way at the end")
    parser.add_argument("--cometbft", default="cometbft")
    parser.add_argument("--quick", action="store_true", help="whether it runs, not what it gives")
    options = parser.parse_args()
    if options.quick:
        options.rates, options.cosmos_rates, options.seconds, options.interval_ms = [50], [50], 2, 200
    if set(options.parts) != {"solo"}:
        lacking = emulated.missing()
        check(not lacking, "all parts but solo need " + ", ".join(lacking))
    check("cosmos" not in options.parts or options.cosmos, "the part cosmos needs --cosmos DIR: tools/bench/cosmos/build.sh DIR")
    with tempfile.TemporaryDirectory(prefix="assay-front-door-") as name:
        folder = pathlib.Path(name)
        said, transactions = make_transfers(options, folder)
        if "cosmos" in options.parts:
            transactions["cosmos"] = make_cosmos(options, folder, total_of(options, "cosmos"))
        out = {"bench": "front-door", "cores": os.cpu_count(), "block_interval_ms": options.interval_ms, "seconds": options.seconds,
               "tx_bytes": said["tx_bytes"], "block_gas_max": said["block_gas_max"], "validators": VALIDATORS,
               "delay_ms": options.delay_ms, "mbit": options.mbit, "outstanding_at_saturation": options.outstanding}
        for part in options.parts:
            out[part] = measure(options, folder, part, transactions[part])
    for other in {"kvstore", "cosmos"} & set(out):
        if "network" in out:
            out[f"network_over_{other}"] = round(out["network"][-1]["committed_per_s"] / out[other][-1]["committed_per_s"], 3)
    options.out.write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
