// SPDX-License-Identifier: Apache-2.0
// A task: its stages, its money, who was drawn by what, what was judged, and everything that happened.
import {facts, h, note, section, table} from "../dom.js";
import {account, asy, block, blocks, count, dispute, hash, state, stranger, task, tx, whole} from "../format.js";
import {RpcError, all, call, maybe} from "../rpc.js";
import {strip} from "../strip.js";
import {check_text, environment, event_sentence, kTaskStates, stages_of} from "../words.js";
import {check_section} from "./task_check.js";
import {distances_section, scores_section} from "./task_curves.js";

const kRecords = 1500;

async function history(id, signal) {
  try {
    const {items, complete} = await all("task_history", {task: id}, "records", kRecords, signal);
    return {records: items, complete, why: complete ? null : `Only the first ${kRecords} events are shown.`};
  } catch (error) {
    if (!(error instanceof RpcError) || error.name === "offline") throw error;
    return {records: [], complete: false, why: error.message};
  }
}

function money_section(t, records) {
  const moved = records.filter((e) => (e.event === "paid" || e.event === "slashed") && e.reason !== "room");
  return section("Money", facts([
    ["Reward", asy(t.reward)], ["Verification fee", asy(t.verification_fee)], ["In escrow now", asy(t.escrow)],
    ["The solver's bond", t.solver_bond === "0" ? "none now" : asy(t.solver_bond)], ["Deposit for draws and waiting", t.room ? asy(t.room) : null]]),
  moved.length ? h("ul", {class: "plain"}, moved.map((e) => h("li", null, event_sentence(e)))) : note("Nobody was paid or slashed yet."));
}

/** What the submitter pays for, and how much of it was shown. */
function kept_words({blocks, fee, keeping}) {
  const shown = keeping ? `; ${keeping.shows} of ${keeping.shows_due} tiles shown since block ${keeping.begun_at}` : "";
  return [`for ${count(blocks)} blocks after settlement, for `, asy(fee), shown];
}

/** Who can read a private task, and who waits for its keys. */
function readers_words({shared, awaited}) {
  const list = (readers) => readers.flatMap((r, i) => [i ? ", " : "", account(r.account)]);
  return ["only who is drawn can read it. Keys were shared with ", shared.length ? list(shared) : "nobody",
    awaited.length ? ["; waiting for them: ", list(awaited)] : ""];
}

function what_section(t) {
  return section("What is trained", facts([
    ["Submitter", account(t.submitter)], ["Solver", account(t.solver)],
    ["Mode", t.mode === "exact" ? "exact: judged by equality, bit for bit" : "tolerance: judged by the distance from a replay"],
    ["Steps", `${count(t.steps)} in segments of ${count(t.checkpoint_interval)}`],
    ["Submitted at", block(t.submitted_at)],
    ["Program", whole(t.program_id)],
    t.group ? ["Group", h("span", null, t.group.partners.map((p) => [account(p.account), ` bond ${asy(p.bond)} `]))] : null,
    t.retention ? ["Result kept", kept_words(t.retention)] : null,
    t.privacy ? ["Private", readers_words(t.privacy)] : null,
    t.tokenizer ? ["Tokenizer", whole(t.tokenizer)] : null,
    t.environment ? ["Environment asked for", environment(t.environment)] : null,
    t.checks.length ? ["Checks", h("ol", {start: 0}, t.checks.map((check) => h("li", null, check_text(check))))] : null,
    t.diverged_at !== null ? ["Diverged at step", count(t.diverged_at)] : null,
    t.tainted_by ? ["Marked", ["an ancestor was convicted: ", task(t.tainted_by)]] : null]));
}

/** The round of the beacon by which something of `records[at]` was drawn: the last that closed before it. */
function round_before(records, at) {
  for (let i = at; i >= 0; --i) {
    if (records[i].event === "round_closed") return records[i];
  }
  return null;
}

const kDrawn = {solver_drawn: ["solver", "solver"], verifier_drawn: ["verifier", "verifier"], watcher_drawn: ["watcher", "watcher"], profiler_drawn: ["profiler", "profiler"]};

function draws_section(records) {
  const rows = [];
  records.forEach((e, i) => {
    if (!Object.hasOwn(kDrawn, e.event)) return;
    const [role, member] = kDrawn[e.event];
    const round = round_before(records, i);
    rows.push([block(e.height), role, account(e[member]), e.segment === undefined ? "the task" : `segment ${e.segment}`,
      round ? `round ${round.round}, ${round.contributors} secrets` : "-", round ? hash(round.seed) : "-"]);
  });
  return section("Who was drawn, and by which round of the beacon", table("Draws",
    [["Block"], ["As"], ["Account"], ["For"], ["Round"], ["Seed"]], rows, "Nobody was drawn yet."));
}

