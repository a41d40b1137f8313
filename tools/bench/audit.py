#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long an audit takes: seconds of `assay audit task` for a task of so many history records on a chain of its own.

    audit.py BIN [--validators 4] > docs/benchmarks/audit.json

The records come from rules that run by themselves: the task's only solver never accepts, so that it lapses and is drawn
again until it has them all, a few to a block.
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

SOLVER_STAKE = "100000 ASY"


class Chain:
    """Of one node under the embedded engine, or of several validators under CometBFT."""

    def __init__(self, binaries, folder, validators):
        self.binaries, self.client, self.validators, self.nodes = binaries, folder / "client", validators, []
        homes = [folder / "node"]
        if validators == 0:
            self.tool("assayd", "init", "--home", str(homes[0]), "-o", "json")
        else:
            written = self.tool("assayd", "testnet", "--home", str(folder / "net"), "--validators", str(validators),
                                "--base-port", "0", "--block-interval-ms", "1", "-o", "json")
            homes = [pathlib.Path(node["home"]) for node in written["nodes"]]
        self.home = homes[0]
        genesis = json.loads((self.home / "genesis.json").read_text())
        genesis["params"]["accept_blocks"] = 1
        self.client.mkdir()
        for home in homes:
            (home / "genesis.json").write_text(json.dumps(genesis))
            self.nodes.append(self.start(home, ["--rpc-port", "0", "--block-interval-ms", "1"] if validators == 0 else []))
        self.url = [self.await_ready(node) for node in self.nodes][0]

    def start(self, home, arguments):
        log = open(home.parent / f"{home.name}.log", "w")
        return subprocess.Popen([str(self.binaries / "assayd"), "start", "--home", str(home), *arguments],
                                stdout=subprocess.PIPE, stderr=log, text=True)

    def await_ready(self, node):
        ready = node.stdout.readline()
        if not ready.startswith("assayd ready"):
            sys.exit(f"a node did not start: {ready}")
        return ready.split()[-1]

    def tool(self, name, *arguments):
        done = subprocess.run([str(self.binaries / name), *arguments], capture_output=True, text=True,
                              env={**os.environ, "ASSAY_PASSWORD": "pw"})
        if done.returncode != 0:
            sys.exit(f"{name} {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    def assay(self, *arguments):
        return self.tool("assay", "--home", str(self.client), "--node", self.url, "-o", "json", *arguments)

    def trust(self):
        """What an auditor knows: who signs, or the first block."""
        if self.validators == 0:
            return ["--proposer", self.assay("keys", "show", "owner")["account"]]
        return ["--trust-height", "1", "--trust-hash", self.assay("query", "block", "1")["hash"]]

    def stop(self):
        for node in self.nodes:
            node.terminate()
        for node in self.nodes:
            node.wait()


def make_task(chain, directory, records, folder):
    chain.assay("keys", "import", "owner", str(chain.home / "node_key"))
    chain.assay("stake", "bond", "solver", SOLVER_STAKE)
    task = chain.assay("task", "submit", str(directory), "--store", str(folder / "store"), "--location",
                       "http://127.0.0.1:1")["task"]
    while int(chain.assay("task", "status", task)["history_count"]) < records:
        time.sleep(1)
    return task


def measure(chain, task, arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    answer = chain.assay("audit", "task", task, *arguments)
    seconds = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if not answer["verified"]:
        sys.exit(f"the audit fails: {answer}")
    return {"seconds": seconds, "auditor_cpu_seconds": cpu, "records": answer["records"], "height": answer["height"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--validators", type=int, default=0, help="under CometBFT; 0: the embedded engine")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--task", type=pathlib.Path, default=pathlib.Path("examples/mlp"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-audit-") as folder:
        folder = pathlib.Path(folder)
        chain = Chain(options.binaries, folder, options.validators)
        try:
            start = time.monotonic()
            task = make_task(chain, options.task, options.records, folder)
            print(f"{options.records} records made in {time.monotonic() - start:.0f} s", file=sys.stderr)
            runs = [measure(chain, task, chain.trust()) for _ in range(options.repeats)]
        finally:
            chain.stop()

    def spread(name):
        values = [run[name] for run in runs]
        return {"median": statistics.median(values), "min": min(values), "max": max(values)}

    print(json.dumps({"validators": options.validators, "records": spread("records"), "height": spread("height"), "seconds": spread("seconds"),
                      "auditor_cpu_seconds": spread("auditor_cpu_seconds")}, indent=2))


if __name__ == "__main__":
    main()
