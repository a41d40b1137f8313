# SPDX-License-Identifier: Apache-2.0
"""The fields of everything that is encoded, from docs/protocol/records.md. Its order is the page's."""
from borsh import I32, U8, U32, U64, Array, Bool, Bytes, Enum, Fixed, List, Optional, String, Struct, Variant

HASH, ACCOUNT, KEY, SIGNATURE = Fixed(32), Fixed(32), Fixed(32), Fixed(64)
AMOUNT = HEIGHT = U64

# Enums

Role = Enum(solver=1, verifier=2, whistleblower=3, validator=4)
Mode = Enum(exact=1, tolerance=2)
TaskState = Enum(open=1, drawn=2, training=3, completed=4, verifying=5, challenge=6, disclosure=7, judged=8, settled=9,
                 convicted=10, cancelled=11, expired=12, profiling=13, refused=14, kept=15)
VerdictStatus = Enum(due=1, committed=2, accepted=3, rejected=4, missed=5, broken=6, refuted=7, contradicted=8,
                     dropped=9)
VerdictPart = Enum(probe=1, end=2, measurement=3)
ProfilePart = Enum(start=1, replayed=2, measurement=3, reference=4, reference_measurement=5)
ProfilingPhase = Enum(draw=1, commit=2, publish=3, challenge=4, over=5)
ProfileStatus = Enum(due=1, committed=2, standing=3, missed=4, refuted=5)
ProfilingOutcome = Enum(bounded=1, too_few=2, not_separated=3)
CommitteeState = Enum(sitting=1, available=2, withheld=3)
DisputeOutcome = Enum(refuted=1, upheld=2, moot=3, forced=4)
Reason = Enum(reward=1, verification_fee=2, refund=3, won_dispute=4, lost_dispute=5, false_accusation=6, dispute_timeout=7,
              unavailable=8, missed_deadline=9, missed_verdict=10, wrong_verdict=11, attestation=12, moot=13, tax=14,
              jackpot=15, forced_error=16, broken_commitment=17, undisclosed=18, contradiction=19, beyond_tolerance=20,
              beyond_budget=21, profiling_fee=22, withheld_secret=23, room=24, unserved=25,
              false_statement=26, demand=27, retention=28, not_shown=29, keys_withheld=30, wrong_keys=31, wrong_chunk=32)
VotableParam = Enum(gas_price_min=1, block_gas_max=2, task_value_max=3, work_price=4, validator_stake_min=5, validators_max=6,
                    downtime_blocks=7, jail_blocks=8)
ProposalKind = Enum(params=1, upgrade=2, halt=3)
Level = Enum(steps=1, nodes=2, tiles=3, partials=4, proof=5)
DType = Enum(f32=1, i32=2, i64=3, bf16=4, i8=5)
Source = Enum(node=1, state=2)
Op = Enum(batch_rows=1, uniform=2, fill=3, bernoulli=4, step_count=5, view=10, gather_rows=12, scatter_add_rows=13,
          one_hot=14, from_bits=15, to_float=16, to_int=17, narrow=18, widen=19, add=20, sub=21, mul=22, div=23, sqrt=24, scale=25,
          add_const=26, relu=27, relu_grad=28, exp=29, log=30, tanh=31, erf=32, sin=33, cos=34, abs=35, floor=36,
          rint=37, max=38, min=39, row_max=40, row_exponent=41, row_sum=42, row_arg_max=43, quantise=50, dequantise=51,
          contract=52, less=60, equal=61, select=62, causal_mask=63, commit=90)

# Programs

Shape = Struct(rows=U32, cols=U32)
TensorType = Struct(dtype=DType, shape=Shape)
Storage = Enum(i32=1, u8=2, u16=3, f16=4)
DatasetShape = Struct(rows=U64, width=U32, overlap=U32, storage=Storage)
ViewAxis = Struct(size=U32, offset=I32, divisor=U32, strides=List(I32))
View = Struct(dims=List(U32), axes=List(ViewAxis))
Input = Struct(source=Source, index=U32, dtype=DType, shape=Shape)
Node = Struct(op=Op, dtype=DType, shape=Shape, attributes=Array(U32, 2), inputs=List(Input), view=Optional(View))
StateTensor = Struct(name=String(), type=TensorType)
Program = Struct(state=List(StateTensor), initial=List(StateTensor), init=List(Node), step=List(Node), loss_node=U32,
                 batch_size=U32, dataset=DatasetShape)

