#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program that makes bank transfers for the comparison with the Cosmos SDK is built, and makes what it says.

    check_transfers.py SOURCE FOLDER

FOLDER keeps the SDK and what was built of it. Exits 77 where Go is not installed, or does not get the SDK's modules.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

COUNT = 3


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, f"{command[0]} ended with {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout


def main():
    source, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    os.environ["PATH"] += ":/usr/local/go/bin"
    if shutil.which("go") is None:
        print("skipped: Go is not installed")
        return 77
    script = source / "tools/bench/cosmos/build.sh"
    assert run("gofmt", "-l", script.parent) == "", "gofmt would write the program otherwise"
    version = next(line.split("=")[1] for line in script.read_text().splitlines() if line.startswith("version="))
    if subprocess.run(["go", "mod", "download", f"github.com/cosmos/cosmos-sdk@{version}"], capture_output=True, check=False).returncode != 0:
        print("skipped: Go cannot get the Cosmos SDK here")
        return 77
    folder.mkdir(parents=True, exist_ok=True)
    run("bash", script, folder)
    with tempfile.TemporaryDirectory(prefix="assay-transfers-") as home:
        run(folder / "simd", "init", "one", "--chain-id", "transfers", "--home", home)
        genesis = pathlib.Path(home) / "config/genesis.json"
        out = pathlib.Path(home) / "transfers"
        run(folder / "transfers", COUNT, "transfers", genesis, out)
        made = out.read_text().split()
        assert len(set(made)) == COUNT and all(bytes.fromhex(each) for each in made), made
        bank = json.loads(genesis.read_text())["app_state"]["bank"]
        assert len(bank["balances"]) == COUNT, bank["balances"]
        run(folder / "simd", "validate-genesis", genesis, "--home", home)
    print(f"{COUNT} transfers for a chain of the Cosmos SDK {version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
