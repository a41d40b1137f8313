// SPDX-License-Identifier: Apache-2.0
// A dispute: what it is about, whose move it is, how it will end if nobody moves, the bisection, and the referee.
import {facts, h, note, section, table} from "../dom.js";
import {account, asy, block, blocks, bytes, count, state, task, tx, whole} from "../format.js";
import {batch, call, maybe} from "../rpc.js";
import {place_of, rounds_of, tree} from "../tree.js";
import {event_sentence, kDisputeStates, reason} from "../words.js";
import {referee_section} from "./dispute_referee.js";

const kMoves = {
  open_dispute: ["challenger", "disputes the segment and locks a bond"],
  publish_verdict: ["challenger", "publishes a rejecting verdict, which opens the dispute"],
  challenge_verdict: ["challenger", "challenges the verdict and locks a bond"],
  challenge_profile: ["challenger", "challenges the profile and locks a bond"],
  accuse: ["challenger", "accuses with evidence"],
  reveal_move: ["responder", "reveals the hashes that it claims in between"],
  select_move: ["challenger", "selects the first that its own replay contradicts"],
  prove_move: ["either party", "opens the inputs of the one partial that is left"],
};

const kTexts = new Map(); // decoded moves never change

async function bodies_of(moves, signal) {
  const wanted = moves.filter((move) => !kTexts.has(move.tx));
  const found = await batch(wanted.map((move) => ["tx_get", {hash: move.tx}]), signal);
  wanted.forEach((move, i) => {
    if (found[i]) kTexts.set(move.tx, {body: found[i].body, sender: found[i].owner ?? found[i].sender, raw: found[i].raw});
  });
  return moves.map((move) => kTexts.get(move.tx) ?? null);
}

function stakes_words(d, params) {
  const half = `${params.slash_to_winner_bps / 100} %`;
  return {
    responder: d.subject === "segment"
      ? `the solver is convicted: its bond is slashed, ${half} of it for its accusers and the rest burned, and the submitter gets its money back`
      : `the ${d.subject} is refuted: the bond behind it is slashed, ${half} of it for the challenger and the rest burned`,
    challenger: `the claim stands: the challenger's bond is slashed, ${half} of it for the responder and the rest burned`,
  };
}

/** How the dispute ends if nobody moves any more. */
function forecast(d, params, status) {
  const words = stakes_words(d, params);
  const left = d.deadline - status.height;
  const when = left > 0 ? `At block ${count(d.deadline)}, in ${blocks(left, status.block_interval_ms)}` : "With the next block";
  if (d.state === "awaiting") {
    return `${when}: if the verdict is not disclosed by then it is refuted (undisclosed, DSP-42). Disclosed as a forced error, nobody loses; disclosed as meant, the game begins.`;
  }
  if (d.state !== "active") return null;
  return `${when}: if the ${d.to_move} does not move by then it has lost by its clock (dispute_timeout, DSP-32), and ${words[d.to_move]}.`;
}

function clock(name, left, is_running, status) {
  return h("div", {class: `clock ${is_running ? "running" : ""}`}, h("p", {class: "name"}, name, is_running ? " - it is its move" : ""),
    h("p", {class: "value"}, left === null ? "-" : count(left)), h("p", {class: "quiet"}, left === null ? "" : blocks(left, status.block_interval_ms)));
}

function clocks_section(d, params, status) {
  if (!["active", "awaiting"].includes(d.state)) return null;
  const left = Math.max(0, d.deadline - status.height);
  const of = (party, own) => (d.to_move === party ? left : own);
  return section("Clocks",
    h("div", {class: "tiles"}, clock("Responder", of("responder", d.responder_clock), d.to_move === "responder", status),
      clock("Challenger", of("challenger", d.challenger_clock), d.to_move === "challenger", status)),
    h("p", {class: "forecast"}, h("strong", null, "If nobody moves. "), forecast(d, params, status)));
}

function moves_section(d, bodies) {
  return section("Moves of both parties", table("Moves", [["Block"], ["Party"], ["Move", "wide"], ["Size", "number"], ["Transaction"]],
    d.moves.map((move, i) => {
      const [party, words] = Object.hasOwn(kMoves, move.action) ? kMoves[move.action] : ["-", move.action];
      const body = bodies[i]?.body;
      const sender = bodies[i]?.sender;
      const who = sender === d.responder ? "responder" : sender === d.challenger ? "challenger" : party;
      const more = move.action === "reveal_move" && body ? ` (${body.children})` : move.action === "select_move" && body ? ` (number ${body.child}${body.op ? `, ${body.op}` : ""})` : "";
      return [block(move.height), who, words + more, bytes(move.size_bytes), tx(move.tx)];
    })));
}

