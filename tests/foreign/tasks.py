# SPDX-License-Identifier: Apache-2.0
"""Chapters: a tiny task is packed by the command line and committed to here, trained here, verified here, and its life
on the chain is played for all parties (docs/protocol/tasks.md, verification.md)."""
import hashlib
import json
import secrets
import subprocess

import assay
import history
import state
import tensorfile
import trace
from bip340 import tagged_hash
from borsh import U32, decode, encode
from records import Program
from rpc import RpcError
from session import act, check, say

ASY = assay.ASY
# ENV-4: what the solver claims, of which the task asks for the first label.
STATED = dict(image=bytes(range(32)), labels=["cuda=12.4", "driver=550"])
# CHK-1: weights are finite, and no numbers of classes.
CHECKS = [("finite", dict(tensor=None)), ("labels", dict(tensor=0, classes=3))]
REPORT = 0b10
TOML = """title = "a tiny perceptron"
steps = 3
checkpoint_interval = 2
seed = 7
reward = "2 ASY"
verification_fee = "1 ASY"
training_blocks = 600

[model]
kind = "mlp"
hidden = [4]
classes = 3
batch_size = 4
scale = 0.5

[optimizer]
kind = "sgd"
learning_rate = 0.1
momentum = 0.9

[data]
rows = "rows.safetensors"
"""


class Job:
    """A program, its data, and the specification that names them."""

    def __init__(self, assay_binary, folder, store):
        directory, packed = folder / "task", folder / "store"
        directory.mkdir()
        (directory / "task.toml").write_text(TOML)
        rows = [[i % 3 - 1, i * 5 % 7 - 3, i % 2, i * i % 3] for i in range(10)]
        tensor = ("i32", 10, 4, [value for row in rows for value in row])
        (directory / "rows.safetensors").write_bytes(tensorfile.write({"rows": tensor}))
        command = [assay_binary, "--home", str(folder / "client"), "-o", "json", "task", "pack", str(directory), "--store",
                   str(packed), "--location", store.location]
        self.packed = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout)
        artifacts = {name: store.add((packed / self.packed[name]["sha256"]).read_bytes())
                     for name in ("program_artifact", "dataset_artifact")}
        self.program = decode(Program, store.content[self.packed["program_artifact"]["sha256"]])
        stored = store.content[self.packed["dataset_artifact"]["sha256"]]
        self.dataset = trace.dataset_rows(self.program["dataset"], stored)
        check(self.dataset == rows, "the packed data are the rows")
        self.store, self.spec = store, dict(
            title=self.packed["title"], program=trace.commitment_of(self.program), dataset_root=trace.dataset_root(stored),
            **artifacts, tokenizer=hashlib.sha256(b"no rule reads this").digest(), initial_artifact=None, seed=7, steps=3,
            checkpoint_interval=2, reward=2 * ASY, verification_fee=ASY, training_blocks=600, parent=None, hardware_class=0,
            mode="exact", distance=None, evaluation=None, members=1, environment=dict(image=None, labels=STATED["labels"][:1]), checks=CHECKS, retention=None, privacy=None)

    def training(self, tamper=None):
        return trace.Training(self.program, self.dataset, self.spec["seed"]).run(self.spec["steps"], tamper)

    def steps_until(self, checkpoint):
        return min(checkpoint * self.spec["checkpoint_interval"], self.spec["steps"])

    def publish(self, tensors):
        """ART-10, ART-15: serves the state's file under its root, and the hashes of its tiles beside it."""
        named = {tensor["name"]: value for tensor, value in zip(self.program["state"], tensors)}
        name = trace.state_root(tensors).hex()
        self.store.content[name] = tensorfile.write(named)
        self.store.content[name + "/leaves"] = b"".join(leaf for tensor in tensors for leaf in trace.tile_leaves(tensor))
        return self.store.location


def commitment(job):
    """TRC-6, TRC-7, WRK-1 and WRK-2 against what `assay task pack` says."""
    program, packed = job.spec["program"], job.packed
    check(trace.program_id(program).hex() == packed["program_id"], "the program's id")
    check(job.spec["dataset_root"].hex() == packed["dataset_root"], "the dataset's root")
    found = (program["init_work"], program["step_work"], program["memory"], program["outputs"])
    check(found == (packed["init_work"], packed["step_work"], packed["memory"], packed["outputs"]), f"work and memory: {found}")
    say(f"commitment: the program's id {packed['program_id'][:16]}.., the dataset's root, work and memory are those of task pack")


def submit(session, job):
    """Submits, at exactly the fee that FEE-1 and DTY-3 ask for, and checks the id and the record."""
    action = act("submit_task", spec=job.spec)
    raw = session.client.signed(session.sponsor, action)
    body = decode(assay.Tx, raw)["body"]
    session.refused(session.client.signed(session.sponsor, action, fee=body["fee"] - 1), "fee_too_low")
    session.client.submit(raw)
    receipt = session.client.receipt(raw)
    check(receipt["code"] == 0, f"submit_task: {receipt}")
    session.check_gas(action, raw, receipt)
    session.executed.add("submit_task")
    task = assay.task_id(session.sponsor.account, body["nonce"])
    record = session.task(task)
    check(record["spec"] == job.spec and record["submitter"] == session.sponsor.account, "the record has the specification")
    check(record["escrow"] == 3 * ASY, "reward and fee are in escrow")
    return task


