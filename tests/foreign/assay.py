# SPDX-License-Identifier: Apache-2.0
"""A client of Assay written from docs/ alone: transactions, ids, commitments, gas, and state that is proven."""
import hashlib
import secrets

import bech32m
import bip340
import ed25519
import jmt
import state
from bip340 import tagged_hash
from borsh import U32, U64, List, String, Struct, decode, encode
from records import ACCOUNT, HASH, Block, Header, Piece, ProfileReport, ShareName, Statement, Tx, TxBody, VerdictOpening, VerdictPart
from rpc import Rpc

ASY = 10**9

# gas.md, "By action": the constant and what the size is divided by (64 means twice floor(n / 128)).
GAS = dict(transfer=(107, 1), register_terms=(107, 1), contribute=(139, 1), leave_beacon=(151, 1), join_beacon=(227, 1),
           bond=(119, 1), unjail=(119, 1), unbond=(131, 1), post_checkpoint=(367, 1), commit_profile=(391, 1),
           publish_profile=(403, 2), accept_task=(415, 1), commit_verdict=(415, 1), decline_task=(439, 1),
           cancel_task=(475, 1), reveal_move=(545, 2), select_move=(545, 2), open_dispute=(587, 1), challenge_verdict=(587, 1),
           challenge_profile=(587, 1), publish_verdict=(587, 2), disclose_verdict=(655, 1), prove_move=(1165, 2),
           attest_availability=(799, 2), submit_task=(855, 1), complete_task=(987, 1), declare_divergence=(999, 2),
           register_validator=(2365, 1), accuse=(1197, 3), report_equivocation=(515, 3),
           reseat=(415, 1), demand=(415, 1),
           propose_params=(2203, 1), propose_upgrade=(2203, 1), propose_halt=(2203, 1), vote=(2203, 1),
           name_operator=(107, 1), show_result=(463, 2), share_keys=(555, 2),
           report_wrong_keys=(955, 2), report_wrong_chunk=(955, 5))


