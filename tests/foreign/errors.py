# SPDX-License-Identifier: Apache-2.0
"""Chapter: every action where the state does not allow it gets the number that docs/protocol/transactions.md names,
from the mempool, and in the receipt of a block."""
import secrets

import assay
import bip340
from records import ERRORS
from rpc import RpcError
from session import act, check, say

Z = bytes(32)
ARTIFACT = dict(sha256=Z, size_bytes=1, location="http://127.0.0.1", environment=None)
INPUT = dict(source="node", index=0, dtype="f32", shape=dict(rows=1, cols=1))
OPENING = dict(tensor=0, tile=0, type=dict(dtype="f32", shape=dict(rows=1, cols=1)),
               opening=dict(tile=dict(dtype="f32", data=bytes(4096)), tile_path=[], source_path=[]))
VERDICT = dict(end_root=Z, probe_root=None, measurement=None, diverged_after=None, failed_checks=None)
GROUP = dict(drift2=0, update2=0, claimed2=0, dot=0, drift_max=0, update_max=0, not_finite=0, integers=0, sketch=[0] * 8)
MEASUREMENT = dict(parameters=GROUP, other=GROUP)
EVIDENCE = ("output", dict(trace_root=Z, type=OPENING["type"], opening=OPENING["opening"]))


def stated(key, chain_id, task, values):
    """STM-1, STM-2: a statement with one piece, and its signature."""
    piece = dict(source="node", index=0, part=None, hop=0, row=0, col=0, rows=1, cols=1, width=4,
                 values=bip340.tagged_hash("assay/values", values))
    statement = dict(task=task, before=Z, session=Z, step=0, pieces=1, root=assay.piece_leaf(piece))
    signature = bip340.sign(key.secret, assay.statement_digest(chain_id, statement), secrets.token_bytes(32))
    return dict(statement=statement, piece=piece, index=0, path=[]), signature


WRONG_SHARE = dict(point=bytes(33), proof=bytes(64))
SEALED = dict(groups=1, group=0, chunks=1, chunk=0, bytes=bytes(16), chunk_path=[], group_path=[])
PIECE = dict(SEALED, size=16, piece=0, piece_path=[])
WRONG_CHUNK = dict(opening=SEALED, point=bytes(33), proof=bytes(64), tensor=None, expected=Z, expected_path=[])
TERMS = dict(hardware_class=9, price=0, memory=0, replay_blocks=0, offers=[])