# What actions are made of

ArtifactRef = Struct(sha256=HASH, size_bytes=U64, location=String())
ProgramCommitment = Struct(state_tensors=U32, init_nodes=U32, step_nodes=U32, init_root=HASH, step_root=HASH, batch_size=U32,
                           dataset=DatasetShape, initial_tensors=U32, initial_root=HASH, init_work=U64, step_work=U64,
                           memory=U64, outputs=U64)
DistanceCommitment = Struct(root=HASH, nodes=U32, work=U64, outputs=U64)
EvaluationCommitment = Struct(graph_root=HASH, nodes=U32, holdout=HASH, data=ArtifactRef, work=U64, outputs=U64)
Environment = Struct(image=Optional(HASH), labels=List(String()))
ResultCheck = Variant({
    0: ("finite", Struct(tensor=Optional(U32))),
    1: ("shape", Struct(tensor=U32, dtype=DType, shape=Shape)),
    2: ("range", Struct(tensor=U32, least=U32, most=U32)),
    3: ("labels", Struct(tensor=U32, classes=U32)),
})
SealedFile = Struct(root=HASH, size=U64)
Privacy = Struct(key=HASH, program=SealedFile, dataset=SealedFile, initial=Optional(SealedFile), holdout=Optional(SealedFile))
TaskSpec = Struct(title=String(), program=ProgramCommitment, program_artifact=ArtifactRef, dataset_root=HASH,
                  dataset_artifact=ArtifactRef, tokenizer=Optional(HASH), initial_artifact=Optional(ArtifactRef), seed=U64,
                  steps=U64, checkpoint_interval=U32, reward=AMOUNT, verification_fee=AMOUNT, training_blocks=U32,
                  parent=Optional(HASH), hardware_class=U32, mode=Mode, distance=Optional(DistanceCommitment),
                  evaluation=Optional(EvaluationCommitment), members=U8, environment=Optional(Environment),
                  checks=List(ResultCheck), retention=Optional(Struct(blocks=U32, fee=AMOUNT)),
                  privacy=Optional(Privacy))
Evaluation = Struct(tensors_root=HASH, score=U32)
GroupMeasurement = Struct(drift2=U32, update2=U32, claimed2=U32, dot=U32, drift_max=U32, update_max=U32, not_finite=U32,
                          integers=U32, sketch=Array(U32, 8))
Measurement = Struct(parameters=GroupMeasurement, other=GroupMeasurement)
Verdict = Struct(end_root=HASH, probe_root=Optional(HASH), measurement=Optional(Measurement), diverged_after=Optional(U32),
                 failed_checks=Optional(U32))
VerdictOpening = Struct(verdict=Verdict, marks=List(HASH), decoy_root=HASH, salt=HASH)
ProfileSegment = Struct(native_root=HASH, location=String(), replayed_root=HASH, measurement=Measurement)
ProfileReport = Struct(start_root=HASH, segments=List(ProfileSegment), reference_root=HASH, reference=Measurement)
Terms = Struct(hardware_class=U32, price=U64, memory=U64, replay_blocks=U32, offers=List(U64))

# Disputes and openings

OpenedNode = Variant({0: ("node", Node), 1: ("commit", Struct(inputs_root=HASH))})
NodeOpening = Struct(node=OpenedNode, path=List(HASH))
Selection = Struct(child=U32, node=Optional(NodeOpening))
Accumulator = Struct(data=Bytes())
Tile = Struct(dtype=DType, data=Bytes())
TileOpening = Struct(tile=Tile, tile_path=List(HASH), source_path=List(HASH))
ChunkOpening = Struct(data=Bytes(), path=List(HASH))
StateOpening = Struct(tensor=U32, tile=U64, type=TensorType, opening=TileOpening)
Proof = Variant({
    0: ("partial", Struct(before=Optional(Accumulator), tiles=List(TileOpening), chunks=List(ChunkOpening))),
    1: ("entry", Struct(input=Input, input_path=List(HASH), commitment=HASH, path=List(HASH))),
    2: ("divergence", Struct(opening=StateOpening)),
})

