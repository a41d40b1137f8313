#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`assay store` against real servers: versitygw for S3, Helia for IPFS.

    stores_test.py s3|ipfs ASSAY BUILD_FOLDER

The servers are installed below the build folder where they can be had; exit code 77 and the reason where not.
"""
import contextlib
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "stores"))
import servers  # noqa: E402

LARGE = 18 << 20  # more than one part of an upload, and not a whole number of blocks
OK, FAILURE, USAGE, CONFIG, UNREACHABLE, NOT_FOUND, INVALID = 0, 1, 2, 3, 4, 6, 12


class Bench:
    """A store with a large artifact, which has hashes beside it, and a small one."""

    def __init__(self, assay, folder, environment):
        self.assay, self.folder = assay, folder
        self.environment = environment
        self.store = folder / "store"
        (self.store / "leaves").mkdir(parents=True)
        self.large = self.add(hashlib.shake_128(b"large").digest(LARGE + 12_345))
        self.small = self.add(b"small")
        (self.store / "leaves" / self.large).write_bytes(b"leaves" * 1000)
        self.count = 0

    def add(self, data):
        name = hashlib.sha256(data).hexdigest()
        (self.store / name).write_bytes(data)
        return name

    def run(self, expected, *arguments, **environment):
        done = subprocess.run(
            [self.assay, "store", *map(str, arguments), "-o", "json"], capture_output=True, text=True, timeout=120, check=False,
            env={**os.environ, "HOME": str(self.folder), **self.environment, **environment})
        assert done.returncode == expected, (arguments, done.returncode, done.stdout, done.stderr)
        assert servers.SECRET not in done.stdout + done.stderr, "a secret was printed"
        return json.loads(done.stdout)

    def get(self, expected, artifact, *locations, **environment):
        self.count += 1
        out = self.folder / f"out-{self.count}"
        sources = [word for location in locations for word in ("--from", location)]
        self.run(expected, "get", artifact, *sources, "--store", self.folder / f"got-{self.count}", "--out", out, **environment)
        if expected == OK:
            assert out.read_bytes() == (self.store / artifact).read_bytes()
        else:
            assert not out.exists()

    def names(self, location):
        return {item["artifact"]: item for item in self.run(OK, "ls", location)["artifacts"]}


def check_s3(bench, server):
    location = f"s3://bucket/tasks/one?endpoint={server.endpoint}"
    mirror = f"dir:{bench.folder}/mirror"
    put = bench.run(OK, "put", "--store", bench.store, "--to", location, "--to", mirror)
    assert put["location"] == f"{location} {mirror}", put
    kept = server.root / "bucket" / "tasks" / "one"
    assert (kept / bench.large).read_bytes() == (bench.store / bench.large).read_bytes()
    assert (kept / "leaves" / bench.large).read_bytes() == (bench.store / "leaves" / bench.large).read_bytes()
    assert set(bench.names(location)) == set(bench.names(mirror)) == {bench.large, bench.small}
    bench.get(OK, bench.large, location)
    bench.get(OK, bench.small, "http://127.0.0.1:1", location)
    bench.run(OK, "pin", location, bench.small)
    assert bench.names(location)[bench.small]["is_pinned"]
    dry = bench.run(OK, "gc", location, "--older-than", "0", "--dry-run")
    assert [item["artifact"] for item in dry["deleted"]] == [bench.large], dry
    # Nothing wrong is used, and what is wrong in one place is had from another.
    with open(kept / bench.large, "r+b") as damaged:
        damaged.seek(LARGE // 2)
        damaged.write(b"wrong")
    bench.get(INVALID, bench.large, location)
    bench.get(OK, bench.large, location, mirror)
    assert bench.run(OK, "gc", location, "--older-than", "0")["deleted"]
    assert set(bench.names(location)) == {bench.small}
    assert not (kept / "leaves" / bench.large).exists()
    bench.get(NOT_FOUND, bench.large, location)
    # What is wrong is said, with the exit code that says it.
    bench.run(USAGE, "ls", "s3://bucket?secret=1")
    bench.run(USAGE, "put", "--store", bench.store, "--to", server.endpoint)
    bench.run(CONFIG, "ls", location, AWS_SECRET_ACCESS_KEY="another")
    bench.run(CONFIG, "ls", location, AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="")
    bench.run(NOT_FOUND, "ls", f"s3://nowhere?endpoint={server.endpoint}")
    status = bench.run(NOT_FOUND, "status", location, f"s3://nowhere?endpoint={server.endpoint}")
    assert [item["is_usable"] for item in status["locations"]] == [True, False], status
    server.stop()
    bench.get(UNREACHABLE, bench.small, location)
    bench.get(OK, bench.large, location, mirror)


def check_ipfs(bench, server):
    to = f"ipfs://?gateway={server.url}&api={server.url}"
    location = bench.run(OK, "put", "--store", bench.store, "--to", to)["location"]
    assert location.startswith("ipfs://bafkrei") and "api=" not in location, location
    bench.get(OK, bench.large, location)
    bench.get(OK, bench.small, "http://127.0.0.1:1", location)
    managed = f"{location}&api={server.url}"
    assert set(bench.names(managed)) == {bench.large, bench.small}
    assert not bench.run(OK, "gc", managed)["deleted"]  # no times are known, so nothing is old
    assert len(bench.run(OK, "gc", managed, bench.large)["deleted"]) == 1
    assert not bench.names(managed)[bench.large]["is_pinned"]
    bench.run(OK, "pin", managed, bench.large)
    assert bench.names(managed)[bench.large]["is_pinned"]
    other = hashlib.sha256(b"other").hexdigest()
    bench.get(NOT_FOUND, other, location)
    bench.run(NOT_FOUND, "pin", managed, other)
    server.stop()
    bench.get(UNREACHABLE, bench.small, location)


def main():
    which, assay, build = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3])
    with tempfile.TemporaryDirectory() as at, contextlib.ExitStack() as stack:
        folder = pathlib.Path(at)
        try:
            server = servers.S3(build, folder / "s3") if which == "s3" else servers.Ipfs(build)
        except servers.Missing as missing:
            print(f"skipped: {missing}")
            return 77
        stack.enter_context(server)
        bench = Bench(assay, folder, server.environment if which == "s3" else {})
        (check_s3 if which == "s3" else check_ipfs)(bench, server)
    print(f"{which}: everything as it should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
