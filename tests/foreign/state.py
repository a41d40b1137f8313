# SPDX-License-Identifier: Apache-2.0
"""Records of the state and their keys, from docs/protocol/records.md and docs/protocol/state.md."""
import records as r
from bip340 import tagged_hash
from borsh import U32, U64, Bool, Bytes, List, Optional, String, Struct, Variant, encode

Account = Struct(balance=r.AMOUNT, nonce=U64)
Supply = Struct(genesis=r.AMOUNT, burned=r.AMOUNT, treasury=r.AMOUNT)
Unbonding = Struct(amount=r.AMOUNT, release_at=r.HEIGHT, release_ms=U64)
Stake = Struct(free=r.AMOUNT, locked=r.AMOUNT, unbonding=List(Unbonding), is_unlisted=Bool(), declined_until=r.HEIGHT,
               declined_value=r.AMOUNT, offer=Optional(r.HASH))
RegisteredTerms = Struct(terms=r.Terms, score=U64, registered_at=r.HEIGHT)
Assignment = Struct(segment=U32, verifier=r.ACCOUNT, status=r.VerdictStatus, commitment=r.HASH, end_root=r.HASH, bond=r.AMOUNT,
                    offset=U32, probe=U32, probe_root=Optional(r.HASH), forced=Optional(Bool()), watchers=List(r.ACCOUNT),
                    measurement=Optional(r.Measurement), diverged_after=Optional(U32), reserve=r.AMOUNT,
                    failed_checks=Optional(U32))
Distances = Struct(parameters=U64, other=U64)
Profile = Struct(profiler=r.ACCOUNT, status=r.ProfileStatus, commitment=r.HASH, bond=r.AMOUNT)
Tolerance = Struct(phase=r.ProfilingPhase, profiles=List(Profile), reference_seed=U64, profile_seed=U64,
                   threshold=Optional(Distances), reference=Optional(Distances), sketch_seed=U64)
CommitteeMember = Struct(account=r.ACCOUNT, seats=U32, has_attested=Bool())
Available = Struct(segments=List(U32), attesters=List(r.ACCOUNT))
Committee = Struct(segments=List(U32), members=List(CommitteeMember), state=r.CommitteeState, sitting=U32, seed=r.HASH)
Partner = Struct(account=r.ACCOUNT, bond=r.AMOUNT)
Seating = Struct(until=U32, seats=Bytes())
Group = Struct(partners=List(Partner), is_together=Bool(), seats=Bytes(), earlier=List(Seating), posters=Bytes(),
               convicted=Bytes(), culprits=Bytes(), demanded=Bytes(), counted=Optional(U32))
Keeping = Struct(begun_at=r.HEIGHT, shows=U32, shows_due=U32, is_waiting=Bool(), seed=Optional(r.HASH))
Reader = Struct(account=r.ACCOUNT, key=r.ACCOUNT)
SharedKeys = Struct(reader=Reader, of_task=r.HASH, of_checkpoints=r.HASH)
Secrecy = Struct(key=Optional(r.HASH), shared=List(SharedKeys), awaited=List(Reader))
Task = Struct(id=r.HASH, submitter=r.ACCOUNT, spec=r.TaskSpec, state=r.TaskState, submitted_at=r.HEIGHT, deadline=r.HEIGHT,
              solver=Optional(r.ACCOUNT), escrow=r.AMOUNT, solver_bond=r.AMOUNT, checkpoints=U32, diverged_at=Optional(U64),
              assignments=List(Assignment), open_disputes=U32, history_count=U32, history_root=r.HASH, lottery=r.HASH,
              second_window=Bool(), depth=U32, tainted_by=Optional(r.HASH), tolerance=Optional(Tolerance),
              evaluation=Optional(r.Evaluation), room=r.AMOUNT, redraws=U32, committee=Optional(Committee), available=List(Available),
              lane=U64, group=Optional(Group), keeping=Optional(Keeping), secrecy=Optional(Secrecy))
Checkpoint = Struct(state_root=r.HASH, location=String(), height=r.HEIGHT, sealed=Optional(r.SealedFile))
PartClaim = Struct(node=U32, tile=U64, partials=r.PartRange, accumulator=r.HASH)
ClaimedTrace = Struct(root=r.HASH, part=Optional(PartClaim))
Claim = Struct(program=r.ProgramCommitment, dataset_root=r.HASH, seed=U64, initialisation=Bool(), first_step=U64,
               step_count=U32, before=r.HASH, after=r.HASH, diverges=Bool(),
               trace=Optional(ClaimedTrace))
