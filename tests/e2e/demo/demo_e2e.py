#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the demo as a user would and checks what it leaves behind.

    demo_e2e.py BIN fraud KIND     one demo; its report; its block log replayed from genesis
    demo_e2e.py BIN tolerance KIND the same in tolerance mode
    demo_e2e.py BIN pair           the default demo, an honest task beside a fraud
    demo_e2e.py BIN model NAME     the same with a larger model; gpt2-small on a text that is made in BIN/../gpt2-small,
                                   and skipped where that cannot be
    demo_e2e.py BIN cell PLAN      a solver of four machines that divide each step by PLAN
    demo_e2e.py BIN group FRAUD [PARALLEL]  four accounts that train local replicas as a group, one of which may cheat,
                                   or all but one
    demo_e2e.py BIN task           a user's own task directory
    demo_e2e.py BIN frozen         a fraud in a task with a frozen parameter, which checkpoints leave out
    demo_e2e.py BIN boundary       a fraud in a task whose activations cross a boundary, and two stages that train it
    demo_e2e.py BIN same-seed      two runs with one seed give the same training state roots
    demo_e2e.py BIN afterwards     what anybody can check of a fraud, without a stake, once it is over
"""
import hashlib
import json
import math
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

DISPUTE_FIELDS = {"id", "kind", "rounds", "onchain_bytes", "referee_us", "pinpoint", "verdict", "slashed", "paid", "burned"}
TASK_FIELDS = {"id", "state", "solver", "reward", "checkpoints", "history"}
# Where each fraud that can be pinpointed must be found: the primitive, where only one will do.
EXPECTED_OP = {"data": "batch_rows", "init": "uniform", "score": "max"}
VOCABULARIES = {"gpt10m": 76, "gpt2-small": 50_257}  # tokens of the larger models' texts


def check(condition, complaint):
    if not condition:
        sys.exit(f"FAILED: {complaint}")


def run_demo(binaries, home, *arguments, patience_s=280):
    report = home.with_suffix(".json")
    command = [str(binaries / "assay"), "demo", "--home", str(home), "--report", str(report), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=patience_s)
    if "double-proposal" in arguments and result.returncode != 0 and "go install github.com/cometbft" in result.stderr:
        print("skipped: " + result.stderr.strip().splitlines()[-1])
        sys.exit(0)
    print(result.stdout[-6000:])
    check(result.returncode == 0, f"{' '.join(command)} exited with {result.returncode}:\n{result.stderr[-3000:]}")
    return json.loads(report.read_text()), result.stdout


def check_shape(report):
    check({"tasks", "disputes", "supply", "audit", "wall_s"} <= report.keys(), "the report lacks a section")
    for task in report["tasks"]:
        check(TASK_FIELDS <= task.keys(), f"a task lacks {TASK_FIELDS - task.keys()}")
        check(len(task["history"]) > 0, "a task without history")
    for dispute in report["disputes"]:
        check(DISPUTE_FIELDS <= dispute.keys(), f"a dispute lacks {DISPUTE_FIELDS - dispute.keys()}")
        check(dispute["rounds"] <= 8 and dispute["onchain_bytes"] <= 65536, "a dispute beyond its limits")
    rounds = [e for task in report["tasks"] for e in task["history"] if e["event"] == "round_closed"]
    check(any(e["contributors"] > 0 for e in rounds), "no draw had a contributor's secret in it")
    check(report["audit"]["proof_verified"] is True, "the audit did not verify")
    supply = report["supply"]
    check(supply["before"] == supply["after"] + supply["burned"], "money was not conserved")


def check_replay(binaries, home):
    command = [str(binaries / "assayd"), "replay", "--home", str(home / "network" / "node"), "-o", "json"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    check(result.returncode == 0, f"the block log's replay exited with {result.returncode}: {result.stdout} {result.stderr}")
    print("replay:", result.stdout.strip()[-300:])


def slash_reasons(task):
    return {e["reason"] for e in task["history"] if e["event"] == "slashed"}


def check_hunt(hunt, kind):
    """Jackpots without a replay: one winner of a verdict at most, that was drawn for it; no gain over replays."""
    hunters, hunted = set(hunt["hunters"]), 0
    for verdict in hunt["verdicts"]:
        winners = [w["account"] for w in verdict["won"]]
        check(len(winners) <= 1 and set(winners) <= set(verdict["watchers"]), f"who wins was drawn: {verdict}")
        check(sum(w["amount"] for w in verdict["won"]) in (0, hunt["jackpot"]), f"a jackpot is whole: {verdict}")
        if hunters & set(verdict["challengers"]):
            hunted += 1
            check(verdict["forced"], f"only forced verdicts are hunted: {verdict}")
            check(kind == "free-rider" or verdict["verifier"] == hunt["informant"], f"nobody else betrays: {verdict}")
    check(hunted > 0, "somebody must challenge without a replay")
    gains = [hunt["gains"][name] for name in hunters | {hunt["informant"]} - {None}]
    check(sum(gains) == hunt["gain"] <= hunt["honest"], f"it may not gain more than replays would: {hunt['gain']}")
    is_drawn = any(verdict["verifier"] == "verifier-2" for verdict in hunt["verdicts"])
    check(hunt["gains"]["verifier-2"] > 0 or not is_drawn, "the honest verifier is paid for its verdicts")
    check(hunt["gains"]["solver-1"] > 0, "the solver is paid")


def check_fraud(report, kind):
    task = report["tasks"][-1]
    verdicts = [d["verdict"] for d in report["disputes"] if d["task"] == task["id"]]
    if kind == "none":
        check(task["state"] == "settled" and not verdicts, "an honest task must settle undisputed")
        scores = [e["score"] for e in task["history"] if e["event"] == "scored"]
        check(scores == [task["score"]] and 0 < scores[0] < 5, f"its score must be recorded once: {scores}")
    elif kind == "false-accuser":
        check(task["state"] == "settled" and "upheld" in verdicts, "the accuser must lose and the task settle")
        accusation = next(d for d in report["disputes"] if d["verdict"] == "upheld")
        check(accusation["slashed"] > 0 and accusation["slashed"] == accusation["paid"] + accusation["burned"], "the accuser's bond")
    elif kind in ("lazy", "copycat"):
        check(task["state"] == "settled" and "refuted" in verdicts, "the verdict must be refuted and the task settle")
        reasons = slash_reasons(task)
        expected = {"lazy": {"dispute_timeout", "lost_dispute"}, "copycat": {"broken_commitment"}}[kind]
        check(reasons & expected and reasons <= expected | {"missed_verdict"}, f"the verifier lost its bond by {reasons}")
    elif kind == "forced":
        check(task["state"] == "settled" and set(verdicts) == {"forced"}, "forced errors are won without a game")
        jackpots = [e for e in task["history"] if e["event"] == "paid" and e["reason"] == "jackpot"]
        check(jackpots, "a watcher must win a jackpot")
        check(not any(e["event"] == "slashed" for e in task["history"]), "nobody loses by a forced error")
        check(any(e["event"] == "verdict_disclosed" and e["forced"] for e in task["history"]), "it must be disclosed")
    elif kind in ("free-rider", "insider"):
        check(task["state"] == "settled" and set(verdicts) == {"forced"}, "forced errors are won without a game")
        check(not slash_reasons(task), "nobody loses by a forced error")
        check_hunt(report["hunt"], kind)
    elif kind == "reject":
        check(task["state"] == "settled" and "upheld" in verdicts, "the verdict must be refuted and the task settle")
        check("false_accusation" in slash_reasons(task), "who rejects what is right loses a bond for each segment")
        losers = {e["from"] for e in task["history"] if e["event"] == "slashed"}
        check(len(losers) == 1, f"nobody but the liar loses: {losers}")
    elif kind == "flood":
        check(task["state"] == "settled" and verdicts.count("upheld") >= 2, "every accuser that got through must lose")
        check(slash_reasons(task) == {"false_accusation"}, "nobody but accusers lose")
    elif kind in ("inflate", "misprofile"):
        check(task["state"] == "settled" and "refuted" in verdicts, "what is overstated must be refuted and the task settle")
        # One liar plays many games at once: it may be late in any of them, and with what it owes meanwhile.
        reasons = slash_reasons(task)
        check(reasons & {"lost_dispute", "dispute_timeout"}, f"by the one-step verifier or a clock, not by {reasons}")
        check(reasons <= {"lost_dispute", "dispute_timeout", "missed_verdict"}, f"what it lost besides: {reasons}")
        losers = {e["from"] for e in task["history"] if e["event"] == "slashed"}
        check(len(losers) == 1, f"nobody but the liar loses: {losers}")
    elif kind == "push":
        check(task["state"] == "convicted" and "beyond_tolerance" in slash_reasons(task), "a push must convict")
    elif kind == "draft":
        check(task["state"] == "settled" and not verdicts, "an honest task must settle undisputed")
        check(not slash_reasons(task), "nobody may lose anything")
        check(report[kind]["slashed"] == 0 < report[kind]["drawn"], f"who cannot report loses nothing: {report[kind]}")
    elif kind in ("withhold", "withhold-all"):
        events = [e["event"] for e in task["history"]]
        paid = {e["reason"] for e in task["history"] if e["event"] == "paid"}
        check(task["state"] == "convicted" and "reward" not in paid, f"who serves nobody is not paid: {paid}")
        check(not verdicts, f"nobody disputes what nobody can fetch: {verdicts}")
        check(events.count("committee_drawn") == 3 and "attested" not in events, f"three committees find nothing: {events}")
        check(slash_reasons(task) == {"unavailable"}, f"nobody but the solver loses: {slash_reasons(task)}")
        check(report["attack"]["harm"] == 0 < report["attack"]["paid"], f"the solver alone pays: {report['attack']}")
    elif kind == "divergence":
        check(task["state"] == "settled" and not verdicts, "an invented divergence opens no dispute")
        check(slash_reasons(task) == {"missed_verdict", "unserved"}, "who cannot publish misses its verdicts")
        attested = sum(int(e["amount"]) for e in task["history"] if e["event"] == "paid" and e["reason"] == "attestation")
        attack = report["attack"]
        check(attack["harm"] <= attested < attack["paid"], f"the solver loses what attestations cost, the liar more: {attack}")
    elif kind == "tarpit":
        check(task["state"] == "settled" and not verdicts, "an honest task must settle undisputed")
        check(not slash_reasons(task), "nobody may lose anything")
        check(report[kind]["accepted"] == report[kind]["slashed"] == 0 < report[kind]["drawn"], f"a drawn solver declines: {report[kind]}")
    elif kind == "double-proposal":
        check(task["state"] == "settled" and not verdicts, "an honest task must settle undisputed")
        doubled, transfers = report[kind], report[kind]["transfers"]
        check(doubled["doubled"] >= 3 and doubled["refused"] >= 3, f"proposals are doubled and refused: {doubled}")
        check(doubled["twice_in_blocks"] == 0, f"no block holds a transaction twice: {doubled}")
        check(transfers["failed"] == 0 < transfers["confirmed"] <= transfers["moved"] <= transfers["asked"], f"once each: {transfers}")
        check(report["attack"]["harm"] == 0, f"nobody loses by it: {report['attack']}")
    elif kind == "farm":
        farm, attack = report[kind], report["attack"]
        check(task["state"] == "settled" and set(verdicts) <= {"forced"}, "an honest task must settle undisputed")
        check(farm["states"].get("convicted", 0) >= 5, f"three committees convict who serves nobody its program: {farm}")
        check(attack["harm"] <= attack["paid"] and attack["paid"] > 0, f"the coalition loses, nobody honest more: {attack}")
    elif kind in ("bait", "waiting"):
        check(task["state"] == "settled" and not verdicts, "an honest task must settle undisputed")
        check(not slash_reasons(task), "nobody may lose anything")
        taken = {"bait": "accepted", "waiting": "submitted"}[kind]
        check(report[kind][taken] == report[kind].get("waiting", 0), f"nobody takes what is worth nothing: {report[kind]}")
    else:
        if kind == "squat":
            squat = report["squat"]
            check(squat["registered"] == 0 and squat["places"] == 1024, f"nobody registers without stake: {squat}")
        if kind == "idle-sockets":
            idle = report["idle-sockets"]
            check(idle["failed"] == 0 and idle["slowest_ms"] < 1000, f"the node answers all the while: {idle}")
        if kind == "lying-node":
            lying = report["lying-node"]
            check(lying["told"] == 11 and lying["refused"] == 9, f"what does not verify is refused: {lying}")
            check(all(lie["as_meant"] and lie["error"] for lie in lying["lies"]), f"each lie has a typed error: {lying}")
            check(all(lie["signed"] == 0 for lie in lying["lies"] if lie["error"] == "mismatch"), "nothing is signed on a lie")
            payments = lying["payments"]
            check(payments["wrong"] == 0 and payments["moved_grains"] == payments["asked_grains"], f"no payment but those asked for: {payments}")
            check(lying["workers"]["refused"] > 0, f"an invented round of the beacon is refused: {lying}")
            check(lying["workers"]["wrong"] == 0 < lying["workers"]["signed"], f"workers sign nothing on a lie: {lying}")
            check(report["attack"]["outsider"]["harm"] == 0, f"nobody loses by it: {report['attack']}")
        if kind == "snipe":
            snipe, attack = report["snipe"], report["attack"]
            check(snipe["honest"], f"nobody honest accuses: {snipe}")
            check(all(a["earned"] > a["spent"] for a in snipe["honest"]), f"who was right is paid for it: {snipe}")
            check(attack["harm"] == 0 < attack["paid"], f"honest accusers lose nothing: {attack}")
        if kind == "starve":
            starve = report["starve"]
            check(starve["slashed"] == 0 and len(starve["starved"]) >= 2, f"verifiers lose free stake, and nothing else: {starve}")
        check(task["state"] == "convicted" and verdicts.count("refuted") >= 1, f"{kind} must convict, by a dispute")
        dispute = next(d for d in report["disputes"] if d["verdict"] == "refuted")
        at = dispute["pinpoint"]
        check(at["op"] is not None and at["node"] is not None, "the fraud must be pinpointed to a node")
        check(at["op"] == EXPECTED_OP.get(kind, at["op"]), f"{kind} was pinpointed at {at}")
        check(0 < dispute["referee_us"] < 1000, f"the one-step verifier took {dispute['referee_us']} us")
        check(dispute["slashed"] > 0 and dispute["slashed"] == dispute["paid"] + dispute["burned"], "the solver's bond")


def check_tolerance(report, kind):
    task = report["tasks"][-1]
    profiles = [e for e in task["history"] if e["event"] == "profile_published"]
    check(len(profiles) == 4, "four verifiers must profile it")
    if kind == "none":
        check(task["state"] == "settled" and not report["disputes"], "an honest task must settle undisputed")
        check(not slash_reasons(task), "nobody may lose anything")
    else:
        check(task["state"] == "convicted" and slash_reasons(task) == {"beyond_tolerance"}, "its distance must convict it")


def check_pair(report):
    check_shape(report)
    check([t["state"] for t in report["tasks"]] == ["settled", "convicted"], "one settles, one is convicted")


def check_model(binaries, folder, name):
    """A larger model: packed, trained, verified and settled, and a fraud disputed to its tile."""
    arguments, patience_s = [], 600
    if name == "gpt2-small":
        data = binaries.parent / name
        script = pathlib.Path(__file__).resolve().parents[3] / "tools" / "demo" / "gpt2_small_data.py"
        made = subprocess.run([sys.executable, str(script), str(data)], capture_output=True, text=True, timeout=600)
        if made.returncode == 77:
            print(made.stdout.strip())
            sys.exit(0)
        check(made.returncode == 0, made.stderr)
        arguments, patience_s = ["--text", str(data / "text.txt"), "--tokenizer", str(data / "tokenizer.json")], 7_000
    report, story = run_demo(binaries, folder / "home", "--model", name, *arguments, patience_s=patience_s)
    check_pair(report)
    check_fraud(report, "tile")
    score = report["tasks"][0]["score"]
    check(0 < score < math.log(VOCABULARIES[name]), f"a score of {score} is no better than guessing")
    check("who was paid" in story, "the story was not told")
    check_replay(binaries, folder / "home")


def check_cell(binaries, folder, plan):
    workers = 4
    report, _ = run_demo(binaries, folder / "home", "--workers", str(workers), "--parallel", plan)
    check_shape(report)
    check(report["parallel"] == plan and report["workers"] == workers, "the report is of another cell")
    check(len(report["root"]) == 64 and report["root"] == report["one_process_root"], "the cell's root is not one process's")
    check(report["root"] == report["tasks"][0]["checkpoints"][-1]["state_root"], "the root is not the last checkpoint's")
    check(report["steps"] >= 200, "the machines did not train together")
    if plan not in ("dgc", "diloco", "sparseloco", "streaming"):
        cell = report["verifier_cells"]
        check(cell["steps"] > 0, "the verifiers' machines replayed nothing")
        verdicts = [event for event in report["tasks"][0]["history"] if event["event"] == "verdict_published"]
        check(verdicts and all(verdict["accepts"] for verdict in verdicts), "a verifier rejected what is right")
    sent, formula = report["bytes"]["sent"], report["bytes"]["formula"]
    check(abs(sent - formula) <= 0.01 * formula, f"{sent} bytes were sent in a step, and the plan says {formula}")
    memory = report["memory"]
    check(memory["worker"] <= 1.05 * memory["formula"], f"a worker had {memory['worker']} bytes of the state, not {memory['formula']}")


def check_group(binaries, folder, fraud, parallel="diloco"):
    workers = 4
    arguments = ["--workers", str(workers), "--parallel", parallel, "--accounts"]
    report, story = run_demo(binaries, folder / "home", *arguments, *(["--fraud", fraud] if fraud else []))
    check_shape(report)
    check(len(report["root"]) == 64 and report["root"] == report["one_process_root"], "the group's root is not one process's")
    check(report["state"] == "settled", "the task must be settled, for all or for what is left of it")
    check(report["honest_lost"] == 0, "an honest member lost stake")
    is_wrong = fraud is not None and not fraud.startswith("withhold")
    named = int(fraud.partition("@")[2]) if fraud is not None else None
    colludes = fraud is not None and fraud.startswith("collude")
    # Of a coalition of all but one the first turn is the first that is wrong; others of it may be convicted before.
    culprit = (1 if named == 0 else 0) if colludes else named if is_wrong else None
    cheating = [rank for rank in range(workers) if named is not None and (rank == named) != colludes]
    convicted = report["convicted"]
    check(report["cheats"] == cheating, f"{report['cheats']} cheated, not {cheating}")
    check(convicted == ([culprit] if is_wrong else []) or (colludes and culprit in convicted and set(convicted) <= set(cheating)), f"convicted were {convicted}")
    # The member cheats in the second round, and only what precedes counts.
    segments = workers + culprit if is_wrong else 2 * workers
    check(report["segments"] == segments and report["of_segments"] == 2 * workers, f"{report['segments']} segments count")
    for rank, member in enumerate(report["members"]):
        posted = sum(1 for segment in range(segments) if segment % workers == rank)
        earned = 0 if rank in convicted else 20_000_000_000 * posted // (2 * workers) * 96 // 100
        check(member["rewarded"] == earned, f"rank {rank} was paid {member['rewarded']}, not {earned}")
    if is_wrong:
        refuted = [d for d in report["disputes"] if d["verdict"] == "refuted" and d["segment"] == segments + 1]
        check(refuted and refuted[0]["pinpoint"]["op"], "the dispute was not bisected to a node of that turn")
    check("who was paid" in story, "the story was not told")


def check_boundary(binaries, folder):
    own = folder / "own"
    shutil.copytree(pathlib.Path(__file__).resolve().parents[3] / "examples" / "mlp", own)
    settings = (own / "task.toml").read_text().replace("batch_size = 32", "batch_size = 32\nboundary = 1")
    (own / "task.toml").write_text(settings)
    report, _ = run_demo(binaries, folder / "home", "--task", str(own), "--fraud", "optimizer")
    check_shape(report)
    check(report["tasks"][0]["state"] == "convicted", "a fraud in a task with a boundary must be found")
    report, _ = run_demo(binaries, folder / "cell", "--task", str(own), "--workers", "2", "--parallel", "pp")
    check(report["tasks"][0]["state"] == "settled", "the task of a cell must settle")
    check(report["root"] == report["one_process_root"], "the cell's root is not one process's")


def check_frozen(binaries, folder):
    own = folder / "own"
    shutil.copytree(pathlib.Path(__file__).resolve().parents[2] / "vectors" / "onnx" / "mlp", own)
    settings = (own / "task.toml").read_text().replace("batch_size = 24", 'batch_size = 24\nfrozen = ["0.weight"]')
    (own / "task.toml").write_text(settings)
    report, _ = run_demo(binaries, folder / "home", "--task", str(own), "--fraud", "skip")
    check_shape(report)
    task = report["tasks"][0]
    check(task["state"] == "convicted", "a fraud in a task with a frozen parameter must be found")
    stores = list((folder / "home" / "network").glob("*/store"))

    def names_of(checkpoint):  # ART-10: with all tensors, and without those that are frozen
        root, tag = checkpoint["state_root"], hashlib.sha256(b"assay/trained").digest()
        lacking = struct.pack("<II", 1, 10)  # a vector of one: frozen parameters are the last of the state
        return root, hashlib.sha256(tag + tag + bytes.fromhex(root) + lacking).hexdigest()

    sizes = [
        next(file.stat().st_size for name in names_of(checkpoint) for file in (store / name for store in stores) if file.exists())
        for checkpoint in task["checkpoints"]
    ]
    frozen_bytes = 4 * 16 * 12
    check(len(set(sizes[:-1])) == 1, f"checkpoints of {sizes} bytes")
    check(sizes[-1] >= sizes[0] + frozen_bytes, f"the last checkpoint has {sizes[-1]} bytes, the first {sizes[0]}")


def check_own_task(binaries, folder):
    """The examples/mlp of this repository, and directories that the demo cannot take."""
    own = folder / "own"
    shutil.copytree(pathlib.Path(__file__).resolve().parents[3] / "examples" / "mlp", own)
    report, _ = run_demo(binaries, folder / "home", "--task", str(own), "--fraud", "none", "--seed", "7")
    check_shape(report)
    check(report["tasks"][0]["state"] == "settled", "the task must settle")
    settings = (own / "task.toml").read_text()
    (own / "task.toml").write_text('mode = "tolerance"\n' + settings)
    for arguments, complaint in (("--task", str(own)), "give --mode tolerance"), (("--task", str(folder)), "task.toml"), \
            (("--task", str(own), "--model", "char"), "excludes"):
        refused = subprocess.run([str(binaries / "assay"), "demo", *arguments], capture_output=True, text=True, timeout=60)
        check(refused.returncode != 0 and complaint in refused.stderr, f"{arguments}: {refused.stderr}")


def check_afterwards(binaries, folder):
    command = [str(binaries / "assay"), "demo", "--home", str(folder / "home"), "--fraud", "tile", "--seed", "7", "--keep-running"]
    demo = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        for line in demo.stdout:
            found = re.search(r"--node (\S+) audit task ([0-9a-f]{64})", line)
            if found:
                break
        check(found, "the demo did not stay up")
        node, task = found.groups()

        def assay(*arguments):
            result = subprocess.run([str(binaries / "assay"), *arguments, "--node", node, "-o", "json"], capture_output=True, text=True, timeout=120)
            return result.returncode, json.loads(result.stdout)

        status, answer = assay("penalty", "explain", task)
        check(status == 0 and [p["reason"] for p in answer["penalties"]] == ["lost_dispute"], f"one penalty: {answer}")
        penalty = answer["penalties"][0]
        check(int(penalty["amount"]) == int(penalty["burned"]) + int(penalty["paid"]) > 0, "the penalty's money")
        # The command that the penalty names says the same, and the segment before it holds.
        reproduce = penalty["reproduce"][0].split()
        check(reproduce[:3] == ["assay", "verify", "segment"], f"reproduce by {reproduce}")
        status, answer = assay(*reproduce[1:])
        check(status == 9 and answer["holds"] is False and answer["claimed"] != answer["replayed"], f"the fraud: {answer}")
        status, answer = assay("verify", "segment", task, str(penalty["segment"] - 1))
        check(status == 0 and answer["holds"] is True, f"the segment before: {answer}")
        status, answer = assay("verify", "segment", task, "999")
        check(status == 6 and answer["error"]["name"] == "not_found", f"no such segment: {answer}")
    finally:
        demo.send_signal(signal.SIGINT)
        check(demo.wait(timeout=30) == 0, "the demo did not end well")


def main():
    binaries, mode = pathlib.Path(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory(prefix="assay-e2e-") as folder:
        folder = pathlib.Path(folder)
        if mode == "fraud":
            kind = sys.argv[3]
            report, story = run_demo(binaries, folder / "home", "--fraud", kind, "--seed", "7")
            check_shape(report)
            check_fraud(report, kind)
            if kind != "double-proposal":  # whose blocks the engines have
                check_replay(binaries, folder / "home")
            check("/8 " in story and "who was paid" in story, "the story was not told")
        elif mode == "tolerance":
            kind = sys.argv[3]
            report, _ = run_demo(binaries, folder / "home", "--mode", "tolerance", "--fraud", kind, "--seed", "7")
            check_shape(report)
            check_tolerance(report, kind)
            check_replay(binaries, folder / "home")
        elif mode == "pair":
            report, _ = run_demo(binaries, folder / "home", *sys.argv[3:])
            check_pair(report)
            check(report["wall_s"] < 120, f"the demo took {report['wall_s']} s")
        elif mode == "model":
            check_model(binaries, folder, sys.argv[3])
        elif mode == "cell":
            check_cell(binaries, folder, sys.argv[3])
        elif mode == "group":
            fraud, *parallel = sys.argv[3:]
            check_group(binaries, folder, fraud if fraud != "none" else None, *parallel)
        elif mode == "task":
            check_own_task(binaries, folder)
        elif mode == "frozen":
            check_frozen(binaries, folder)
        elif mode == "boundary":
            check_boundary(binaries, folder)
        elif mode == "same-seed":
            first, _ = run_demo(binaries, folder / "a", "--fraud", "none", "--seed", "11")
            second, _ = run_demo(binaries, folder / "b", "--fraud", "none", "--seed", "11")
            other, _ = run_demo(binaries, folder / "c", "--fraud", "none", "--seed", "12")
            roots = [[c["state_root"] for c in r["tasks"][0]["checkpoints"]] for r in (first, second, other)]
            check(len(roots[0]) >= 9, "at least eight segments")
            check(roots[0] == roots[1], "the same seed must give the same state roots")
            check(roots[0][-1] != roots[2][-1], "another seed must give other state roots")
        elif mode == "afterwards":
            check_afterwards(binaries, folder)
        else:
            sys.exit(__doc__)
    print("ok")


if __name__ == "__main__":
    main()
