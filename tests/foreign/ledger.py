# SPDX-License-Identifier: Apache-2.0
"""Chapters: values made elsewhere, the genesis' app hash, money and stake, proofs of the state."""
import csv
import hashlib
import json

import assay
import bech32m
import bip340
import borsh
import jmt
import state
import trace
from borsh import Undecodable, decode, encode
from records import ACCOUNT, Tx
from session import act, check, say

ASY = assay.ASY
INTEGERS = dict(u8=borsh.U8, u16=borsh.U16, u32=borsh.U32, u64=borsh.U64, i8=borsh.I8, i16=borsh.I16, i32=borsh.I32,
                i64=borsh.I64)
BORSH_TYPES = dict(INTEGERS, bool=borsh.Bool(), string=borsh.String(), bytes=borsh.Bytes(), vec_u32=borsh.List(borsh.U32),
                   vec_string=borsh.List(borsh.String()), array_u16_3=borsh.Array(borsh.U16, 3),
                   option_u64=borsh.Optional(borsh.U64))


def vectors(folder):
    with open(folder / "bip340.csv", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            message, signature = bytes.fromhex(row["message"]), bytes.fromhex(row["signature"])
            found = bip340.verify(bytes.fromhex(row["public key"]), message, signature)
            check(found == (row["verification result"] == "TRUE"), f"BIP-340 row {row['index']}")
            if row["secret key"]:
                made = bip340.sign(bytes.fromhex(row["secret key"]), message, bytes.fromhex(row["aux_rand"]))
                check(made == signature, f"BIP-340 row {row['index']} is signed")
    for vector in json.loads((folder / "jmt_sha2_256.json").read_text())["vectors"]:
        slots = {bytes.fromhex(slot["key"]): bytes.fromhex(slot["value"]) for slot in vector["data"]}
        check(jmt.root_of(slots).hex() == vector["expected_root"], "a state tree's root")
    for vector in json.loads((folder / "borsh.json").read_text()):
        if vector["type"] not in BORSH_TYPES:
            continue  # structs of that file's own
        kind, value = BORSH_TYPES[vector["type"]], vector["value"]
        if vector["type"] in INTEGERS:
            value = int(value)
        elif vector["type"] == "bytes":
            value = bytes(value)
        elif vector["type"] == "option_u64" and value is not None:
            value = int(value)
        encoded = encode(kind, value)
        check(encoded.hex() == vector["hex"] and decode(kind, encoded) == value, f"Borsh of {value}")
    leaves = [hashlib.sha256(letter).digest() for letter in (b"a", b"b", b"c")]
    root = "e9faa6ca8346f8164aa04e780612df790b7daa244b92c9f00a6746a442d77c5f"
    check(trace.merkle_root(leaves).hex() == root, "the binary tree of encoding.md")
    account = bip340.account_of((3).to_bytes(32, "big"))
    address = "assay1lycg5qvjtrp3qjf5f7zl382j9x6nrjz9sdhenvyxq8c3808qxmusgatks7"
    check(bech32m.address(account) == address and bech32m.account(address) == account, "the address of encoding.md")
    say("vectors: Borsh, BIP-340, state tree, binary tree, address")


def genesis(session, node):
    """The state of height 0, made from genesis.json alone (node.md, "genesis.json")."""
    params = dict(node.genesis["params"], protocol_version=node.genesis["protocol_version"])
    for name in params:
        if isinstance(params[name], str):
            params[name] = int(params[name])
    balances = {bech32m.account(address): int(amount) for address, amount in node.genesis["balances"].items()}
    slots = {state.PARAMS_KEY: encode(state.Params, params),
             state.SUPPLY_KEY: encode(state.Supply, dict(genesis=sum(balances.values()), burned=0, treasury=0))}
    for account, balance in balances.items():
        slots[state.account_key(account)] = encode(state.Account, dict(balance=balance, nonce=0))
    root = jmt.root_of(slots)
    session.client.wait_block(0)
    check(root == session.client.block(1)["header"]["app_hash"], "block 1 carries the genesis' app hash")
    check(root.hex() == session.client.rpc("node_status")["genesis_hash"], "node_status names it")
    check(session.client.proven(state.PARAMS_KEY)[0] == slots[state.PARAMS_KEY], "the parameters are proven")
    say(f"genesis: app hash {root.hex()[:16]}.. made from genesis.json, and carried by block 1, whose signature holds")


def money(session):
    client, sponsor = session.client, session.sponsor
    for key, amount in [(session.solver, 100), (session.verifier, 2000), (session.watcher, 1500), (session.poor, 1)]:
        session.ok(sponsor, act("transfer", to=key.account, amount=amount * ASY))
        check(client.account(key.account)["balance"] == amount * ASY, "the transfer has arrived")
    for key, role, amount in [(session.verifier, "verifier", 1700), (session.watcher, "whistleblower", 20),
                              (session.watcher, "validator", 1200)]:
        session.ok(key, act("bond", role=role, amount=amount * ASY))
    session.ok(session.watcher, act("unbond", role="whistleblower", amount=5 * ASY))
    stake = client.record(state.Stake, state.stake_key("whistleblower", session.watcher.account))
    check(stake["free"] == 15 * ASY and [part["amount"] for part in stake["unbonding"]] == [5 * ASY], f"unbonding: {stake}")
    terms = dict(hardware_class=1, price=5000, memory=2**34, replay_blocks=100, offers=[])
    session.ok(session.verifier, act("register_terms", role="verifier", terms=terms, score=20_000))
    record = client.record(state.RegisteredTerms, state.terms_key("verifier", session.verifier.account))
    check((record["terms"], record["score"]) == (terms, 20_000), f"terms: {record}")
    operator(session, terms)
    seed = bytes(range(32))
    proof = assay.validator_proof(seed, client.chain_id, session.watcher.account)
    key = assay.ed25519.public_key(seed)
    session.ok(session.watcher, act("register_validator", key=key, proof=proof))
    validator = client.record(state.Validator, state.validator_key(session.watcher.account))
    check(validator["key"] == key and validator["power"] == 1200, f"validator: {validator}")
    votes(session)
    session.ok(session.verifier, act("join_beacon", commitment=session.new_commitment()))
    beacon = client.record(state.Beacon, state.BEACON_KEY)
    check([seat["account"] for seat in beacon["seats"]] == [session.verifier.account], "the seat is taken")
    say("money and stake: transfer, bond, unbond, register_terms, register_validator, join_beacon are executed, with the gas "
        "of the table; their records are proven and decoded")


def operator(session, terms):
    """Registers other terms for its owner, and nothing more once it is not named any longer (OPR rules)."""
    client, owner, own = session.client, session.verifier.account, session.poor
    action = act("register_terms", role="verifier", terms=dict(terms, price=6000), score=20_000)
    session.refused(client.signed(own, action, owner=owner), "not_operator")
    session.ok(session.verifier, act("name_operator", account=own.account))
    check(client.record(ACCOUNT, state.operator_key(owner)) == own.account, "the operator is proven")
    session.refused(client.signed(own, act("transfer", to=own.account, amount=1), owner=owner), "owner_only")
    before = client.account(owner)
    session.ok(own, action, owner=owner)
    record = client.record(state.RegisteredTerms, state.terms_key("verifier", owner))
    check(record["terms"]["price"] == 6000 and client.account(owner) == before, f"for its owner: {record}")
    session.ok(session.verifier, act("name_operator", account=None))
    check(client.record(ACCOUNT, state.operator_key(owner)) is None, "there is no operator any more")
    session.refused(client.signed(own, action, owner=owner), "not_operator")
    session.ok(session.verifier, act("register_terms", role="verifier", terms=terms, score=20_000))


def votes(session):
    """Of the only validator. What it proposes passes at once, and takes effect long after this test."""
    client, own = session.client, session.watcher
    nonce = client.account(own.account)["nonce"]
    session.ok(own, act("propose_params", changes=[dict(param="jail_blocks", value=1001)]))
    first = state.proposal_id(own.account, nonce)
    record = client.record(state.Proposal, state.proposal_key(first))
    check(record["votes"] == [own.account] and record["effective"] > 172_800, f"proposal: {record}")
    session.ok(own, act("vote", proposal=first, in_favour=False))
    check(client.record(state.Proposal, state.proposal_key(first))["votes"] == [], "the vote is withdrawn")
    session.ok(own, act("vote", proposal=first, in_favour=True))


def fees(session):
    client, key = session.client, session.watcher
    action = act("transfer", to=session.sponsor.account, amount=1)
    size = len(assay.unsigned_tx(key, client.chain_id, action))
    least = client.fee(action, size)
    session.refused(client.signed(key, action, fee=least - 1), "fee_too_low")
    raw = client.signed(key, action)
    tampered = raw[:-1] + bytes([raw[-1] ^ 1])
    session.refused(tampered, "bad_signature")
    session.refused(raw + b"\0", "undecodable")
    nonce = decode(Tx, raw)["body"]["nonce"]
    session.refused(assay.sign_tx(key, "another-1", nonce, least, action), "wrong_chain")
    session.refused(assay.sign_tx(key, client.chain_id, nonce - 1, least, action), "nonce_too_low")
    session.ok(key, action, fee=least)
    say("envelopes: another chain, another signature, a byte too many, an old nonce, a grain too little are refused; "
        "the least fee of FEE-1 is enough")


def proofs(session, task):
    """Inclusion and exclusion of an account, a stake and a task's slot; nothing tampered with passes."""
    client = session.client
    nobody = bip340.account_of((12345).to_bytes(32, "big"))
    present = [state.account_key(session.sponsor.account), state.stake_key("verifier", session.verifier.account),
               state.task_key(task)]
    absent = [state.account_key(nobody), state.stake_key("solver", nobody), state.task_key(bytes(32))]
    for key in present + absent:
        value, proof, root = client.proven(key)
        check((value is not None) == (key in present), f"the slot {key.hex()}")
        check(jmt.proves(root, key, value, proof), "the proof holds")
        _spoil(root, key, value, proof)
    named = client.rpc("chain_proof", stake={"account": session.verifier.address, "role": "verifier"})
    check(named["key"] == present[1].hex(), "chain_proof makes the same key of an account and a role")
    check(client.rpc("chain_proof", task=task.hex())["key"] == present[2].hex(), "and of a task")
    record = decode(state.Task, client.proven(present[2])[0])
    check(record["id"] == task and encode(state.Task, record) == client.proven(present[2])[0], "a task decodes and encodes")
    old = client.proven(present[0], height=1)[0]
    check(decode(state.Account, old)["nonce"] <= client.account(session.sponsor.account)["nonce"], "an old state is proven too")
    say("proofs: three slots that are there and three that are not; every altered proof, value and root fails")


def _spoil(root, key, value, proof):
    def holds(*arguments):
        try:
            return jmt.proves(*arguments)
        except Undecodable:
            return False
    for at in range(0, len(proof), 7):
        altered = proof[:at] + bytes([proof[at] ^ 1]) + proof[at + 1:]
        check(not holds(root, key, value, altered), f"byte {at} of a proof is altered, and it still holds")
    check(not holds(bytes(32), key, value, proof), "another root")
    check(not holds(root, key, None if value is not None else b"x", proof), "presence for absence")
    check(not holds(root, key + b"x", value, proof) or value is None, "another key")
    if value is not None:
        check(not holds(root, key, value[:-1] + bytes([value[-1] ^ 1]), proof), "another value")


def leave(session):
    """At the end: the beacon's seat is given back, and nothing of the supply is lost (LED-1)."""
    client = session.client
    session.ok(session.verifier, act("leave_beacon"))
    height = client.wait_block()

    def record(kind, key):
        value = client.proven(key, height)[0]
        return None if value is None else decode(kind, value)
    supply = record(state.Supply, state.SUPPLY_KEY)
    total = supply["burned"] + supply["treasury"]
    for key in (session.sponsor, session.solver, session.verifier, session.watcher, session.poor):
        total += record(state.Account, state.account_key(key.account))["balance"]
        for role in ("solver", "verifier", "whistleblower", "validator"):
            stake = record(state.Stake, state.stake_key(role, key.account))
            if stake is not None:
                check(not stake["unbonding"], "what was unbonding is paid back")
                check(stake["locked"] == 0, f"nothing is locked any more: {role} {stake}")
                total += stake["free"]
    check(supply["genesis"] == total == sum(map(int, session.genesis["balances"].values())), f"the supply is whole: {total}")
    say(f"the end: nothing is locked or unbonding, and at height {height} balances, stake, treasury and what was burned sum up "
        "to the genesis' supply")
