// SPDX-License-Identifier: Apache-2.0
// What states, reasons and events mean, in sentences. The names are the protocol's.
import {account, asy, dispute, hash, task} from "./format.js";

/** The states of a task, and the stage (1 to 8) in which a task has each. */
export const kTaskStates = {
  open: [3, "It waits for a solver to be drawn."],
  profiling: [2, "Profilers measure how far honest hardware drifts from the canonical replay; the threshold comes from them."],
  drawn: [3, "A solver is drawn. It accepts or declines before the deadline."],
  training: [4, "The solver trains and posts a state root for each checkpoint."],
  completed: [5, "All checkpoints are posted. Verifiers, or a committee, are drawn with the next round of the beacon."],
  verifying: [6, "Verifiers replay segments that were drawn, commit to their verdicts and publish them."],
  challenge: [7, "Anybody with a bond may dispute a segment or challenge a verdict."],
  disclosure: [7, "Verifiers disclose which of their verdicts were forced errors."],
  judged: [8, "Everything is decided, and payment waits for the task that this one was built upon."],
  kept: [8, "Everybody is paid, and the solver keeps the result for the submitter."],
  settled: [8, "The solver and the verifiers are paid, and all bonds have returned."],
  convicted: [8, "The solver was convicted: it lost stake, and the submitter has its money back."],
  cancelled: [8, "It was taken back before anybody trained. Escrow and bonds have returned."],
  expired: [8, "Somebody missed a deadline, or nobody was found in time. Escrow and bonds have returned, less what that cost."],
  refused: [8, "Its drift could not be bounded, so it is not judged by distance and not trained."],
};

export const kStages = ["Submission", "Profiling", "Pool and draw", "Training", "Completion", "Verification", "Challenge", "Settlement"];

/** The states of a dispute. */
export const kDisputeStates = {
  active: "The game is on: one of the parties has to move before its clock runs out.",
  awaiting: "The challenged verdict is secret. The game begins, or ends, when it is disclosed.",
  refuted: "The responder's claim was wrong, or its clock ran out. It loses its bond.",
  upheld: "The responder's claim was right, or the challenger's clock ran out. The challenger loses its bond.",
  moot: "What it was about ended otherwise. The bonds returned.",
  forced: "The verdict was wrong on purpose, as the chain had asked of its verifier. Nobody loses anything.",
};

/** Why somebody is paid or loses stake, and the rule that says so. */
export const kReasons = {
  reward: ["the solver's reward out of the escrow", "SET-1"],
  verification_fee: ["an equal share of the verification fee, for a verdict that counts", "SET-6"],
  refund: ["what is left of the escrow goes back to the submitter", "SET-4"],
  won_dispute: ["the winner's share of the loser's bond", "SET-5"],
  lost_dispute: ["the one-step verifier recomputed the partial and found the party wrong", "DSP-36"],
  dispute_timeout: ["its clock ran out while it was its move", "DSP-32"],
  false_accusation: ["the one-step verifier found the accused result right", "DSP-36"],
  unavailable: ["three committees in a row could not fetch the segment's data; half of the bond is burned", "AVL-5"],
  missed_deadline: ["the training was not completed in time", "TASK-8"],
  missed_verdict: ["no verdict came before the deadline; a tenth of the bond", "VER-5"],
  unserved: ["a verifier could not fetch what others could; as much as the silent verifier lost", "AVL-6"],
  wrong_verdict: ["it accepted a segment that was refuted", "SET-2"],
  broken_commitment: ["it published or disclosed something else than it had committed to", "VER-14"],
  undisclosed: ["a challenged verdict was not disclosed in time", "DSP-42"],
  contradiction: ["its verdict contradicts another one that stands", "VER-20"],
  beyond_tolerance: ["the distance from the replay is beyond the task's threshold", "VER-19"],
  beyond_budget: ["the drifts of all segments together are beyond the task's budget", "VER-21"],
  withheld_secret: ["it did not contribute its secret to a round of the beacon", "BCN-8"],
  tax: ["the treasury's part of a reward or fee", "SET-8"],
  jackpot: ["a watcher found a forced error", "VER-16"],
  profiling_fee: ["a share of the profilers' fee", "SET-9"],
  attestation: ["a committee's member attested that the data can be fetched", "AVL-6"],
  room: ["waiting and draws are paid out of the task's deposit", "TASK-17"],
  moot: ["what it was about is over", "DSP-40"],
  forced_error: ["the verdict was a forced error, and the challengers were right", "DSP-42"],
  false_statement: ["it stated to its group what is not so", "STM-10"],
  demand: ["a member of the group demanded something of it", "GRP-14"],
  retention: ["it showed a tile of the result that it keeps", "RET-5"],
  not_shown: ["it did not show in time a tile of the result that it keeps", "RET-6"],
  keys_withheld: ["it did not share the private task's keys in time; half of the bond", "PRV-4"],
  wrong_keys: ["it shared a key that is not the private task's", "PRV-5"],
  wrong_chunk: ["a sealed file that it posted is not the checkpoint", "PRV-7"],
};

