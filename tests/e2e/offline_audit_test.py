#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`assay audit export` from a recorded chain, and `assay audit verify` without any node: what is honest verifies, and each
tampering is found and named. The proof that `assay query proof -o json` prints is verified by code that is not the program's:
the client written from the documents, and the referee where Node.js and referee.wasm are.

    offline_audit_test.py BIN_FOLDER REFEREE_FOLDER
"""
import copy
import csv
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "sdk"), str(HERE.parent / "foreign")]
import assay as foreign  # noqa: E402
import chains  # noqa: E402
import jmt  # noqa: E402
from borsh import decode  # noqa: E402
from records import Block  # noqa: E402

failures = 0


def expect(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAILED:", what)


class Auditor:
    def __init__(self, assay, folder):
        self.assay, self.folder, self.node = assay, pathlib.Path(folder), "http://127.0.0.1:9"  # where nobody answers

    def run(self, *words):
        """The exit code and the JSON that the program printed."""
        done = subprocess.run([self.assay, *map(str, words), "-o", "json"], capture_output=True, text=True, timeout=60,
                              env=chains.environment(ASSAY_NODE=self.node, ASSAY_HOME=str(self.folder / "home")))
        return done.returncode, json.loads(done.stdout)

    def export(self, name, *what):
        code, said = self.run("audit", "export", *what, "--out", self.folder / f"{name}.json", "--max-age", "0")
        expect(code == 0 and said["verified"], f"export of {what}: {code} {said}")
        return json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))

    def verify(self, name, *more):
        return self.run("audit", "verify", "--file", self.folder / f"{name}.json", *more)

    def refuses(self, value, named, *more):
        (self.folder / "tampered.json").write_text(json.dumps(value), encoding="utf-8")
        code, said = self.verify("tampered", *more)
        message = said.get("error", {}).get("message", "")
        expect(code == 10 and named in message, f"{named!r} was to be named: {code} {message!r}")


def rows(folder, name):
    with open(folder / f"{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def changed(value, path, new):
    out = copy.deepcopy(value)
    at = out
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = new(at[path[-1]])
    return out


def flip(text):
    middle = len(text) // 2
    return text[:middle] + ("1" if text[middle] != "1" else "2") + text[middle + 1:]


def without(value, *path):
    out = copy.deepcopy(value)
    at = out
    for step in path[:-1]:
        at = at[step]
    del at[path[-1]]
    return out


def honest_files(auditor, known, genesis, height):
    for name, tasks, blocks in (("task", 1, None), ("account", 2, None), ("chain", 2, height)):
        code, said = auditor.verify(name, *known)
        expect(code == 0 and said["signer_is_known"] and said["tasks"] == tasks and said["tables"] == 3, f"{name}: {code} {said}")
        expect(blocks in (None, said["blocks"]), f"{name} has {said['blocks']} blocks")
        expect(said["genesis_hash"] == (genesis if name == "chain" else None), f"{name}: genesis {said['genesis_hash']}")
    code, said = auditor.verify("chain")
    expect(code == 0 and not said["signer_is_known"], "without a proposer the file's word is said to be that")
    code, said = auditor.verify("chain", *known, "--genesis-hash", "00" * 32)
    expect(code == 10 and "blocks[0] carries the genesis hash" in said["error"]["message"], f"another genesis: {said}")


def tables(auditor, known):
    tasks, payments, penalties = (rows(auditor.folder, f"chain-{name}") for name in ("tasks", "payments", "penalties"))
    expect({task["state"] for task in tasks} == {"settled", "convicted"}, f"states: {tasks}")
    expect([(loss["amount_asy"], loss["burned_asy"], loss["reason"]) for loss in penalties] == [("50", "25", "lost_dispute")],
           f"penalties: {penalties}")
    expect(any(row["reason"] == "reward" and row["time"].endswith("Z") for row in payments), "the reward is in the payments")
    file = auditor.folder / "chain-payments.csv"
    honest = file.read_bytes()
    file.write_bytes(honest.replace(b"reward", b"refund", 1))
    code, said = auditor.verify("chain", *known)
    expect(code == 10 and "chain-payments.csv, line" in said["error"]["message"], f"a table that lies: {said}")
    file.write_bytes(honest)


def tampered_files(auditor, known, files):
    chain, account, task = files["chain"], files["account"], files["task"]
    # One without transactions: of others, a history may miss its transaction first.
    at = min(range(20, len(chain["blocks"]) - 5), key=lambda index: len(chain["blocks"][index]["raw"]))
    raw, here = chain["blocks"][at]["raw"], f"blocks[{at}]"
    second = next(i for i, slot in enumerate(chain["slots"]) if slot["key"].endswith(chain["histories"][1]["task"]))
    dropped = changed(chain, ["histories"], lambda list_: list_[:1])
    dropped["slots"] = dropped["slots"][:second]
    early = without(chain, "blocks", -1)
    for value, named in (
            (changed(chain, ["app_hash"], flip), "app_hash is"), (changed(chain, ["height"], lambda height: height - 1), "which signs the state of height"),
            (changed(chain, ["chain_id"], lambda text: text + "x"), "blocks[0]"), (changed(chain, ["blocks", at, "raw"], lambda _: flip(raw)), here),
            (without(chain, "blocks", at), here), (changed(chain, ["blocks", at, "height"], lambda height: height + 1), here),
            (changed(chain, ["slots", 3, "value"], flip), "slots[3]"), (changed(chain, ["slots", 3, "proof"], flip), "slots[3]"),
            (changed(chain, ["histories", 1, "records", 5], flip), "histories[1].records"), (without(chain, "histories", 1, "records", -1), "histories[1] has"),
            (without(chain, "histories", 0), "histories[0]"), (without(chain, "slots", second), f"slots[{second}]"),
            (dropped, f"slots[{second}] is missing"), (early, "which signs the state of height"), (without(chain, "slots"), '"slots"'),
            (changed(account, ["subject", "id"], flip), "slots[0]"), (changed(account, ["slots", 0, "value"], flip), "slots[0]"),
            (changed(task, ["subject", "id"], flip), "slots[0]"), (changed(task, ["histories", 0, "records", 0], lambda _: "00"), "histories[0].records[0]"),
            (changed(task, ["engine"], lambda _: "cometbft"), "blocks[0]")):
        auditor.refuses(value, named, *known)
    auditor.refuses(chain, "blocks[0]", "--proposer", "11" * 32)


def printed_proof(auditor, options, referee, proposer):
    """What `query proof` prints is enough for other programs."""
    code, shown = auditor.run("query", "proof", *options, "--height", "100", "--max-age", "0")
    expect(code == 0, f"query proof: {shown}")
    block = decode(Block, bytes.fromhex(shown["block"]))
    root, value = bytes.fromhex(shown["app_hash"]), shown["value"] and bytes.fromhex(shown["value"])
    expect(jmt.proves(root, bytes.fromhex(shown["key"]), value, bytes.fromhex(shown["proof"])), "the proof leads to the app hash")
    expect(block["header"]["app_hash"] == root and foreign.is_authentic(block), "the block is signed and carries the app hash")
    if shutil.which("node") is None or not (referee / "referee.wasm").exists():
        print("the referee was not asked: there is no Node.js or no referee.wasm")
        return
    for name, copied in (("referee.js", "referee.mjs"), ("referee.wasm", "referee.wasm")):
        shutil.copy(referee / name, auditor.folder / copied)
    script = """
        import fs from "node:fs";
        const { loadReferee } = await import(process.argv[1] + "/referee.mjs");
        const referee = await loadReferee(fs.readFileSync(process.argv[1] + "/referee.wasm"));
        const shown = JSON.parse(fs.readFileSync(0, "utf8"));
        const { account: proposer } = await referee.accountOf(shown.proposer);
        const slot = await referee.verifyStateAnswer(shown);
        const block = await referee.verifyBlock({ block: shown.block, proposer, height: shown.height + 1, appHash: shown.app_hash });
        const lie = await referee.verifyStateAnswer({ ...shown, value: (shown.value ?? "") + "00" });
        console.log(JSON.stringify([slot.verified, block.verified, lie.verified]));"""
    done = subprocess.run(["node", "--input-type=module", "-e", script, str(auditor.folder)], input=json.dumps({**shown, "proposer": proposer}), text=True,
                          capture_output=True, timeout=60)
    expect(done.stdout.strip() == "[true,true,false]", f"the referee: {done.stdout} {done.stderr}")


def main(binaries, referee):
    with tempfile.TemporaryDirectory(prefix="assay-audit-") as folder:
        auditor = Auditor(pathlib.Path(binaries) / "assay", folder)
        process, auditor.node = chains.recorded(binaries, folder)
        try:
            status, tasks = (auditor.run(*words)[1] for words in (("query", "status"), ("task", "list")))
            files = {"chain": auditor.export("chain", "--chain"), "task": auditor.export("task", "--task", tasks["tasks"][0]["id"]),
                     "account": auditor.export("account", "--account", tasks["tasks"][0]["submitter"])}
            for options in (["--account", tasks["tasks"][0]["submitter"]], ["--task", tasks["tasks"][1]["id"]], ["--key", "ff"]):
                printed_proof(auditor, options, pathlib.Path(referee), status["proposer"])
        finally:
            chains.stop(process)
        auditor.node = "http://127.0.0.1:9"
        known = ["--proposer", status["proposer"]]
        honest_files(auditor, known, status["genesis_hash"], status["height"])
        tables(auditor, known)
        tampered_files(auditor, known, files)
    print("offline audit:", "failed" if failures else "as it should be")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
