#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`assay-bench curves --out` that is killed goes on where it was: python3 curves_bench.py ASSAY_BENCH

The losses have to be those of a run that nobody stopped, and what was finished must not be computed again.
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
    print("curves: a run that was killed after 50 steps went on")
    return 0


if __name__ == "__main__":
    sys.exit(main())
