#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether honest parties do their duties while strangers read as much as they can.

    duties.py BIN OUT.json [--subscribers N] [--reads N] [--seed N]

Runs `assay demo` twice with one seed: alone, and while N subscribers follow its node's blocks and N mixed reads a second
are asked of it. The demo has one honest task, which has to settle, and one with a wrong tile, whose solver has to be
convicted. Prints for each run how many blocks and seconds the tasks took and what was lost by whom, and the ratio.
"""
import argparse
import asyncio
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import push  # noqa: E402

URL = re.compile(r"http://127\.0\.0\.1:(\d+)")


async def find_port(process):
    """From what the demo prints; a thread goes on reading it, so that the demo never waits for a reader."""
    found = asyncio.get_running_loop().create_future()

    def read(loop):
        for line in process.stdout:
            if (match := URL.search(line)) and not found.done():
                loop.call_soon_threadsafe(lambda port=int(match[1]): found.done() or found.set_result(port))

    reader = asyncio.create_task(asyncio.to_thread(read, asyncio.get_running_loop()))
    return await asyncio.wait_for(found, 60), reader


async def demo(options, folder, is_loaded):
    report = folder / "report.json"
    environment = {**os.environ, "ASSAY_RPC_CONNECTIONS_MAX": str(options.subscribers + 200)}
    began = time.monotonic()
    process = subprocess.Popen([options.bin / "assay", "demo", "--no-open", "--seed", str(options.seed), "--report", report], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    port, output = await find_port(process)
    subscribers, follows, reading, delays, failures, over = [], [], None, [], [], []
    if is_loaded:
        subscribers = [push.Subscriber(number, port) for number in range(options.subscribers)]
        follows = [asyncio.create_task(each.follow(10**9)) for each in subscribers]
        reading = asyncio.create_task(push.read(port, options.reads, delays, failures, lambda: bool(over)))
    most = 0
    while process.poll() is None:
        most = max(most, sum(each.is_connected for each in subscribers))
        await asyncio.sleep(0.2)
    over.append(True)
    seconds = time.monotonic() - began
    for follow in follows:
        follow.cancel()
    await asyncio.gather(*follows, return_exceptions=True)
    if reading:
        await reading
    await output
    out = {"exit_code": process.returncode, "seconds": round(seconds, 1)}
    if process.returncode == 0:
        out.update(outcome(json.loads(report.read_text())))
    if is_loaded:
        out.update(subscribers_connected=most, messages=sum(len(each.heights) for each in subscribers),
                   missed_or_doubled=sum(len(each.faults) for each in subscribers), reads=len(delays), reads_failed=len(failures),
                   read_ms=push.percentiles(sorted(delays)))
    return out


def outcome(report):
    """What the rules made of the duties: how the tasks ended, in how many blocks, and who lost what for which reason."""
    tasks, losses = [], []
    for task in report["tasks"]:
        heights = [event["height"] for event in task["history"]]
        tasks.append({"state": task["state"], "blocks": heights[-1] - heights[0]})
        losses += [event for event in task["history"] if event["event"] in ("slashed", "deadline_missed")]
    cheat = report["tasks"][-1]["solver"]
    honest = [event for event in losses if event.get("from", event.get("account")) != cheat]
    return {"tasks": tasks, "losses_of_honest_parties": len(honest), "losses": len(losses)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--subscribers", type=int, default=1000)
    parser.add_argument("--reads", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4 * options.subscribers + 1_000
    if hard != resource.RLIM_INFINITY and hard < wanted:
        raise SystemExit(f"duties: {wanted} file descriptors are needed, and {hard} are the limit")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    out = {"bench": "duties", "cores": os.cpu_count(), "subscribers": options.subscribers, "reads_per_s": options.reads}
    for name, is_loaded in (("alone", False), ("loaded", True)):
        with tempfile.TemporaryDirectory(prefix="assay-duties-") as folder:
            out[name] = asyncio.run(demo(options, pathlib.Path(folder), is_loaded))
        print(name, json.dumps(out[name]), file=sys.stderr, flush=True)
    out["seconds_ratio"] = round(out["loaded"]["seconds"] / out["alone"]["seconds"], 2)
    options.out.write_text(json.dumps(out, indent=1) + "\n")
    kept = all(out[name]["exit_code"] == 0 and out[name]["losses_of_honest_parties"] == 0 for name in ("alone", "loaded"))
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