def cancel(session, job):
    task = submit(session, job)
    session.refused(session.client.signed(session.solver, act("cancel_task", task=task)), "not_submitter")
    session.ok(session.sponsor, act("cancel_task", task=task))
    check(session.task(task)["state"] == "cancelled" and session.task(task)["escrow"] == 0, "the escrow is refunded")
    say("a task is submitted at the least fee, and cancelled; its id and record are as they should be")
    return task


def solver_bonds(session):
    session.ok(session.solver, act("bond", role="solver", amount=20 * ASY))
    terms = dict(hardware_class=1, price=0, memory=0, replay_blocks=0, offers=assay.fingerprints(STATED))
    session.ok(session.solver, act("register_terms", role="solver", terms=terms, score=20_000))


def solve(session, job, task, training):
    """The solver is drawn, accepts, posts its checkpoints and completes."""
    record = session.task_state(task, "drawn")
    check(record["solver"] == session.solver.account, "the only solver is drawn")
    session.answer(session.solver, act("accept_task", task=task, seats=[], signatures=[], is_together=False, environment=STATED), record["deadline"])
    record = session.task(task)
    check(record["state"] == "training" and record["solver_bond"] == 5 * ASY, f"accepted: {record['state']}")
    for index in range(3):
        tensors = training.traces[job.steps_until(index)].after
        action = act("post_checkpoint", task=task, index=index, state_root=trace.state_root(tensors),
                     location=job.publish(tensors), environment=STATED, sealed=None)
        if index == 0:
            session.answer(session.solver, action, record["deadline"])
        else:
            session.ok(session.solver, action)
        checkpoint = session.client.record(state.Checkpoint, state.checkpoint_key(task, index))
        check(checkpoint["state_root"] == action[1]["state_root"], "the checkpoint is proven")
    session.ok(session.solver, act("complete_task", task=task, evaluation=None))
    say("  the solver was drawn, accepted and posted a checkpoint without a fee, and completed")


def replayed_by_worker(session, job, task, binaries, folder, segments, code):
    """`assay verify segment` has assay-worker replay what Python trained."""
    if binaries.worker is None:
        say("  skipped: no --worker to replay the segments with")
        return
    for segment in segments:
        command = [binaries.assay, "--home", str(folder / "client"), "--node", session.client.rpc.url, "-o", "json", "verify",
                   "segment", task.hex(), str(segment), "--worker", binaries.worker]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        check(done.returncode == code, f"segment {segment}: {done.returncode} {done.stdout}{done.stderr}")
    what = "confirms" if code == 0 else "refutes"
    say(f"  assay-worker's replay {what} segments {segments} of what Python trained")