function name_of(t, segment) {
  return segment > t.segments ? "the evaluation" : segment === 0 ? "segment 0, the initialisation" : `segment ${segment}`;
}

function agreement(t, a) {
  if (!a.end_root || a.segment >= t.checkpoints.length || t.mode !== "exact") return "-";
  return a.end_root === t.checkpoints[a.segment].state_root ? "the same root" : "another root";
}

function verdicts_section(t) {
  return section("Verdicts", table("Verdicts", [["Of"], ["Verifier"], ["Status"], ["Its replay against the claim"], ["End root of the replay"], ["Forced error"], ["Watchers"]],
    t.assignments.map((a) => [name_of(t, a.segment), account(a.verifier), state(a.status), agreement(t, a), hash(a.end_root),
      a.forced === null ? "secret" : a.forced ? "yes" : "no", a.watchers.map((w) => [account(w), " "])]),
    "No verifier was drawn yet."),
  t.committee ? note(`A committee of ${t.committee.members.length} members was drawn for segments ${t.committee.segments.join(", ")}: it is ${t.committee.state}.`) : null);
}

function checkpoints_section(t) {
  const judged = new Map(t.assignments.filter((a) => a.status === "accepted").map((a) => [a.segment, a]));
  return section("Checkpoints", table("Checkpoints", [["Checkpoint", "number"], ["After step", "number"], ["Block"], ["State root"], ["Replayed"], ["Where it is served"]],
    t.checkpoints.map((c) => [count(c.index), count(Math.min(c.index * t.checkpoint_interval, t.steps)), block(c.height), hash(c.state_root),
      judged.has(c.index) ? state("accepted") : "not drawn", stranger(c.location)]),
    "No checkpoint was posted yet."),
  note("Replay one yourself: ", h("code", null, `assay verify segment ${t.id} 1`)));
}

function lineage_section(lineage, t) {
  if (!lineage || (lineage.ancestors.length === 0 && lineage.descendants.length === 0)) {
    return section("Lineage", note("It starts from its own initialisation, and no task starts from its result."));
  }
  const row = (each, kind) => [kind, task(each.id, stranger(each.title)), state(each.state), count(each.depth), each.tainted_by ? "marked" : "-"];
  return section("Lineage", table("Lineage", [["Is"], ["Task"], ["State"], ["Depth", "number"], ["Mark"]],
    [...lineage.ancestors.map((a) => row(a, "an ancestor")), row(t, "this task"), ...lineage.descendants.map((d) => row(d, "a descendant"))]),
  lineage.complete ? null : note("There are more descendants than are listed."));
}

function history_section(records, why) {
  return section("History", table("Events", [["Block"], ["Event"], ["What happened", "wide"], ["Transaction"]],
    records.map((e) => [block(e.height), h("code", null, String(e.event)), event_sentence(e), e.tx ? tx(e.tx) : "by a deadline"]), "Nothing of it is on this node."),
  why ? note(stranger(why)) : null);
}

export async function render(context) {
  const {args, status, signal} = context;
  const id = String(args[0] ?? "");
  const [t, past, lineage] = await Promise.all([call("task_get", {task: id}, signal), history(id, signal), maybe("task_lineage", {task: id}, signal)]);
  const [, words] = Object.hasOwn(kTaskStates, t.state) ? kTaskStates[t.state] : [0, ""];
  return {
    title: "Task",
    content: [
      h("p", {class: "kicker"}, "Task, as its submitter calls it"),
      h("h1", null, stranger(t.title)),
      h("p", null, state(t.state), " ", words, t.deadline > status.height
        ? ` The deadline of this stage is block ${count(t.deadline)}, in ${blocks(t.deadline - status.height, status.block_interval_ms)}.` : null),
      section("Stages", strip(stages_of(t, past.records))),
      h("div", {class: "pair"}, money_section(t, past.records), what_section(t)),
      t.disputes.length ? section("Disputes", h("ul", {class: "plain"}, t.disputes.map((each) => h("li", null, dispute(each))))) : null,
      await scores_section(t, lineage, signal),
      distances_section(t),
      draws_section(past.records),
      verdicts_section(t),
      checkpoints_section(t),
      lineage_section(lineage, t),
      history_section(past.records, past.why),
      await check_section(context, t, past),
      section("Check it yourself", h("ul", {class: "plain"},
        h("li", null, h("code", null, `assay audit task ${t.id}`), " rebuilds this history from nothing and compares its root with a signed block."),
        h("li", null, h("code", null, `assay query proof --task ${t.id}`), " proves this record."),
        h("li", null, h("code", null, `assay penalty explain ${t.id}`), " explains every loss of stake.")),
      facts([["Id", whole(t.id)], ["History root", whole(t.history_root)], ["Events", count(t.history_count)]]))],
  };
}
