# SPDX-License-Identifier: Apache-2.0
"""What the chapters of the test share: keys, a client, and sends whose receipts are checked."""
import secrets

import assay
import state
from node import SHORT
from records import ERRORS
from rpc import RpcError


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def say(text):
    print(text, flush=True)


def act(name, **fields):
    return name, fields


CONTRIBUTE_BLOCKS = SHORT["contribute_blocks"]


class Session:
    def __init__(self, client, sponsor, store):
        self.client, self.store = client, store
        self.sponsor = sponsor
        self.solver, self.verifier, self.watcher, self.poor = (assay.Key(secrets.token_bytes(32)) for _ in range(4))
        self.executed, self.failed = set(), {}
        self.secrets = {}  # of the beacon, by commitment

    def ok(self, key, action, **more):
        """Sends, and checks that it is executed with the gas of the table."""
        raw = self.client.signed(key, action, **more)
        self.client.submit(raw)
        receipt = self.client.receipt(raw)
        found = (receipt["status"], receipt["code"])
        check(found == ("executed", 0), f"{action[0]} is {found} in block {receipt['height']}: {receipt['error']}")
        self.check_gas(action, raw, receipt)
        self.executed.add(action[0])
        return receipt

    def check_gas(self, action, raw, receipt):
        gas = assay.gas_of(action[0], len(raw))
        check(receipt["gas"] == gas, f"{action[0]} of {len(raw)} bytes has {receipt['gas']} gas, not {gas}")

    def refused(self, raw, error):
        """The mempool refuses it with the documented number."""
        try:
            self.client.submit(raw)
        except RpcError as refusal:
            found = (refusal.name, refusal.tx_error, refusal.data.get("reason"))
            check(found == ("tx_rejected", ERRORS[error], error), f"{error} expected, not {found}")
            return
        raise AssertionError(f"taken in, where {error} is due")

    def answer(self, key, action, due):
        """Sends as an answer to a duty: no fee, and the height at which it is due in the nonce's place (DTY-2)."""
        receipt = self.ok(key, action, nonce=due, fee=0)
        check(receipt["fee"] in (0, "0") and receipt["nonce"] == due, "an answer has no fee")

    def task(self, task):
        return self.client.record(state.Task, state.task_key(task))

    def until(self, what, condition, blocks=600):
        """Waits for `condition`, and contributes to the beacon meanwhile where a secret is owed."""
        height = self.client.height()
        for _ in range(blocks):
            found = condition()
            if found:
                return found
            self.contribute()
            height = self.client.wait_block(height)
        raise AssertionError(f"{what} does not come")

    def task_state(self, task, *states):
        def reached():
            record = self.task(task)
            return record if record["state"] in states else None
        return self.until(f"state {states}", reached)

    # The beacon

    def no_round(self):
        """Waits until no round is open: the secret that it is owed is sent."""
        self.until("the round's end", lambda: self.client.record(state.Beacon, state.BEACON_KEY)["round"] is None)

    def new_commitment(self):
        secret = secrets.token_bytes(32)
        commitment = assay.secret_commitment(self.verifier.account, secret)
        self.secrets[commitment] = secret
        return commitment

    def contribute(self):
        beacon = self.client.record(state.Beacon, state.BEACON_KEY)
        seats = [seat for seat in beacon["seats"] if seat["account"] == self.verifier.account] if beacon else []
        if not seats or beacon["round"] is None or seats[0]["committed_at"] >= beacon["round"]["opened_at"]:
            return
        if any(part["account"] == self.verifier.account for part in beacon["round"]["contributions"]):
            return
        secret = self.secrets[seats[0]["commitment"]]
        action = act("contribute", secret=secret, next=self.new_commitment())
        self.answer(self.verifier, action, beacon["round"]["opened_at"] + CONTRIBUTE_BLOCKS)
        say(f"  contributed to round {beacon['rounds']} of the beacon")
