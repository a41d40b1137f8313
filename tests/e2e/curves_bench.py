#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`assay-bench curves --out` that is killed goes on where it was: python3 curves_bench.py ASSAY_BENCH

The losses have to be those of a run that nobody stopped, and what was finished must not be computed again. Runs of replicas
start from one parent, and what they share is judged by rows that none is trained on.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

STEPS = 70  # the state is saved after 50


def command(bench, steps, *more):
    return [bench, "curves", "--model", "gpt", "--seeds", "1", "--profiles", "XG-7", "--steps", str(steps), *more]


REPLICAS = ["--model", "gpt-small", "--replicas", "2", "--replica-batch", "4", "--parent-steps", "20", "--turn-steps", "4",
            "--fragments", "2", "--steps", "16", "--first-seed", "5", "--seeds", "1", "--dgc-warmup-blocks", "8"]


def check_replicas(bench, folder):
    command_line = [bench, "curves", *REPLICAS]
    out = folder / "replicas.json"
    part = out.with_name(out.name + ".part")
    process = subprocess.Popen([*command_line, "--out", out], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    while not part.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    assert process.poll() is None, "the run ended before it was killed"
    process.kill()
    process.wait()
    resumed = json.loads(subprocess.run([*command_line, "--out", out], check=True, capture_output=True, text=True).stdout)
    result = json.loads(subprocess.run(command_line, check=True, capture_output=True, text=True).stdout)
    assert resumed == result, "other figures than without the interruption"
    runs = {run["executor"]: run["points"] for run in result["runs"]}
    assert list(runs) == ["dense", "diloco", "streaming", "sparseloco", "sgd", "dgc"]
    traffic = result["replicas"]
    for exchange, points in runs.items():
        assert len(points) == 5 and points[0] == runs["dense"][0], f"{exchange} did not start from the parent's parameters"
        assert all(0.5 < point["loss"] < 5 for point in points) and points[-1]["loss"] < points[0]["loss"], points
        assert len({point["loss"] for point in points}) == 5, f"{exchange} was not judged anew"
        if exchange in ("diloco", "streaming", "sparseloco"):
            formula = traffic[exchange]["round_bytes"]
            assert all(0.5 * formula < point["sent_bytes"] <= formula for point in points[1:]), (exchange, formula, points)
    assert len({points[-1]["loss"] for points in runs.values()}) == 6, "two exchanges are one"
    uneven = subprocess.run(["15" if part == "16" else part for part in command_line], capture_output=True, text=True)
    assert uneven.returncode != 0 and "multiple of --turn-steps" in uneven.stderr, uneven.stderr
    print("curves: six exchanges of two replicas, each from the parent's parameters")


def main():
    bench = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="assay-curves-") as folder:
        out = pathlib.Path(folder) / "curves.json"
        part = out.with_name(out.name + ".part")
        process = subprocess.Popen(command(bench, STEPS, "--out", out), stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 300
        while not part.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        assert process.poll() is None, "the run ended before it was killed"
        process.kill()
        process.wait()
        assert [run["executor"] for run in json.loads(out.read_text())["runs"]] == ["native"]
        assert len(json.loads(part.read_bytes().split(b"\n")[0])["losses"]) == 50
        resumed = subprocess.run(command(bench, STEPS, "--out", out), check=True, capture_output=True, text=True)
        assert "native" not in resumed.stderr, "what was finished was computed again"
        assert not part.exists()
        found = json.loads(resumed.stdout)
        assert found == json.loads(out.read_text())
        expected = json.loads(subprocess.run(command(bench, STEPS), check=True, capture_output=True, text=True).stdout)
        assert found["runs"][1] == expected["runs"][1], "other losses than without the interruption"
        assert len(found["runs"][1]["losses"]) == STEPS
        other = subprocess.run(command(bench, 20, "--out", out), capture_output=True, text=True)
        assert other.returncode != 0 and "another" in other.stderr, other.stderr
        check_replicas(bench, pathlib.Path(folder))
    print("curves: a run that was killed after 50 steps went on")
    return 0


if __name__ == "__main__":
    sys.exit(main())