# Statements (docs/protocol/statements.md)

PartRange = Struct(first=U32, count=U32, run=U32, period=U32)
Piece = Struct(source=Source, index=U32, part=Optional(PartRange), hop=U8, row=U32, col=U32, rows=U8, cols=U8, width=U8, values=HASH)
Statement = Struct(task=HASH, before=HASH, session=HASH, step=U64, pieces=U32, root=HASH)
StatedPiece = Struct(statement=Statement, piece=Piece, index=U32, path=List(HASH))
OutputEvidence = Struct(trace_root=HASH, type=TensorType, opening=TileOpening)
StateEvidence = Struct(type=TensorType, opening=TileOpening)
PartEvidence = Struct(trace_root=HASH, node=NodeOpening, accumulator=Accumulator)
Contradiction = Struct(stated=StatedPiece, state_root=HASH, evidence=Variant({
    0: ("output", OutputEvidence), 1: ("state", StateEvidence), 2: ("part", PartEvidence)}))

# Private tasks (docs/protocol/privacy.md, docs/protocol/sealing.md)

POINT = Fixed(33)
PROOF = SIGNATURE
ShareName = Struct(chain_id=String(), task=HASH, to=ACCOUNT, is_of_checkpoints=Bool())
KeyShare = Struct(to=ACCOUNT, of_task=Bytes(), of_checkpoints=Bytes())
WrongShare = Struct(point=POINT, proof=PROOF)
SealedOpening = Struct(groups=U32, group=U32, chunks=U32, chunk=U32, bytes=Bytes(), chunk_path=List(HASH), group_path=List(HASH))
PieceOpening = Struct(groups=U32, group=U32, chunks=U32, chunk=U32, size=U32, piece=U32, bytes=Bytes(), piece_path=List(HASH),
                      chunk_path=List(HASH), group_path=List(HASH))
TensorEntry = Struct(type=TensorType, tile_root=HASH, path=List(HASH))
WrongChunk = Struct(opening=SealedOpening, point=POINT, proof=PROOF, tensor=Optional(TensorEntry), expected=HASH,
                    expected_path=List(HASH))
DrawnOpening = Variant({0: ("tile", StateOpening), 1: ("piece", PieceOpening)})

# Transactions

