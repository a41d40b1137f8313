#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times `assay store get` of a large artifact from a local S3 server against `curl` of the same object, in turns.

    tools/bench/stores.py --assay build/release/bin/assay --build build/release [--mib 1024] [--rounds 5] [--json FILE]

The server is versitygw, installed below the build folder where it can be had; exit code 77 and the reason where not. Both
write to a file on the same disk. curl does not check anything; `assay` checks the SHA-256 and brings the file to the disk.
"""
import argparse
import hashlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "e2e" / "stores"))
import servers  # noqa: E402


def make_file(path, size):
    """Bytes that no file system or server makes smaller. Returns their SHA-256."""
    whole = hashlib.sha256()
    with open(path, "wb") as out:
        for _ in range(size >> 20):
            piece = os.urandom(1 << 20)
            whole.update(piece)
            out.write(piece)
    return whole.hexdigest()


def timed(act):
    began = time.monotonic()
    act()
    return time.monotonic() - began


def measure(args, folder):
    store = folder / "store"
    store.mkdir()
    name = make_file(store / "new", args.mib << 20)
    (store / "new").rename(store / name)
    rows = []
    with servers.S3(args.build, folder / "s3") as server:
        environment = {**os.environ, **server.environment}
        location = f"s3://bucket?endpoint={server.endpoint}"
        put = timed(lambda: subprocess.run(
            [args.assay, "store", "put", "--store", store, "--to", location], check=True, env=environment, stdout=subprocess.DEVNULL))
        print(f"put {args.mib} MiB: {put:.2f} s", flush=True)
        for number in range(args.rounds):
            got, copy = folder / f"got-{number}", folder / f"copy-{number}"

            def by_assay():
                subprocess.run([args.assay, "store", "get", name, "--from", location, "--store", got],
                               check=True, env=environment, stdout=subprocess.DEVNULL)

            def by_curl():
                server.curl("-o", copy, f"{server.endpoint}/bucket/{name}")

            takes = {}
            for which, act in [("assay", by_assay), ("curl", by_curl)][::1 if number % 2 == 0 else -1]:
                takes[which] = timed(act)
            assert (got / name).stat().st_size == copy.stat().st_size == args.mib << 20
            (got / name).unlink()
            copy.unlink()
            rows.append(takes)
            print(f"round {number + 1}: assay {takes['assay']:.2f} s, curl {takes['curl']:.2f} s, "
                  f"speed over curl's {takes['curl'] / takes['assay']:.2f}", flush=True)
    ratios = [row["curl"] / row["assay"] for row in rows]
    return {"mib": args.mib, "put_s": put, "rounds": rows, "speed_over_curl": statistics.median(ratios),
            "least": min(ratios), "most": max(ratios)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=pathlib.Path, help="where the files go; default: the system's for temporary files")
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(dir=args.folder) as at:
            result = measure(args, pathlib.Path(at))
    except servers.Missing as missing:
        print(f"skipped: {missing}")
        return 77
    print(f"speed over curl's: {result['speed_over_curl']:.2f} ({result['least']:.2f} to {result['most']:.2f})")
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