DisputedStep = Struct(number=U64, state_before=r.HASH, state_after=r.HASH)
DisputedNode = Struct(step=DisputedStep, trace_root=r.HASH, index=U32, claim=r.HASH, node=r.OpenedNode)
DisputedTile = Struct(node=DisputedNode, index=U64, claim=r.HASH, is_part=Bool())
Range = Variant({
    0: ("steps", Struct(first_step=U64, step_count=U32, state_before=r.HASH, state_after=r.HASH)),
    1: ("step", Struct(step=DisputedStep)),
    2: ("nodes", Struct(step=DisputedStep, trace_root=r.HASH, first_node=U32, node_height=U32, claim=r.HASH)),
    3: ("node", Struct(node=DisputedNode)),
    4: ("tiles", Struct(node=DisputedNode, first_tile=U64, tile_height=U32, claim=r.HASH)),
    5: ("tensors", Struct(node=DisputedNode, first_tensor=U32, tensor_height=U32, claim=r.HASH)),
    6: ("partials", Struct(tile=DisputedTile, first_partial=U32, partial_count=U32, accumulator_before=Optional(r.HASH),
                           accumulator_after=r.HASH)),
})
Position = Struct(rounds=U32, at=Variant({
    0: ("bisection", Struct(range=Range, pending=List(r.HASH))),
    1: ("partial", Struct(tile=DisputedTile, partial=U32, accumulator_before=Optional(r.HASH), accumulator_after=r.HASH)),
    2: ("tensor", Struct(node=DisputedNode, tensor=U32, claim=r.HASH)),
}))
DisputedVerdict = Struct(verifier=r.ACCOUNT, is_second=Bool(), part=r.VerdictPart)
Subject = Variant({
    0: ("segment", Struct()),
    1: ("verdict", Struct(verdict=DisputedVerdict, seal=r.HASH)),
    2: ("profile", Struct(profiler=r.ACCOUNT, part=r.ProfilePart)),
    3: ("statement", Struct(step=U64, piece=r.Piece, answers=Optional(r.HASH))),
})
Phase = Variant({
    0: ("awaiting", Struct(deadline=r.HEIGHT)),
    1: ("game", Struct(responder_clock=U32, challenger_clock=U32, last_move_at=r.HEIGHT, deadline=r.HEIGHT)),
    2: ("end", Struct(outcome=r.DisputeOutcome, reason=r.Reason, at=r.HEIGHT, slashed=r.AMOUNT, paid=r.AMOUNT,
                      burned=r.AMOUNT)),
})
Dispute = Struct(id=r.HASH, task=r.HASH, segment=U32, responder=r.ACCOUNT, challenger=r.ACCOUNT, challenger_role=r.Role,
                 challenger_bond=r.AMOUNT, subject=Subject, claim=Claim, position=Position, opened_at=r.HEIGHT,
                 onchain_bytes=U64, lane=U64, phase=Phase)
Seat = Struct(account=r.ACCOUNT, commitment=r.HASH, committed_at=r.HEIGHT, bond=r.AMOUNT)
Contribution = Struct(account=r.ACCOUNT, secret=r.HASH)
Round = Struct(opened_at=r.HEIGHT, block_hash=r.HASH, contributions=List(Contribution))
Beacon = Struct(rounds=U64, seed=r.HASH, withheld=List(r.ACCOUNT), seats=List(Seat), round=Optional(Round))
Validator = Struct(key=r.KEY, power=U64, missed=U32, jailed_until=r.HEIGHT, is_banned=Bool(), slashed=r.AMOUNT)
Proposal = Struct(proposer=r.ACCOUNT, kind=r.ProposalKind, changes=List(Struct(param=r.VotableParam, value=U64)), height=r.HEIGHT,
                  protocol_version=U32, ends=r.HEIGHT, effective=r.HEIGHT, votes=List(r.ACCOUNT))
HardwareClass = Struct(name=String(), least_score=U64)


def _params():
    """Params, in the order of the table in records.md."""
    runs = [
        (U32, "protocol_version"), (U64, "gas_price_min"), (U32, "tx_size_max block_size_max block_gas_max"),
        (U64, "solver_bond verifier_bond challenger_bond"),
        (U32, "unbonding_blocks verifiers_per_segment segments_checked accept_blocks commit_blocks publish_blocks"),
        (U32, "challenge_blocks dispute_clock_blocks dispute_extension_blocks attest_blocks slash_to_winner_bps"),
        (U32, "solver_bond_bps verifier_bond_bps challenger_bond_bps"), (U64, "value_per_check value_per_verifier"),
        (U32, "segments_checked_max verifiers_per_segment_max forced_error_bps watchers_per_verdict tax_bps disclose_blocks"),
        (U64, "validator_stake_min"), (U32, "validators_max double_sign_slash_bps downtime_blocks jail_blocks"),
        (List(HardwareClass), "hardware_classes"),
        (U32, "profilers profilers_min profile_segments profiling_fee_bps threshold_quantile_ppm threshold_confidence_ppm"),
        (U32, "threshold_margin_thousandths threshold_separation growth_max_thousandths"), (U64, "contributor_bond"),
        (U32, "contributors_max contribute_blocks"), (U64, "task_value_max"), (U64, "validator_unbonding_ms trusting_period_ms"),
        (U32, "deadline_slash_bps decline_blocks end_block_gas_max draw_blocks draws_max"), (U64, "draw_price room_price"),
        (U32, "redraw_blocks redraws_max committee_seats"), (U64, "attest_fee"), (U32, "block_ms replay_blocks_max"),
        (U64, "work_price memory_default"), (U32, "duty_gas_max duty_wait_blocks standstill_blocks vote_blocks vote_delay_blocks"),
        (U32, "retention_blocks_max retention_shows retention_show_blocks"), (U64, "retention_price"), (U32, "share_blocks")]
    return Struct(**{name: kind for kind, names in runs for name in names.split()})


Params = _params()


def key(prefix, *parts):
    """One prefix byte, then hashes as they are and (number, size) big-endian."""
    return bytes([prefix]) + b"".join(part if isinstance(part, bytes) else part[0].to_bytes(part[1], "big") for part in parts)


def account_key(account):
    return key(0x03, account)


def stake_key(role, account):
    return key(0x04, (r.Role.numbers[role], 1), account)


def task_key(task):
    return key(0x05, task)


def checkpoint_key(task, index):
    return key(0x06, task, (index, 4))


def dispute_key(dispute):
    return key(0x07, dispute)


def validator_key(account):
    return key(0x0A, account)


def proposal_id(proposer, nonce):
    return tagged_hash("assay/proposal", proposer, encode(U64, nonce))


def proposal_key(proposal):
    return key(0x21, proposal)


def operator_key(owner):
    return key(0x24, owner)


def terms_key(role, account):
    return key(0x16, (r.Role.numbers[role], 1), account)


PARAMS_KEY, SUPPLY_KEY, BEACON_KEY = key(0x01), key(0x02), key(0x19)