_TASK = Struct(task=HASH)
Action = Variant({
    0: ("transfer", Struct(to=ACCOUNT, amount=AMOUNT)),
    1: ("bond", Struct(role=Role, amount=AMOUNT)),
    2: ("unbond", Struct(role=Role, amount=AMOUNT)),
    3: ("submit_task", Struct(spec=TaskSpec)),
    4: ("accept_task", Struct(task=HASH, seats=List(ACCOUNT), signatures=List(SIGNATURE), is_together=Bool(),
                               environment=Optional(Environment))),
    5: ("post_checkpoint", Struct(task=HASH, index=U32, state_root=HASH, location=String(), environment=Optional(Environment),
                                 sealed=Optional(SealedFile))),
    6: ("complete_task", Struct(task=HASH, evaluation=Optional(Evaluation))),
    7: ("cancel_task", _TASK),
    8: ("commit_verdict", Struct(task=HASH, segment=U32, commitment=HASH)),
    9: ("publish_verdict", Struct(task=HASH, segment=U32, verdict=Verdict, divergence=Optional(StateOpening))),
    10: ("open_dispute", Struct(task=HASH, segment=U32, role=Role)),
    11: ("reveal_move", Struct(dispute=HASH, round=U32, children=List(HASH))),
    12: ("select_move", Struct(dispute=HASH, round=U32, selection=Selection)),
    13: ("prove_move", Struct(dispute=HASH, proof=Proof)),
    14: ("attest_availability", Struct(task=HASH, opening=DrawnOpening)),
    15: ("declare_divergence", Struct(task=HASH, step=U64, state_root=HASH, location=String(), opening=StateOpening,
                                    sealed=Optional(SealedFile))),
    16: ("disclose_verdict", Struct(task=HASH, segment=U32, opening=VerdictOpening)),
    17: ("challenge_verdict", Struct(task=HASH, segment=U32, verifier=ACCOUNT, role=Role, part=VerdictPart,
                                     roots=Optional(Array(HASH, 3)), seal=HASH)),
    18: ("register_validator", Struct(key=KEY, proof=SIGNATURE)),
    19: ("unjail", Struct()),
    20: ("register_terms", Struct(role=Role, terms=Terms, score=U64)),
    21: ("commit_profile", Struct(task=HASH, commitment=HASH)),
    22: ("publish_profile", Struct(task=HASH, report=ProfileReport, salt=HASH)),
    23: ("challenge_profile", Struct(task=HASH, profiler=ACCOUNT, role=Role, part=ProfilePart, segment=U32,
                                     roots=Optional(Array(HASH, 3)))),
    24: ("join_beacon", Struct(commitment=HASH)),
    25: ("contribute", Struct(secret=HASH, next=HASH)),
    26: ("leave_beacon", Struct()),
    27: ("decline_task", _TASK),
    28: ("accuse", Struct(task=HASH, member=ACCOUNT, signature=SIGNATURE, contradiction=Contradiction,
                          answers=Optional(HASH))),
    29: ("report_equivocation", Struct(task=HASH, member=ACCOUNT, one=StatedPiece, one_signature=SIGNATURE,
                                       other=StatedPiece, other_signature=SIGNATURE)),
    30: ("reseat", Struct(task=HASH, **{"from": U32}, seats=List(ACCOUNT), signatures=List(SIGNATURE))),
    31: ("demand", Struct(task=HASH, member=ACCOUNT)),
    32: ("propose_params", Struct(changes=List(Struct(param=VotableParam, value=U64)))),
    33: ("propose_upgrade", Struct(height=HEIGHT, protocol_version=U32)),
    34: ("propose_halt", Struct()),
    35: ("vote", Struct(proposal=HASH, in_favour=Bool())),
    36: ("name_operator", Struct(account=Optional(ACCOUNT))),
    37: ("show_result", Struct(task=HASH, opening=DrawnOpening)),
    38: ("share_keys", Struct(task=HASH, key=Optional(HASH), shares=List(KeyShare))),
    39: ("report_wrong_keys", Struct(task=HASH, is_of_checkpoints=Bool(), share=Bytes(), evidence=WrongShare)),
    40: ("report_wrong_chunk", Struct(task=HASH, checkpoint=U32, evidence=WrongChunk)),
})
TxBody = Struct(chain_id=String(), sender=ACCOUNT, nonce=U64, fee=AMOUNT, action=Action, owner=Optional(ACCOUNT))
Tx = Struct(body=TxBody, signature=SIGNATURE)

# Blocks of the embedded engine (docs/protocol/blocks.md)

Header = Struct(chain_id=String(), height=HEIGHT, time_ms=U64, parent=HASH, txs_root=HASH, app_hash=HASH, proposer=ACCOUNT)
Block = Struct(header=Header, signature=SIGNATURE, txs=List(Bytes()))

# Proofs of the state

LeafHashes = Struct(key_hash=HASH, value_hash=HASH)
JmtProof = Struct(leaf=Optional(LeafHashes), siblings=List(HASH))

# Errors that the test names

ERRORS = dict(undecodable=1, too_large=2, wrong_chain=3, bad_signature=4, nonce_too_low=5, nonce_too_high=6, fee_too_low=7,
              cannot_pay_fee=8, field_out_of_range=10, not_operator=11, owner_only=12, insufficient_balance=20, overflow=21, insufficient_stake=22,
              class_unknown=24, task_unknown=40, task_state=41, not_submitter=42, not_solver=43, checkpoint_order=44,
              spec_invalid=46, environment_mismatch=59, checks_mismatch=69, seats_invalid=56, seats_not_signed=57, not_assigned=60, value_too_high=52, phase=64, dispute_unknown=80, already_disputed=87, not_party=82,
              already_registered=120, not_registered=122, not_jailed=123, key_not_proven=125, already_seated=130,
              not_seated=132, not_due=133, not_owed=140, not_in_set=150, change_invalid=151, proposal_passed=152, proposal_unknown=153, retention_unfit=164, not_asked=165,
              not_private=170, keys_missing=171, share_invalid=172, sealed_mismatch=173, keys_right=174, chunk_right=175, not_together=91, not_stated=92,
              no_evidence=93, not_answerable=94)