export function reason(name) {
  const known = Object.hasOwn(kReasons, name ?? "") ? kReasons[name] : null;
  return known ? `${name}: ${known[0]} (${known[1]})` : String(name ?? "-");
}

const distances = (d) => (d ? `${(d.parameters / 1e9).toPrecision(3)} of the update for parameters, ${(d.other / 1e9).toPrecision(3)} for the rest` : "none");

// What a worker says of where it runs (ENV-4): a claim.
export const environment = (e) => [e.image ?? "any image", ...e.labels].join(", ");
/** One of a task's checks of results (CHK-2), in words. */
export function check_text(check) {
  const tensor = check.tensor === null ? "each state tensor" : `state tensor ${check.tensor}`;
  if (check.kind === "shape") return `${tensor} is ${check.dtype} ${check.rows} x ${check.cols}`;
  if (check.kind === "range") return `${tensor} lies from ${check.least} to ${check.most}`;
  if (check.kind === "labels") return `${tensor} has labels of ${check.classes} classes`;
  return `${tensor} is finite`;
}
const claim = (e) => (e ? `, in ${environment(e)}, as it says` : "");
const failed = (checks) => (checks?.length ? `; it reports that checks ${checks.join(", ")} failed` : "");

// What happened, as the children of a sentence. e is the record of task_history.
const kEvents = {
  submitted: (e) => ["The task was submitted, with ", asy(e.escrow), " in escrow."],
  solver_drawn: (e) => ["The beacon drew ", account(e.solver), " as the solver."],
  accepted: (e) => ["The solver accepted and locked a bond of ", asy(e.bond), claim(e.environment), "."],
  checkpoint_posted: (e) => [`Checkpoint ${e.checkpoint} was posted: its state root is `, hash(e.state_root), claim(e.environment), "."],
  diverged: (e) => [`The solver declared that step ${e.step} diverged: a value is not finite.`],
  completed: () => ["The solver completed the training."],
  verifier_drawn: (e) => [account(e.verifier), ` was drawn to replay segment ${e.segment}.`],
  verdict_committed: (e) => [account(e.actor), ` committed to a verdict on segment ${e.segment}, still hidden.`],
  verdict_published: (e) => [account(e.actor), ` published its verdict on segment ${e.segment}: it `, e.accepts ? "accepts" : "rejects", failed(e.failed_checks), "."],
  verdict_disclosed: (e) => [account(e.verifier), ` disclosed its verdict on segment ${e.segment}: it was `, e.forced ? "a forced error." : "meant as it stood."],
  lottery_drawn: () => ["A number was drawn that says which verdicts are forced errors."],
  watcher_drawn: (e) => [account(e.watcher), " was drawn to watch ", account(e.verifier), ` on segment ${e.segment}.`],
  verdict_challenged: (e) => [account(e.actor), " challenged the verdict of ", account(e.verifier), ` on segment ${e.segment}: `, dispute(e.dispute)],
  dispute_opened: (e) => [account(e.actor), ` disputed segment ${e.segment}: `, dispute(e.dispute)],
  dispute_moved: (e) => [e.by_responder ? "The responder" : "The challenger", ` moved in round ${e.round} at level ${e.level} of `, dispute(e.dispute)],
  dispute_ended: (e) => ["The dispute ", dispute(e.dispute), " ended: the claim ", e.claim_refuted ? "is refuted" : "stands", ". ", reason(e.reason)],
  committee_drawn: (e) => [`A committee of ${(e.seats ?? []).length} seats was drawn to fetch what is served of ${(e.segments ?? []).length} segments.`],
  committee_ended: (e) => [e.is_available ? "The committee found the data available." : "The committee could not fetch the data."],
  attested: (e) => [account(e.actor), " attested that it fetched the data."],
  paid: (e) => e.reason === "room" && !e.to ? [asy(e.amount), " of the deposit for waiting and draws were burned (TASK-17)."]
    : [asy(e.amount), " to ", e.to ? account(e.to) : "the treasury", " - ", reason(e.reason)],
  slashed: (e) => [account(e.from), " lost ", asy(e.amount), ", of which ", asy(e.burned), " were burned - ", reason(e.reason)],
  state_changed: (e) => [`The task is ${e.state} now. `, Object.hasOwn(kTaskStates, e.state) ? kTaskStates[e.state][1] : ""],
  tainted: (e) => ["An ancestor was convicted: ", task(e.ancestor)],
  profiler_drawn: (e) => [account(e.profiler), " was drawn as a profiler."],
  profile_committed: (e) => [account(e.actor), " committed to a profile."],
  profile_published: (e) => [account(e.actor), " published a profile."],
  profile_challenged: (e) => [account(e.actor), " challenged the profile of ", account(e.profiler), ": ", dispute(e.dispute)],
  profiling_ended: (e) => [`Profiling ended (${e.outcome}). Threshold: `, distances(e.threshold), "."],
  scored: (e) => [`The score ${e.score} was recorded.`],
  round_closed: (e) => [`Round ${e.round} of the beacon closed with ${e.contributors} secrets, seed `, hash(e.seed),
    (e.withheld ?? []).length ? `; ${e.withheld.length} withheld theirs` : "", "."],
  cut: (e) => [`The group's work was cut at segment ${e.first}; `, account(e.member), " answers for it."],
  accused: (e) => [account(e.accuser), " accused ", account(e.member), ` in segment ${e.segment}: `, dispute(e.dispute)],
  member_convicted: (e) => [account(e.member), " was convicted - ", reason(e.reason)],
  reseated: (e) => [`Seats changed from segment ${e.from} on.`],
  demanded: (e) => [account(e.accuser), " demanded something of ", account(e.member), "; both pay."],
  keeping_begun: (e) => [`The solver keeps the result, shows ${e.shows} tiles of it for up to `, asy(e.fee), ", and loses ", asy(e.bond), " if it cannot."],
  show_drawn: (e) => [`Tile ${e.show + 1} of the kept result was drawn. The solver has to show it by block ${e.due}.`],
  result_shown: (e) => [account(e.actor), ` showed tile ${e.show + 1} of the kept result.`],
  keys_shared: (e) => [account(e.actor), " shared the task's keys with ", e.shares.flatMap((s, i) => [i ? ", " : "", account(s.to)]), "."],
  keys_refused: (e) => [account(e.actor), " showed that the keys that were shared with it are wrong. Somebody else is drawn."],
  keeping_ended: (e) => [e.is_whole ? "The result was kept to the end." : "A tile of the kept result was not shown. The solver loses its bond."],
};