def cases(session, job, over):
    """(who, action, error): first what fails in a block too, then what no mempool takes; `over` is a task that was cancelled.

    A transfer and a bond fail in a block only where an earlier transaction of it has spent the money, which this node's
    mempool keeps out (POOL-1).
    """
    s, someone = session, secrets.token_bytes(32)
    report = dict(start_root=Z, segments=[dict(native_root=Z, location="http://127.0.0.1", replayed_root=Z, measurement=MEASUREMENT)] * 3,
                  reference_root=Z, reference=MEASUREMENT)
    opening = dict(verdict=VERDICT, marks=[], decoy_root=Z, salt=Z)
    poor = s.poor
    one, one_signature = stated(s.solver, s.client.chain_id, someone, bytes(4))
    other, other_signature = stated(s.solver, s.client.chain_id, someone, bytes([1, 0, 0, 0]))
    accusation = dict(task=someone, member=s.solver.account, answers=None,
                      contradiction=dict(stated=one, state_root=Z, evidence=EVIDENCE))
    report_of = dict(task=someone, member=s.solver.account, one=one, one_signature=one_signature)
    def shares(task):
        made = [assay.seal_nothing(s.client.chain_id, task, poor.account, is_of_checkpoints) for is_of_checkpoints in (False, True)]
        return [dict(to=poor.account, of_task=made[0], of_checkpoints=made[1])]

    unsound = dict(job.spec, steps=10**6)  # more than 1,024 segments
    return [
        (poor, act("unbond", role="solver", amount=1), "insufficient_stake"),
        (s.sponsor, act("submit_task", spec=dict(job.spec, reward=210 * assay.ASY)), "value_too_high"),
        (poor, act("accept_task", task=over, seats=[], signatures=[], is_together=False, environment=None), "task_state"),
        (poor, act("accept_task", task=someone, seats=[], signatures=[], is_together=False, environment=None), "task_unknown"),
        (poor, act("post_checkpoint", task=someone, index=0, state_root=Z, location="http://127.0.0.1", environment=None, sealed=None),
         "task_unknown"),
        (poor, act("complete_task", task=over, evaluation=None), "task_state"),
        (poor, act("cancel_task", task=someone), "task_unknown"),
        (poor, act("commit_verdict", task=someone, segment=0, commitment=Z), "task_unknown"),
        (poor, act("publish_verdict", task=someone, segment=1, verdict=VERDICT, divergence=OPENING), "task_unknown"),
        (poor, act("open_dispute", task=over, segment=0, role="verifier"), "task_state"),
        (poor, act("reveal_move", dispute=someone, round=0, children=[Z, Z]), "dispute_unknown"),
        (poor, act("select_move", dispute=someone, round=0, selection=dict(child=0, node=None)), "dispute_unknown"),
        (poor, act("prove_move", dispute=someone, proof=("entry", dict(input=INPUT, input_path=[Z], commitment=Z, path=[Z]))), "dispute_unknown"),
        (poor, act("attest_availability", task=someone, opening=("tile", OPENING)), "task_unknown"),
        (poor, act("declare_divergence", task=over, step=1, state_root=Z, location="http://127.0.0.1", opening=OPENING,
                   sealed=None), "task_state"),
        (poor, act("disclose_verdict", task=someone, segment=0, opening=opening), "task_unknown"),
        (poor, act("challenge_verdict", task=someone, segment=1, verifier=Z, role="verifier", part="probe", roots=[Z, Z, Z],
                   seal=Z), "task_unknown"),
        (s.watcher, act("register_validator", key=assay.ed25519.public_key(bytes(range(32))), proof=assay.validator_proof(
            bytes(range(32)), s.client.chain_id, s.watcher.account)), "already_registered"),
        (poor, act("unjail"), "not_registered"),
        (s.watcher, act("unjail"), "not_jailed"),
        (poor, act("register_terms", role="verifier", terms=TERMS, score=1), "class_unknown"),
        (poor, act("commit_profile", task=someone, commitment=assay.profile_commitment(someone, poor.account, report, Z)),
         "task_unknown"),
        (poor, act("publish_profile", task=someone, report=report, salt=Z), "task_unknown"),
        (poor, act("challenge_profile", task=over, profiler=Z, role="verifier", part="measurement", segment=1,
                   roots=[Z, Z, Z]), "task_state"),
        (s.verifier, act("join_beacon", commitment=Z), "already_seated"),
        (poor, act("join_beacon", commitment=Z), "insufficient_stake"),
        (poor, act("contribute", secret=Z, next=Z), "not_seated"),
        (s.verifier, act("contribute", secret=Z, next=Z), "not_due"),
        (poor, act("leave_beacon"), "not_seated"),
        (poor, act("decline_task", task=someone), "task_unknown"),
        (poor, act("accuse", **accusation, signature=one_signature), "task_unknown"),
        (poor, act("report_equivocation", **report_of, other=other, other_signature=other_signature), "task_unknown"),
        (poor, act("reseat", task=someone, **{"from": 1}, seats=[poor.account], signatures=[]), "task_unknown"),
        (poor, act("demand", task=someone, member=s.solver.account), "task_unknown"),
        (poor, act("demand", task=over, member=s.solver.account), "task_state"),
        (poor, act("show_result", task=someone, opening=("piece", PIECE)), "task_unknown"),
        (poor, act("show_result", task=over, opening=("tile", OPENING)), "task_state"),
        (poor, act("share_keys", task=someone, key=None, shares=shares(someone)), "task_unknown"),
        (poor, act("share_keys", task=over, key=None, shares=shares(over)), "not_private"),
        (poor, act("report_wrong_keys", task=over, is_of_checkpoints=False, share=bytes(193), evidence=WRONG_SHARE), "not_private"),
        (poor, act("report_wrong_chunk", task=over, checkpoint=0, evidence=WRONG_CHUNK), "not_private"),
        (poor, act("propose_params", changes=[dict(param="jail_blocks", value=1)]), "not_in_set"),
        (s.watcher, act("propose_params", changes=[dict(param="jail_blocks", value=1)]), "proposal_passed"),
        (s.watcher, act("propose_upgrade", height=9_000_000, protocol_version=9), "proposal_passed"),
        (s.watcher, act("propose_halt"), "proposal_passed"),
        (poor, act("vote", proposal=Z, in_favour=True), "not_in_set"),
        (s.watcher, act("vote", proposal=Z, in_favour=True), "proposal_unknown"),
    ], [
        (poor, act("accuse", **accusation, signature=other_signature), "not_stated"),
        (poor, act("report_equivocation", **report_of, other=other, other_signature=one_signature), "not_stated"),
        (poor, act("report_equivocation", **report_of, other=one, other_signature=one_signature), "no_evidence"),
        (poor, act("transfer", to=s.solver.account, amount=100 * assay.ASY), "insufficient_balance"),
        (poor, act("bond", role="solver", amount=100 * assay.ASY), "insufficient_balance"),
        (poor, act("transfer", to=s.solver.account, amount=0), "field_out_of_range"),
        (poor, act("submit_task", spec=unsound), "spec_invalid"),
        (poor, act("reveal_move", dispute=someone, round=0, children=[]), "field_out_of_range"),
        (poor, act("accept_task", task=over, seats=[s.solver.account, poor.account], signatures=[bytes(64)], is_together=False, environment=None),
         "seats_invalid"),
        (poor, act("accept_task", task=over, seats=[], signatures=[], is_together=True, environment=None), "seats_invalid"),
        (poor, act("reseat", task=over, **{"from": 1}, seats=[], signatures=[]), "seats_invalid"),
        (poor, act("reseat", task=over, **{"from": 1}, seats=[poor.account, s.solver.account], signatures=[bytes(64)]),
         "seats_not_signed"),
        (poor, act("accept_task", task=over, seats=[poor.account, s.solver.account], signatures=[bytes(64)], is_together=True, environment=None),
         "seats_not_signed"),
        (poor, act("register_validator", key=bytes([7] * 32), proof=bytes(64)), "key_not_proven"),
        (poor, act("share_keys", task=over, key=None, shares=[]), "field_out_of_range"),
        (poor, act("share_keys", task=over, key=None, shares=shares(someone)), "share_invalid"),
        (poor, act("report_wrong_keys", task=over, is_of_checkpoints=False, share=b"", evidence=WRONG_SHARE), "field_out_of_range"),
        (poor, act("propose_params", changes=[]), "field_out_of_range"),
        (poor, act("propose_upgrade", height=0, protocol_version=0), "field_out_of_range"),
    ]