function end_section(d, records) {
  if (["active", "awaiting"].includes(d.state)) return null;
  const own = records.filter((e) => e.height === d.ended_at && (e.event === "dispute_ended" ? e.dispute === d.id :
    (d.slashed !== "0" && e.reason === d.reason) ||
    (d.slashed !== "0" && ["won_dispute", "refund", "wrong_verdict"].includes(e.reason))));
  return section("How it ended", facts([
    ["Ended", state(d.state)], ["At", block(d.ended_at)], ["Why", reason(d.reason)],
    ["Slashed", asy(d.slashed)], ["Of it paid to winners", asy(d.paid)], ["Burned", asy(d.burned)],
    ["The one-step verifier took", d.referee_us === null ? "no proof was judged" : `${d.referee_us.toFixed(0)} µs on this node`]]),
  own.length ? h("ul", {class: "plain"}, own.map((e) => h("li", null, event_sentence(e)))) : null);
}

function about_section(d) {
  const subject = {segment: "what the solver claims of a segment", verdict: `a verdict (its ${d.part})`, profile: `a profile (its ${d.part})`, statement: "a statement in a group"};
  return section("What it is about", facts([
    ["Task", task(d.task)], ["Subject", subject[d.subject] ?? d.subject], ["Place", place_of(d).join(" › ")],
    ["Responder", account(d.responder)], ["Challenger", account(d.challenger)],
    ["Opened at", block(d.opened_at)], ["Rounds", count(d.rounds)], ["Level", d.level], ["On the chain", bytes(d.onchain_bytes)], ["Id", whole(d.id)]]));
}

async function levels_of(d, signal) {
  const history = await maybe("task_history", {task: d.task, limit: 100}, signal);
  const records = history ? [...history.records] : [];
  let cursor = history?.next_cursor;
  while (cursor && records.length < 2000) {
    const page = await maybe("task_history", {task: d.task, limit: 100, cursor}, signal);
    records.push(...(page?.records ?? []));
    cursor = page?.next_cursor;
  }
  const levels = new Map();
  for (const e of records) {
    // A selection's record has the level that it leads to, a reveal's the one that it is of.
    if (e.event === "dispute_moved" && e.dispute === d.id && e.by_responder && !levels.has(e.round)) levels.set(e.round, e.level);
  }
  return {levels, records};
}

function reproduce_section(d) {
  const commands = [
    [`assay dispute explain ${d.id}`, "says the same in words, with the ruling."],
    [`assay query proof --dispute ${d.id}`, "proves this record against a signed block."],
    d.subject === "segment" ? [`assay verify segment ${d.task} ${d.segment}`, "executes the disputed segment again; it ends with 9 where the claim does not hold."] : null,
    [`assay penalty explain ${d.task}`, "says who lost what and why, from the audited history."],
    [`assay audit task ${d.task}`, "rebuilds the task's history from nothing."]].filter(Boolean);
  return section("Commands that show it again", h("ul", {class: "plain"}, commands.map(([command, words]) => h("li", null, h("code", null, command), " ", words))));
}

export async function render(context) {
  const {args, status, signal} = context;
  const d = await call("dispute_get", {dispute: String(args[0] ?? "")}, signal);
  const [bodies, {levels, records}, params, t] = await Promise.all([bodies_of(d.moves, signal), levels_of(d, signal),
    call("chain_params", {}, signal), maybe("task_get", {task: d.task}, signal)]);
  return {
    title: "Dispute",
    content: [
      h("p", {class: "kicker"}, "Dispute"),
      h("h1", null, place_of(d).join(" › ")),
      h("p", null, state(d.state), " ", kDisputeStates[d.state] ?? ""),
      clocks_section(d, params, status),
      section("From segment to partial", tree(d, rounds_of(d.moves, bodies, levels)),
        note("In each round the responder reveals hashes of what it claims, at most 256. The challenger selects the first that it knows to be wrong; ",
          "what comes before it (shaded) is agreed.")),
      await referee_section(context, d, t, bodies),
      h("div", {class: "pair"}, about_section(d), end_section(d, records)),
      moves_section(d, bodies),
      reproduce_section(d)],
  };
}