def openings(session, job, task, training):
    """The verifier's openings: VER-2 and VER-9, for segments of fewer than 16 steps, whose offset is 0."""
    result = {}
    for assignment in session.task(task)["assignments"]:
        segment = assignment["segment"]
        first, last = job.steps_until(max(segment - 1, 0)), job.steps_until(segment)
        n = last - first if segment else 1
        marks = sorted({i * n // 8 for i in range(8) if 1 <= i * n // 8 < n} | ({n - 1} if n > 1 else set()))
        verdict = dict(end_root=training.root(last), probe_root=None, measurement=None, diverged_after=None, failed_checks=REPORT)
        result[segment] = dict(verdict=verdict, marks=[training.root(first + mark) for mark in marks],
                               decoy_root=secrets.token_bytes(32), salt=secrets.token_bytes(32)), marks
    return result


def is_forced(lottery, opening, task, segment, verifier):
    """VER-11, with the rate of this chain: half."""
    seed = tagged_hash("assay/forced", lottery, opening["salt"], task, encode(U32, segment), verifier)
    return bool(opening["marks"]) and int.from_bytes(seed[:16], "little") % 10_000 < 5_000


def judge(session, job, task, training):
    """The verifier commits, publishes and discloses its verdicts on all three segments; says whether one was forced."""
    key = session.verifier
    session.task_state(task, "verifying")
    session.until("the draw of verifiers", lambda: session.task(task)["assignments"])
    opened = openings(session, job, task, training)
    check(sorted(opened) == [0, 1, 2], f"all segments are drawn: {sorted(opened)}")
    for segment, (opening, _) in opened.items():
        commitment = assay.verdict_commitment(task, segment, key.account, opening)
        action = act("commit_verdict", task=task, segment=segment, commitment=commitment)
        session.answer(key, action, session.task(task)["deadline"])
    session.until("the lottery", lambda: session.task(task)["lottery"] != bytes(32))
    forced = [s for s, (opening, _) in opened.items() if is_forced(session.task(task)["lottery"], opening, task, s, key.account)]
    publish(session, task, opened, forced)
    for segment in forced:
        challenge(session, job, task, segment, opened[segment][0], training)
    session.task_state(task, "disclosure")
    for segment, (opening, _) in opened.items():
        if segment not in forced:
            session.ok(key, act("disclose_verdict", task=task, segment=segment, opening=opening))
    for assignment in session.task(task)["assignments"]:
        check(assignment["failed_checks"] == REPORT, "the record has the report")
        check(assignment["forced"] == (assignment["segment"] in forced), "the chain finds forced what is forced here")
    say("  the verifier disclosed them")
    return bool(forced)


def publish(session, task, opened, forced):
    for assignment in session.task(task)["assignments"]:
        segment = assignment["segment"]
        opening, marks = opened[segment]
        verdict = dict(opening["verdict"])
        if marks:
            true = opening["marks"][marks.index(assignment["probe"])]
            verdict["probe_root"] = opening["decoy_root"] if segment in forced else true
        session.ok(session.verifier, act("publish_verdict", task=task, segment=segment, verdict=verdict, divergence=None))
    say(f"  the verifier committed to three verdicts and published them, {len(forced)} forced")


def challenge(session, job, task, segment, opening, training):
    """The watcher finds another probe root than the forced one, seals it, and the disclosure proves it right."""
    verifier, watcher = session.verifier.account, session.watcher.account
    found = next(a for a in session.task(task)["assignments"] if a["segment"] == segment)
    check(found["watchers"] == [watcher], "the only whistleblower is drawn to watch")
    dispute = assay.dispute_id(task, segment, watcher, assay.verdict_subject(verifier, False, "probe"))
    true = training.root(job.steps_until(segment - 1) + found["probe"])
    action = act("challenge_verdict", task=task, segment=segment, verifier=verifier, role="whistleblower", part="probe",
                 roots=None, seal=tagged_hash("assay/seal", dispute, true))
    session.ok(session.watcher, action)
    record = session.client.record(state.Dispute, state.dispute_key(dispute))
    phase, awaiting = record["phase"]
    check(phase == "awaiting" and record["claim"]["after"] == opening["decoy_root"], f"it awaits: {record}")
    disclose = act("disclose_verdict", task=task, segment=segment, opening=opening)

    def is_time():
        try:
            session.answer(session.verifier, disclose, awaiting["deadline"])
            return True
        except RpcError as error:
            check(error.data.get("reason") == "phase", error)
            return False
    early = session.client.send(session.verifier, disclose)
    check((early["code"], early["error"]) == (64, "phase"), "in a block before half of the window has passed it fails (DSP-42)")
    session.until("the time to disclose", is_time)
    record = session.client.record(state.Dispute, state.dispute_key(dispute))
    phase, end = record["phase"]
    check(phase == "end" and (end["outcome"], end["reason"]) == ("forced", "forced_error"), f"the end: {record['phase']}")
    say("  the watcher challenged the forced one with a seal, and the disclosure proves it right")


def honest(session, job, binaries, folder):
    """A whole task, trained and verified in Python."""
    training = job.training()
    task = submit(session, job)
    say(f"an honest task: {task.hex()[:16]}.., trained in Python, loss {training.traces[1].outputs[40][3][0]:.4f} to "
        f"{training.traces[3].outputs[40][3][0]:.4f}")
    solve(session, job, task, training)
    replayed_by_worker(session, job, task, binaries, folder, [0, 1, 2], 0)
    forced = judge(session, job, task, training)
    record = session.task_state(task, "settled", "convicted", "expired")
    check(record["state"] == "settled" and record["escrow"] == 0, f"the task is {record['state']}")
    paid = {}
    for name, fields in audit(session, task):
        if name == "paid":
            who = (fields["to"], fields["reason"])
            paid[who] = paid.get(who, 0) + fields["amount"]
    tax = 2 * ASY // 25 + ASY // 25  # SET-8: 400 basis points of each
    share = (ASY - ASY // 25) // 3  # SET-1: of three verdicts
    check(paid[session.solver.account, "reward"] == 2 * ASY - 2 * ASY // 25, "the solver's reward")
    check(paid[session.verifier.account, "verification_fee"] == 3 * share, "the verifier's fee")
    check(paid[bytes(32), "tax"] == tax, "the treasury's tax")
    check(("jackpot" in [reason for _, reason in paid]) == forced, "a jackpot exactly where a verdict was forced")
    say(f"  settled: 1.92 ASY to the solver, 0.96 to the verifier{', a jackpot to the watcher' if forced else ''}")


def audit(session, task):
    """HIS-2: the history root from the records that the node shows. Returns the events."""
    root = bytes(32)
    raws, decoded = history.fetch(session.client, task)
    for index, (raw, record) in enumerate(zip(raws, decoded)):
        check((record["task"], record["index"]) == (task, index), "a record of this task, in its place")
        root = assay.history_root(root, raw)
    record = session.task(task)
    check((len(raws), root) == (record["history_count"], record["history_root"]), "the history's root")
    say(f"  {len(raws)} records of its history hash to the proven root")
    return [record["event"] for record in decoded]