/** The stage (1 to 8) that an event belongs to, or 0. */
const kStageOf = {
  submitted: 1, profiler_drawn: 2, profile_committed: 2, profile_published: 2, profile_challenged: 2, profiling_ended: 2, round_closed: 3,
  solver_drawn: 3, accepted: 4, checkpoint_posted: 4, diverged: 4, reseated: 4, demanded: 4, accused: 4, completed: 5, committee_drawn: 5,
  committee_ended: 5, attested: 5, verifier_drawn: 6, verdict_committed: 6, verdict_published: 6, watcher_drawn: 7, lottery_drawn: 6,
  dispute_opened: 7, dispute_moved: 7, dispute_ended: 7, verdict_challenged: 7, verdict_disclosed: 7, paid: 8, slashed: 8, scored: 8,
  keys_refused: 3, keeping_begun: 8, show_drawn: 8, result_shown: 8, keeping_ended: 8, tainted: 8, cut: 7, member_convicted: 7,
};

export function event_sentence(e) {
  return Object.hasOwn(kEvents, e.event) ? kEvents[e.event](e) : [String(e.event)];
}

export function stage_of(e) {
  if (e.reason === "room" && !e.to) return 3; // what a draw costs
  if (e.event === "state_changed") return Object.hasOwn(kTaskStates, e.state) ? kTaskStates[e.state][0] : 0;
  return Object.hasOwn(kStageOf, e.event) ? kStageOf[e.event] : 0;
}

/** The stages of a task by its state and history: [{name, at (the height of its first event, or null), status}]. */
export function stages_of(the_task, records) {
  const now = Object.hasOwn(kTaskStates, the_task.state) ? kTaskStates[the_task.state][0] : 1;
  const over = ["settled", "convicted", "cancelled", "expired", "refused", "kept"].includes(the_task.state);
  return kStages.map((name, i) => {
    const first = records.find((e) => stage_of(e) === i + 1);
    const is_skipped = !first && (i + 1 < now || over);
    const status = i + 1 === now ? (over ? the_task.state : "now") : is_skipped ? "skipped" : first ? "done" : "ahead";
    return {name, at: first ? first.height : null, status};
  });
}

