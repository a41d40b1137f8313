# SPDX-License-Identifier: Apache-2.0
"""Chapter: a solver cheats in one node of one step; the dispute is played by both sides down to the proof
(docs/protocol/disputes.md, disputes-on-chain.md)."""
import assay
import state
import tasks
import trace
from session import act, check, say

STEP, NODE = 1, 9  # the cheat: one element of the first contraction in the second step


def cheat(values):
    return [values[0] + 1.0] + values[1:]


class Dispute:
    def __init__(self, session, job, task, honest, false):
        self.session, self.job, self.task, self.honest, self.false = session, job, task, honest, false
        self.id = assay.dispute_id(task, 1, session.watcher.account)

    def record(self):
        return self.session.client.record(state.Dispute, state.dispute_key(self.id))

    def deadline(self):
        phase, fields = self.record()["phase"]
        check(phase == "game", f"the game is on, not {phase}")
        return fields["deadline"]

    def range(self):
        """What is in question (its kind, its fields), and the children that are pending."""
        kind, at = self.record()["position"]["at"]
        check(kind == "bisection", f"the bisection is not over: {kind}")
        return at["range"], at["pending"]

    def round(self, children, child, node=None):
        """The solver reveals, the challenger selects; the position after both."""
        session, rounds = self.session, self.record()["position"]["rounds"]
        session.contribute()  # the round that draws verifiers may be open
        move = act("reveal_move", dispute=self.id, round=rounds, children=children)
        session.answer(session.solver, move, self.deadline())
        (kind, _), pending = self.range()
        check(pending == children, "the children are pending")
        selection = dict(child=child, node=node)
        move = act("select_move", dispute=self.id, round=rounds, selection=selection)
        session.answer(session.watcher, move, self.deadline())
        after = self.record()["position"]
        check(after["rounds"] == rounds + 1, "the selection ends the round")
        say(f"  round {after['rounds']}: number {child} of the {len(children)} children of {kind} is selected")
        return after["at"]

    def play(self):
        session, program = self.session, self.job.program
        roots = [self.false.root(1), self.false.root(2)]
        first = next(i for i in range(2) if roots[i] != self.honest.root(i + 1))
        at = self.round(roots, first)
        disputed = dict(number=STEP, state_before=self.honest.root(1), state_after=self.false.root(2))
        check(at == ("bisection", dict(range=("step", dict(step=disputed)), pending=[])), f"the step: {at}")
        step, true = self.false.traces[2], self.honest.traces[2]
        entries = step.entries()
        first = next(i for i, (a, b) in enumerate(zip(entries, true.entries())) if a != b)
        opening = dict(node=("node", program["step"][first]), path=trace.merkle_path(trace.node_leaves(program["step"]), first))
        at = self.round(entries, first, opening)
        check(first == NODE, "the cheat is found where it was made")
        node = dict(step=disputed, trace_root=trace.merkle_root(entries), index=NODE, claim=entries[NODE],
                    node=("node", program["step"][NODE]))
        check(at == ("bisection", dict(range=("node", dict(node=node)), pending=[])), f"the node is opened: {at}")
        leaves = trace.tile_leaves(step.outputs[NODE])
        at = self.round(leaves, 0)
        tile = dict(node=node, index=0, claim=leaves[0], is_part=False)
        proven = dict(tile=tile, partial=0, accumulator_before=None, accumulator_after=leaves[0])
        check(at == ("partial", proven), f"the proof is next: {at}")
        early = session.client.signed(session.poor, act("prove_move", dispute=self.id, proof=self.proof(entries)))
        session.refused(early, "not_party")
        session.ok(session.watcher, act("prove_move", dispute=self.id, proof=self.proof(entries)))

    def proof(self, entries):
        """What partial 0 of a contraction reads: T(0), T(2), then, as it ends chunk 0, T(1), T(3)."""
        step, inputs = self.false.traces[2], self.job.program["step"][NODE]["inputs"]
        openings = []
        for place in (0, 2, 1, 3):
            source = inputs[place]["index"]
            check(inputs[place]["source"] == "node", "its operands are nodes")
            tensor = step.outputs[source]
            tile = dict(dtype=tensor[0], data=trace.tile_bytes(tensor, 0))
            openings.append(dict(tile=tile, tile_path=trace.merkle_path(trace.tile_leaves(tensor), 0),
                                 source_path=trace.merkle_path(entries, source)))
        return "partial", dict(before=None, tiles=openings, chunks=[])


def fraud(session, job, binaries, folder):
    honest, false = job.training(), job.training((STEP, NODE, cheat))
    check(honest.root(1) == false.root(1) and honest.root(2) != false.root(2), "the cheat begins in the second step")
    task = tasks.submit(session, job)
    say(f"a fraudulent task: {task.hex()[:16]}.., one element of one node is altered")
    tasks.solve(session, job, task, false)
    tasks.replayed_by_worker(session, job, task, binaries, folder, [1], 9)
    game = Dispute(session, job, task, honest, false)
    watcher = session.watcher
    action = act("open_dispute", task=task, segment=1, role="whistleblower")
    session.ok(watcher, action)
    record = game.record()
    check(record["id"] == game.id and record["challenger_bond"] == assay.ASY, "the dispute's id and bond")
    claim = dict(initialisation=False, first_step=0, step_count=2, before=honest.root(0), after=false.root(2), diverges=False)
    check({name: record["claim"][name] for name in claim} == claim, f"the claim: {record['claim']}")
    session.refused(session.client.signed(watcher, action), "already_disputed")
    game.play()
    record, ended = game.record(), session.task_state(task, "convicted")
    phase, end = record["phase"]
    check(phase == "end" and end["outcome"] == "refuted" and end["reason"] == "lost_dispute", f"the end: {record['phase']}")
    check(end["slashed"] == 5 * assay.ASY and end["paid"] + end["burned"] == end["slashed"], "the bond is slashed")
    check(ended["escrow"] == 0 and ended["open_disputes"] == 0, "the task is over")
    say(f"  the proof convicts: {end['slashed'] / assay.ASY} ASY slashed, {end['paid'] / assay.ASY} paid to the challenger")
    tasks.audit(session, task)
    session.no_round()


def decline(session, job):
    """The last draw of the solver, which declines it."""
    session.ok(session.solver, act("bond", role="solver", amount=20 * assay.ASY))
    task = tasks.submit(session, job)
    record = session.task_state(task, "drawn")
    session.answer(session.solver, act("decline_task", task=task), record["deadline"])
    check(session.task(task)["state"] == "open", "the task is open again")
    session.no_round()
    session.ok(session.sponsor, act("cancel_task", task=task))
    session.no_round()
    say("the solver declines a task that it was drawn for")
