#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs an SDK, installs it into a fresh folder as a user does, and runs its tests, its types' check and its examples.

    run.py python|typescript --bin FOLDER [--referee FOLDER]

Exits 77 with a reason where a tool or a registry is missing.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import venv

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import chains  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SDK = chains.ROOT / "sdk"
EXAMPLES = chains.ROOT / "examples/sdk"


def run(command, **options):
    print("+", " ".join(str(part) for part in command[:6]), flush=True)
    return subprocess.run([str(part) for part in command], env=chains.environment(), **options).returncode


def python(options, folder):
    source = folder / "source"
    shutil.copytree(SDK / "python", source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    venv.create(folder / "venv", with_pip=True)
    interpreter = folder / "venv/bin/python"
    pip = [interpreter, "-m", "pip", "--disable-pip-version-check"]
    if run([*pip, "install", "-q", "setuptools>=61", "wheel"]) != 0:
        print("skipped: pip cannot get setuptools")
        return 77
    # Without isolation nothing is fetched: the wheel is built by what was just installed.
    if run([*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, source]) != 0:
        return 1
    if run([*pip, "install", "-q", "--no-index", *folder.glob("assay_sdk-*.whl")]) != 0:
        return 1
    failed = run([interpreter, HERE / "python_test.py", options.bin], cwd=folder)
    failed |= run([interpreter, HERE / "progress_test.py", options.bin], cwd=folder)
    failed |= example(options, folder, [interpreter, EXAMPLES / "follow.py"])
    if run([*pip, "install", "-q", "mypy"]) != 0:
        print("types were not checked: pip cannot get mypy")
        return failed
    return failed | run([interpreter, "-m", "mypy", "--strict", "--config-file", source / "pyproject.toml", "-p", "assay"], cwd=folder) | run(
        [interpreter, "-m", "mypy", "--strict", EXAMPLES / "follow.py"], cwd=folder)


def typescript(options, folder):
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            print(f"skipped: there is no {program}")
            return 77
    source = folder / "source"
    shutil.copytree(SDK / "typescript", source)
    can_sign = options.referee is not None and (options.referee / "signer.wasm").exists()
    if can_sign:
        shutil.copy(options.referee / "signer.wasm", source)
    if run(["npm", "pack", "--silent", "--pack-destination", folder, source], cwd=folder) != 0:
        return 1
    (folder / "package.json").write_text('{"type": "module", "private": true}\n', encoding="utf-8")
    if run(["npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", *folder.glob("*.tgz")], cwd=folder) != 0:
        return 1
    for file in (HERE / "typescript_test.mjs", HERE / "restart_test.mjs", HERE / "signing_test.mjs", HERE / "types_test.ts", EXAMPLES / "follow.mjs"):
        shutil.copy(file, folder)
    (folder / "referee").mkdir()
    (folder / "referee/package.json").write_text('{"type": "module"}\n', encoding="utf-8")
    for name in ("referee.js", "referee.wasm"):
        if options.referee and (options.referee / name).exists():
            shutil.copy(options.referee / name, folder / "referee")
    process, url = chains.recorded(options.bin, folder)
    try:
        failed = run(["node", "typescript_test.mjs", url, "none"], cwd=folder, timeout=300)
        failed |= run(["node", "--experimental-websocket", "typescript_test.mjs", url, "websocket"], cwd=folder, timeout=300)
    finally:
        chains.stop(process)
    failed |= signing(options, folder) if can_sign else 0
    failed |= across_restart(options, folder)
    failed |= example(options, folder, ["node", folder / "follow.mjs"])
    # Nobody's machine has these by chance, so the types are checked only where the registry is.
    if run(["npm", "install", "--silent", "--no-audit", "--no-fund", "typescript@5", "@types/node@20"], cwd=folder) != 0:
        print("types were not checked: npm cannot get typescript")
        return failed
    return failed | run([folder / "node_modules/.bin/tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--lib",
                         "es2023,dom,dom.iterable", "--skipLibCheck", "false", "--types", "node", "types_test.ts"], cwd=folder)


def signing(options, folder):
    """signing_test.mjs against a live node, with the key that has its funds."""
    with tempfile.TemporaryDirectory(prefix="assay-sdk-") as home:
        chain = chains.LiveChain(options.bin, home)
        try:
            chain.start()
            return run(["node", "signing_test.mjs", chain.url, "assay-local", chain.home / "node_key", chains.ROOT / "tests/vectors/bip340.csv"],
                       cwd=folder, timeout=120)
        finally:
            chain.stop()


def across_restart(options, folder):
    """restart_test.mjs, and a restart of the node when it asks for one."""
    with tempfile.TemporaryDirectory(prefix="assay-sdk-") as home:
        chain = chains.LiveChain(options.bin, home)
        reader = None
        try:
            chain.start()
            reader = subprocess.Popen(["node", "--experimental-websocket", "restart_test.mjs", chain.url], cwd=folder, text=True,
                                      stdout=subprocess.PIPE, env=chains.environment())
            if reader.stdout.readline() != "restart\n":
                print("restart_test.mjs ended before the restart")
                return 1
            chain.restart()
            told, _ = reader.communicate(timeout=60)
            print(told.strip())
            return reader.returncode
        finally:
            if reader is not None and reader.poll() is None:
                reader.kill()
                reader.wait()
            chain.stop()


def example(options, folder, command):
    """The example against a live node, which ends by itself after some blocks."""
    with tempfile.TemporaryDirectory(prefix="assay-sdk-") as home:
        chain = chains.LiveChain(options.bin, home)
        try:
            chain.start()
            return run([*command, chain.url], cwd=folder, timeout=120)
        finally:
            chain.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("language", choices=["python", "typescript"])
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--referee", type=pathlib.Path, help="where referee.js and referee.wasm are")
    options = parser.parse_args()
    options.bin = options.bin.resolve()
    with tempfile.TemporaryDirectory(prefix="assay-sdk-") as folder:
        return {"python": python, "typescript": typescript}[options.language](options, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
