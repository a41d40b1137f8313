#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The chain bench runs and prints its figures; what they are is not looked at.

    chain_bench.py ASSAY_BENCH PART...

The part cometbft is skipped where CometBFT is not installed: one line that begins with "skipped: ", and an end with 0.
"""
import json
import subprocess
import sys

SPREAD = {"median", "min", "max"}
SOLO = {"ratios": ["solo_over_bound", "bound_cpu_over_solo_cpu"],
        "transfers_per_s": ["solo", "bound"], "cpu_us_per_transfer": ["solo", "bound"]}
PER_TRANSFER = ["slots_read", "nodes_read", "nodes_written", "hashes", "bytes_read", "bytes_written", "execute_us",
                "tree_us", "write_us", "cpu_us"]
COMET_RATIOS = ["assayd_over_kvstore", "latency_over_kvstore", "cpu_over_kvstore"]


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def check_spread(spread, what):
    check(set(spread) == SPREAD, f"{what} has {sorted(spread)}")
    check(0 <= spread["min"] <= spread["median"] <= spread["max"], f"{what} is {spread}")


def check_solo(intervals):
    check(len({solo["block_interval_ms"] for solo in intervals}) == 2, "solo is measured with two intervals")
    for solo in intervals:
        for group, names in SOLO.items():
            for name in names:
                check_spread(solo[group][name], f"solo.{group}.{name}")
                check(solo[group][name]["min"] > 0, f"solo.{group}.{name} is 0")


def check_growth(growth):
    check(len(growth["sizes"]) == 2, "growth measures two sizes")
    for size in growth["sizes"]:
        check(size["accounts"] > 0 and size["database_bytes"] > 0, "a state has accounts and bytes")
        for name in PER_TRANSFER:
            check_spread(size["per_transfer"][name], f"growth.{name}")
        for name in ("nodes_read", "nodes_written", "hashes", "bytes_written"):
            check(size["per_transfer"][name]["min"] > 0, f"growth.{name} is 0")
    small, large = growth["sizes"]
    check(small["accounts"] < large["accounts"], "the state grows")


def check_comet(regimes):
    check(len(regimes) >= 2, "cometbft is measured in two regimes")
    for regime in regimes:
        for name in COMET_RATIOS:
            check_spread(regime["ratios"][name], f"cometbft.{name}")
        for side in ("assayd", "kvstore"):
            check_spread(regime[side]["transactions_per_s"], f"cometbft.{side}.transactions_per_s")
            for name in ("median", "p95"):
                check_spread(regime[side]["latency_s"][name], f"cometbft.{side}.latency_s.{name}")


def main():
    bench, *parts = sys.argv[1:]
    run = subprocess.run([bench, "chain", "--quick", "--parts", *parts], capture_output=True, text=True)
    check(run.returncode == 0, f"it ended with {run.returncode}: {run.stderr}")
    out = json.loads(run.stdout)
    check(out["bench"] == "chain" and out["quick"], "it says what it is")
    if "skipped" in out.get("cometbft", {}):
        print("skipped: " + out["cometbft"]["skipped"])
        return
    checks = {"solo": check_solo, "growth": check_growth, "cometbft": check_comet}
    for part in parts:
        checks[part](out[part])


if __name__ == "__main__":
    main()