def mempool(session, job, over):
    """Refused alone, with the number and the slug."""
    stateful, stateless = cases(session, job, over)
    for key, action, error in stateful + stateless:
        session.refused(session.client.signed(key, action), error)
    alone = act("accept_task", task=over, seats=[], signatures=[], is_together=False, environment=None)
    for key, action, error in [(session.poor, alone, "not_owed"),
                               (session.poor, act("transfer", to=over, amount=1), "fee_too_low")]:
        session.refused(session.client.signed(key, action, nonce=1, fee=0), error)
    say(f"mempool: {len(stateful) + len(stateless) + 2} transactions are refused with the documented numbers")


def blocks(session, job, over):
    """Behind a transfer of the same sender, in one block, each is charged and fails with the number (TX-8, TX-9)."""
    left = {}
    for key, action, error in cases(session, job, over)[0]:
        left.setdefault(key, []).append((action, error))
    session.ok(session.sponsor, act("transfer", to=session.poor.account, amount=assay.ASY))
    for key, wanted in left.items():
        for _ in range(30):
            if not wanted:
                break
            wanted = _attempt(session, key, wanted)
        check(not wanted, f"not in a block: {[action[0] for action, _ in wanted]}")
    kinds = sorted(session.failed)
    check(len(kinds) == 38, f"{len(kinds)} kinds have failed in a block")
    say(f"blocks: {len(kinds)} kinds of actions, all but transfer, bond and name_operator, are in blocks with the documented code, charged, and "
        "with the gas of the table")


def _attempt(session, key, wanted):
    """Up to ten of them in one batch; returns what did not get into a block behind its transfer."""
    client, part = session.client, wanted[:10]
    client.wait_block()
    nonce = client.rpc("account_get", account=key.address)["next_nonce"]
    raws = [client.signed(key, act("transfer", to=key.account, amount=1), nonce=nonce)]
    raws += [client.signed(key, action, nonce=nonce + 1 + i) for i, (action, _) in enumerate(part)]
    results = client.rpc.batch([("tx_submit", {"tx": raw.hex()}) for raw in raws])
    rest = wanted[10:]
    for (action, error), raw, result in zip(part, raws[1:], results[1:]):
        receipt = None if isinstance(result, RpcError) else _receipt(client, raw)
        if receipt is None:
            rest.append((action, error))
            continue
        found = (receipt["status"], receipt["code"], receipt["error"])
        check(found == ("failed", ERRORS[error], error), f"{action[0]} fails with {error}, not {found}")
        session.check_gas(action, raw, receipt)
        session.failed.setdefault(action[0], error)
    return rest


def _receipt(client, raw):
    try:
        return client.receipt(raw)
    except RpcError as error:  # what a block's new state refuses leaves the mempool
        check(error.name == "not_found", error)
        return None