def gas_of(action, size):
    """With the default parameters."""
    constant, times = GAS[action]
    shares = 140 * min(size // 128 * 128 // 386, 31) if action == "share_keys" else 0
    return constant + times * (size // 128) + shares


def imposed_gas(action, fields):
    """What a transaction makes others answer (DTY-3), from the bytes that the table of duties allows."""
    dispute = 24 * gas_of("reveal_move", 9216) + gas_of("prove_move", 41216)
    if action in ("open_dispute", "challenge_verdict", "challenge_profile", "accuse"):
        return dispute
    if action != "submit_task":
        return 0
    spec = fields["spec"]
    segments = -(-spec["steps"] // spec["checkpoint_interval"])
    training = (segments + 1) * gas_of("post_checkpoint", 1024)
    end = max(gas_of("complete_task", 1024), gas_of("declare_divergence", 6144))
    verdict = gas_of("commit_verdict", 1024) + gas_of("publish_verdict", 6144) + gas_of("disclose_verdict", 1024)
    # PAR-3 and PRV-9 with the default parameters, without an evaluation or a parent
    verdicts = min(5 if spec["privacy"] else 3, segments + 1)
    shares = 2 * gas_of("share_keys", 6144) if spec["privacy"] else 0
    shows = 16 * gas_of("show_result", 6144) if spec["retention"] else 0
    return training + end + verdicts * (verdict + dispute) + shows + shares


class Key:
    def __init__(self, secret):
        self.secret, self.account = secret, bip340.account_of(secret)

    @property
    def address(self):
        return bech32m.address(self.account)


def sign_tx(key, chain_id, nonce, fee, action, owner=None):
    body = dict(chain_id=chain_id, sender=key.account, nonce=nonce, fee=fee, action=action, owner=owner)
    digest = tagged_hash("assay/tx", encode(TxBody, body))
    return encode(Tx, dict(body=body, signature=bip340.sign(key.secret, digest, secrets.token_bytes(32))))


def tx_name(raw):
    return hashlib.sha256(raw).digest()


def task_id(sender, nonce):
    return tagged_hash("assay/task", sender, encode(U64, nonce))


def verdict_commitment(task, segment, verifier, opening):
    return tagged_hash("assay/verdict", task, encode(U32, segment), verifier, encode(VerdictOpening, opening))


def profile_commitment(task, profiler, report, salt):
    return tagged_hash("assay/profile", task, profiler, encode(ProfileReport, report), salt)


def dispute_id(task, segment, challenger, subject=b"\0"):
    """DSP-30; the subject of a verdict is made by `verdict_subject`."""
    return tagged_hash("assay/dispute", task, encode(U32, segment), challenger, subject)


def verdict_subject(verifier, is_second, part):
    return b"\1" + verifier + bytes([is_second]) + encode(VerdictPart, part)


def accusation_subject(accuser):
    return b"\2" + accuser


def statement_digest(chain_id, statement):
    return tagged_hash("assay/statement", encode(String(), chain_id), encode(Statement, statement))


def seal_nothing(chain_id, task, to, is_of_checkpoints):
    """SEA-20, SEA-23: a share that has the form of one, by the ephemeral secret 1; nobody can open it."""
    point = bytes.fromhex("04" "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
                          "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8")
    message = point + bytes(64)
    name = encode(ShareName, dict(chain_id=chain_id, task=task, to=to, is_of_checkpoints=is_of_checkpoints))
    digest = tagged_hash("assay/share", name + message)
    return message + bip340.sign((1).to_bytes(32, "big"), digest, secrets.token_bytes(32))


def piece_leaf(piece):
    return tagged_hash("assay/piece", encode(Piece, piece))


def secret_commitment(account, secret):
    return tagged_hash("assay/secret", account, secret)


def fingerprints(environment):
    """ENV-3."""
    texts = [f"label={label}" for label in environment["labels"]]
    if environment["image"] is not None:
        texts.append("image=sha256:" + environment["image"].hex())
    return sorted({int.from_bytes(tagged_hash("assay/environment", text.encode())[:8], "little") for text in texts})


def validator_proof(seed, chain_id, account):
    statement = encode(Struct(chain_id=String(), account=ACCOUNT), dict(chain_id=chain_id, account=account))
    return ed25519.sign(seed, tagged_hash("assay/validator", statement))


def block_hash(header):
    return tagged_hash("assay/block", encode(Header, header))


def history_root(previous, record):
    return tagged_hash("assay/history", previous, record)


def is_authentic(block):
    """BLK-11 and BLK-12."""
    hashes = [tx_name(raw) for raw in block["txs"]]
    root = tagged_hash("assay/txs", encode(List(HASH), hashes))
    header = block["header"]
    return header["txs_root"] == root and bip340.verify(header["proposer"], block_hash(header), block["signature"])


class Unproven(Exception):
    pass


class Client:
    """Speaks to a node and believes only what the chain's proposer has signed."""

    def __init__(self, url, proposer):
        self.rpc, self.proposer = Rpc(url), proposer
        self.chain_id = self.rpc("node_status")["chain_id"]

    def height(self):
        return self.rpc("node_status")["height"]

    def wait_block(self, after=None):
        after = self.height() if after is None else after
        height = after
        while height <= after:
            height = self.rpc("chain_wait", after=after, timeout_ms=5000)["height"]
        return height

    def block(self, height):
        block = decode(Block, bytes.fromhex(self.rpc("chain_block", height=height)["raw"]))
        header = block["header"]
        expected = (self.chain_id, height, self.proposer)
        if (header["chain_id"], header["height"], header["proposer"]) != expected or not is_authentic(block):
            raise Unproven(f"block {height} is not the chain's")
        return block

    def proven(self, key, height=None):
        """(value or None, proof, root): the proof is held against the header of the block after (BLK-15)."""
        params = {"key": key.hex()} if height is None else {"key": key.hex(), "height": height}
        answer = self.rpc("chain_proof", **params)
        if answer["key"] != key.hex():
            raise Unproven("the node answers for another key")
        if self.height() <= answer["height"]:
            self.wait_block(answer["height"])
        root = self.block(answer["height"] + 1)["header"]["app_hash"]
        value = None if answer["value"] is None else bytes.fromhex(answer["value"])
        proof = bytes.fromhex(answer["proof"])
        if root.hex() != answer["app_hash"] or not jmt.proves(root, key, value, proof):
            raise Unproven(f"the proof of {key.hex()} does not hold")
        return value, proof, root

    def record(self, kind, key):
        value = self.proven(key)[0]
        return None if value is None else decode(kind, value)

    def account(self, account):
        return self.record(state.Account, state.account_key(account)) or dict(balance=0, nonce=0)

    def fee(self, action, size):
        """The least that FEE-1 asks for, at the base fee of the next block and the default `gas_price_min`."""
        base = int(self.rpc("node_status")["base_fee"])
        return gas_of(action[0], size) * base + imposed_gas(*action) * 50

    def signed(self, key, action, nonce=None, fee=None, owner=None):
        nonce = self.rpc("account_get", account=key.address)["next_nonce"] if nonce is None else nonce
        if fee is None:
            fee = self.fee(action, len(unsigned_tx(key, self.chain_id, action, owner)))
        return sign_tx(key, self.chain_id, nonce, fee, action, owner)

    def submit(self, raw):
        found = self.rpc("tx_submit", tx=raw.hex())["hash"]
        if found != tx_name(raw).hex():
            raise Unproven("the node names the transaction otherwise")
        return found

    def receipt(self, raw, seconds=20):
        """The receipt, once a block that is authentic holds the transaction."""
        for _ in range(seconds * 4):
            found = self.rpc("tx_get", hash=tx_name(raw).hex())
            if found["status"] != "pending":
                if raw not in self.block(found["height"])["txs"]:
                    raise Unproven("the transaction is not in the block that the node names")
                return found
            self.rpc("chain_wait", after=self.height(), timeout_ms=250)
        raise TimeoutError("the transaction is still pending")

    def send(self, key, action, **more):
        raw = self.signed(key, action, **more)
        self.submit(raw)
        return self.receipt(raw)


def unsigned_tx(key, chain_id, action, owner=None):
    """A transaction's bytes with zeros for a signature: its size depends on no number in it."""
    body = dict(chain_id=chain_id, sender=key.account, nonce=0, fee=0, action=action, owner=owner)
    return encode(Tx, dict(body=body, signature=bytes(64)))
