# SPDX-License-Identifier: Apache-2.0
"""The history of a task, from docs/protocol/records.md ("History")."""
import records as r
from borsh import U32, U64, Bool, List, Optional, Struct, Variant, decode, encode

_DISPUTE = dict(dispute=r.HASH)
Withheld = Struct(contributor=r.ACCOUNT, burned=r.AMOUNT)


def _distances():
    return Struct(parameters=U64, other=U64)


Event = Variant({
    0: ("submitted", Struct(escrow=r.AMOUNT, room=r.AMOUNT)),
    1: ("solver_drawn", Struct(solver=r.ACCOUNT)),
    2: ("accepted", Struct(bond=r.AMOUNT, seats=List(r.ACCOUNT), environment=Optional(r.Environment))),
    3: ("checkpoint_posted", Struct(index=U32, state_root=r.HASH, environment=Optional(r.Environment),
                                   sealed=Optional(r.SealedFile))),
    4: ("completed", Struct()),
    5: ("verifier_drawn", Struct(segment=U32, verifier=r.ACCOUNT)),
    6: ("verdict_committed", Struct(segment=U32)),
    7: ("verdict_published", Struct(segment=U32, verdict=r.Verdict, accepts=Bool())),
    8: ("dispute_opened", Struct(**_DISPUTE, segment=U32)),
    9: ("dispute_moved", Struct(**_DISPUTE, round=U32, level=r.Level, by_responder=Bool())),
    10: ("dispute_ended", Struct(**_DISPUTE, claim_refuted=Bool(), reason=r.Reason)),
    11: ("committee_drawn", Struct(sitting=U32, segments=List(U32), seats=List(r.ACCOUNT))),
    12: ("committee_ended", Struct(is_available=Bool())),
    13: ("paid", Struct(to=r.ACCOUNT, amount=r.AMOUNT, reason=r.Reason)),
    14: ("slashed", Struct(**{"from": r.ACCOUNT}, amount=r.AMOUNT, burned=r.AMOUNT, reason=r.Reason)),
    15: ("state_changed", Struct(state=r.TaskState)),
    16: ("diverged", Struct(index=U32, step=U64, state_root=r.HASH, sealed=Optional(r.SealedFile))),
    17: ("lottery_drawn", Struct(lottery=r.HASH)),
    18: ("watcher_drawn", Struct(segment=U32, verifier=r.ACCOUNT, watcher=r.ACCOUNT)),
    19: ("verdict_disclosed", Struct(segment=U32, verifier=r.ACCOUNT, verdict=r.Verdict, forced=Bool())),
    20: ("verdict_challenged", Struct(**_DISPUTE, segment=U32, verifier=r.ACCOUNT)),
    21: ("tainted", Struct(ancestor=r.HASH)),
    22: ("profiler_drawn", Struct(profiler=r.ACCOUNT)),
    23: ("profile_committed", Struct()),
    24: ("profile_published", Struct(report=r.ProfileReport)),
    25: ("profile_challenged", Struct(**_DISPUTE, profiler=r.ACCOUNT, part=r.ProfilePart, segment=U32)),
    26: ("profiling_ended", Struct(outcome=r.ProfilingOutcome, threshold=_distances(), reference=_distances())),
    27: ("scored", Struct(score=U32)),
    28: ("round_closed", Struct(round=U64, seed=r.HASH, contributors=U32, withheld=List(Withheld))),
    29: ("attested", Struct()),
    30: ("cut", Struct(first=U32, member=r.ACCOUNT)),
    31: ("accused", Struct(**_DISPUTE, segment=U32, accuser=r.ACCOUNT, member=r.ACCOUNT, answers=Optional(r.HASH))),
    32: ("member_convicted", Struct(member=r.ACCOUNT, reason=r.Reason)),
    33: ("reseated", Struct(**{"from": U32}, seats=List(r.ACCOUNT))),
    34: ("demanded", Struct(accuser=r.ACCOUNT, member=r.ACCOUNT, is_out=Bool())),
    35: ("keeping_begun", Struct(fee=r.AMOUNT, bond=r.AMOUNT, shows=U32)),
    36: ("show_drawn", Struct(show=U32, due=r.HEIGHT)),
    37: ("result_shown", Struct(show=U32)),
    38: ("keeping_ended", Struct(is_whole=Bool())),
    39: ("keys_shared", Struct(key=Optional(r.HASH), shares=List(r.KeyShare))),
    40: ("keys_refused", Struct()),
})
Record = Struct(task=r.HASH, index=U32, height=r.HEIGHT, tx=r.HASH, actor=r.ACCOUNT, event=Event)


def fetch(client, task):
    """All records of a task, as bytes and decoded."""
    result, cursor = [], None
    while True:
        page = client.rpc("task_history", task=task.hex(), limit=100, **({} if cursor is None else {"cursor": cursor}))
        result += [bytes.fromhex(entry["raw"]) for entry in page["records"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    decoded = [decode(Record, raw) for raw in result]
    if [encode(Record, record) for record in decoded] != result:
        raise AssertionError("a record does not encode to what it was decoded from")
    return result, decoded
