#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each program ends with the codes of the one table (core/command/exit_codes.hpp), which the documentation, the manual pages and the
Python SDK have too.

    exit_codes_test.py BIN_FOLDER
"""
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/sdk"))
import chains  # noqa: E402

PROGRAMS = ("assay", "assayd", "assay-worker")
failures = 0


def expect(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAILED:", what)


def table():
    """{code: (meaning, the programs that end with it)} of the header."""
    text = (ROOT / "core/command/exit_codes.hpp").read_text(encoding="utf-8")
    numbers = dict(re.findall(r"(kExit\w+) = (\d+),", text))
    rows = re.findall(r'ExitMeaning\{\s*(kExit\w+),\s*((?:"[^"]*"\s*)+),\s*(true|false),\s*(true|false),\s*(true|false)\s*\}', text)
    expect(len(rows) == len(numbers) and len(rows) > 8, f"{len(rows)} rows for {len(numbers)} codes")
    meanings = {name: "".join(re.findall(r'"([^"]*)"', quoted)) for name, quoted, *_ in rows}
    return {int(numbers[name]): (meanings[name], {program for program, ends in zip(PROGRAMS, of) if ends == "true"}) for name, _, *of in rows}


def documents(codes, binaries):
    page = (ROOT / "docs/operations/exit-codes.md").read_text(encoding="utf-8")
    found = {}
    for code, meaning, *of in re.findall(r"^\| (\d+) \| (.*?) \|(.*?)\|(.*?)\|(.*?)\|$", page, re.M):
        found[int(code)] = (meaning, {program for program, cell in zip(PROGRAMS, of) if cell.strip() == "yes"})
    expect(found == codes, f"docs/operations/exit-codes.md is not the table: {found}")
    sys.path.insert(0, str(ROOT / "sdk/python"))
    from assay.core import MEANINGS  # pylint: disable=import-outside-toplevel
    expect(set(MEANINGS) == {code for code, (_, of) in codes.items() if "assay" in of and code != 0}, "the SDK's meanings have other codes")
    for program in (each for each in PROGRAMS if (binaries / each).exists()):
        manual = subprocess.run([binaries / program, "manual"], capture_output=True, text=True, check=True).stdout
        section = manual.split(".SH EXIT STATUS")[1].split(".SH SEE ALSO")[0]
        shown = {int(code) for code in re.findall(r"^\\fB(\d+)\\fR$", section, re.M)}
        expect(shown == {code for code, (_, of) in codes.items() if program in of}, f"the manual page of {program} has {shown}")


def closed_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


def programs(codes, binaries, folder, node, live):
    nobody, key = closed_port(), folder / "key"
    key.write_text("11" * 32 + "\n", encoding="utf-8")
    key.chmod(0o600)
    wrong = folder / "wrong"
    wrong.write_text("not a key", encoding="utf-8")
    wrong.chmod(0o600)
    home = folder / "node"
    expect(subprocess.run([binaries / "assayd", "init", "--home", home], capture_output=True, check=False).returncode == 0, "assayd init")
    broken = folder / "broken"
    broken.mkdir()
    (broken / "genesis.json").write_text("{", encoding="utf-8")
    worker = ["solve", "--home", folder / "worker", "--node"]
    hosts = folder / "hosts.toml"
    hosts.write_text(f'lead = "{closed_port()[7:]}"\nsecret = "sixteen letters!"\n[[members]]\nname = "a"\naddress = "127.0.0.1"\n', encoding="utf-8")
    tries = [
        ("assay", 0, ["version"]), ("assay", 0, ["--help"]), ("assay", 2, ["no-such-command"]), ("assay", 3, ["task", "lint", folder / "nothing"]),
        ("assay", 4, ["--node", nobody, "query", "status"]), ("assay", 6, ["--node", node, "task", "status", "00" * 32]),
        ("assay", 10, ["--node", node, "query", "proof", "--key", "ff", "--height", "100", "--max-age", "0", "--proposer", "11" * 32]),
        ("assay", 2, ["--node", node, "query", "proof", "--key", "zz"]), ("assay", 5, ["--node", live, "tx", "submit", "00"]),
        ("assay", 2, ["demo", "--parallel", "diloco"]),
        ("assayd", 0, ["--help"]), ("assayd", 2, ["start", "--no-such-option"]), ("assayd", 3, ["start", "--home", broken]),
        ("assayd", 3, ["start", "--home", folder / "nothing"]), ("assayd", 3, ["init", "--home", home]),
    ]
    of_worker = [
        (0, ["--help"]), (2, []), (3, [*worker, node, "--key", wrong]), (2, [*worker, node]), (2, ["solve", "--no-such-option"]),
        (3, ["member", "--cell", wrong, "--name", "a"]), (2, [*worker, node, "--cell", hosts, "--plan", "zero4"]), (4, ["benchmark", "--node", nobody, "--seconds", "0.1"]),
        (1, ["replay", "--home", folder / "replay", "--records", wrong]),
    ]
    tries += [("assay-worker", *each) for each in of_worker] + [("assay-adversary", *each) for each in of_worker[:3]]
    # A build without libtorch has no workers.
    tries = [each for each in tries if (binaries / each[0]).exists()]
    seen = {program: set() for program in PROGRAMS if (binaries / program).exists()}
    for program, code, words in tries:
        done = subprocess.run([binaries / program, *map(str, words)], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
                              env=chains.environment(ASSAY_HOME=str(folder / "home"), ASSAY_PASSWORD="x"), check=False)
        expect(done.returncode == code, f"{program} {' '.join(map(str, words))}: {done.returncode}, not {code}: {(done.stderr or done.stdout)[-300:]}")
        known = program.replace("adversary", "worker")
        expect(known in codes[code][1], f"{program} ends with {code}, which the table denies")
        seen[known].add(code)
    expect(all(len(of) >= 3 for of in seen.values()), f"too few codes were tried: {seen}")


def main(binaries):
    binaries = pathlib.Path(binaries).resolve()
    codes = table()
    documents(codes, binaries)
    with tempfile.TemporaryDirectory(prefix="assay-exit-") as folder:
        process, node = chains.recorded(binaries, folder)
        live = chains.LiveChain(binaries, folder)
        try:
            live.start()
            programs(codes, binaries, pathlib.Path(folder), node, live.url)
        finally:
            live.stop()
            chains.stop(process)
    print("exit codes:", "failed" if failures else "as in the table")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
