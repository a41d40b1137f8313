#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second implementation of the client, written from docs/ alone, against a node.

    foreign_test.py --assayd PATH --assay PATH [--worker PATH]

Starts a node on loopback, plays every part of a chain's users in Python (sponsor, solver, verifier, challenger,
validator), and checks everything that the node says against proofs. Exits 0 only if all of it holds.
"""
import argparse
import pathlib
import shutil
import tempfile
import time

import assay
import bech32m
import disputes
import errors
import ledger
import node as nodes
import tasks
from session import Session, check, say

VECTORS = pathlib.Path(__file__).resolve().parent.parent / "vectors"


def play(session, node, job, binaries, folder):
    ledger.genesis(session, node)
    ledger.money(session)
    ledger.fees(session)
    tasks.commitment(job)
    cancelled = tasks.cancel(session, job)
    ledger.proofs(session, cancelled)
    session.no_round()
    errors.mempool(session, job, cancelled)
    errors.blocks(session, job, cancelled)
    tasks.solver_bonds(session)
    tasks.honest(session, job, binaries, folder)
    disputes.fraud(session, job, binaries, folder)
    disputes.decline(session, job)
    ledger.leave(session)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assayd", required=True)
    parser.add_argument("--assay", required=True)
    parser.add_argument("--worker", help="assay-worker, to replay what was trained here")
    binaries = parser.parse_args()
    began = time.monotonic()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="assay-foreign-"))
    node, store = None, nodes.Store()
    try:
        ledger.vectors(VECTORS)
        node = nodes.Node(binaries.assayd, folder / "node", "foreign-1")
        url = node.start(interval_ms=50)
        sponsor = assay.Key(node.secret)
        check(sponsor.address == node.proposer, "the node's key has the address that init prints")
        session = Session(assay.Client(url, bech32m.account(node.proposer)), sponsor, store)
        session.genesis = node.genesis
        job = tasks.Job(binaries.assay, folder, store)
        play(session, node, job, binaries, folder)
        say(f"executed: {len(session.executed)} kinds of actions: {', '.join(sorted(session.executed))}")
        check(len(session.executed | session.failed.keys()) == 41, "every kind of action was in a block")
        say(f"all holds, in {time.monotonic() - began:.1f} s and {session.client.height()} blocks")
    finally:
        if node is not None:
            node.stop()
        store.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
