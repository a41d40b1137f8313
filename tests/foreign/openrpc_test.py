#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The node's answers against the OpenRPC document that it serves, by tools that others wrote.

    openrpc_test.py --assayd PATH --modules FOLDER [--write]

Serves the recorded chains of tests/vectors/chain (assayd inspect), installs the tools of openrpc/package.json into
FOLDER where they are not there yet, and runs openrpc/check.mjs. Exits 77 where the tools cannot be had.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CHAINS = ROOT / "tests/vectors/chain"
PAGE = ROOT / "docs/rpc/examples.md"


def install(modules):
    """Returns why the tools are not there, or None."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            return f"there is no {program}"
    modules.mkdir(parents=True, exist_ok=True)
    wanted = (HERE / "openrpc/package.json").read_text()
    installed = modules / "package.json"
    if installed.exists() and installed.read_text() == wanted and (modules / "node_modules/ajv").exists():
        return None
    installed.write_text(wanted)
    run = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--no-package-lock"], cwd=modules,
                         capture_output=True, text=True)
    if run.returncode != 0:
        installed.unlink()
        return "npm install failed: " + run.stderr.strip()[-300:]
    return None


def check(options, chain, page):
    """Runs the tools against a recorded chain; `page` is the page of examples, or "-"."""
    with tempfile.TemporaryDirectory(prefix="assay-openrpc-") as folder:
        home = pathlib.Path(folder)
        (home / "data").mkdir()
        shutil.copy(CHAINS / chain / "genesis.json", home)
        shutil.copy(CHAINS / chain / "blocks.log", home / "data")
        node = subprocess.Popen([options.assayd, "inspect", "--home", folder, "--rpc-port", "0"],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            line = node.stdout.readline()
            if "rpc " not in line:
                print("assayd inspect did not start:", line)
                return 1
            url = line.split("rpc ")[1].strip()
            arguments = ["node", str(HERE / "openrpc/check.mjs"), url, str(options.modules.resolve()), str(page)]
            return subprocess.run(arguments + (["--write"] if options.write else [])).returncode
        finally:
            node.terminate()
            node.wait(timeout=10)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assayd", required=True)
    parser.add_argument("--modules", required=True, type=pathlib.Path)
    parser.add_argument("--write", action="store_true", help="write the page of examples")
    options = parser.parse_args()
    missing = install(options.modules)
    if missing:
        print("skipped:", missing)
        return 77
    return max(check(options, "exact", PAGE), check(options, "tolerance", "-"))


if __name__ == "__main__":
    sys.exit(main())
