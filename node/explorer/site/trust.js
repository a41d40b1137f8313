// SPDX-License-Identifier: Apache-2.0
// What this browser has checked by itself, and the only place that can say so.
import {h} from "./dom.js";

/**
 * A frame with the words "checked in this browser" around `children`. Only checks that ran here call it, with what they
 * computed, never with an answer's own words: a node that lies in its answers has no way to draw one.
 */
function checked(...children) {
  return h("div", {class: "checked"}, h("p", {class: "seal"}, "Checked in this browser"), ...children);
}

const kList = {
  true: ["yes", "good"],
  false: ["no", "bad"],
  null: ["not checked", "calm"],
};

function line(text, value) {
  const [word, tone] = kList[String(value)] ?? kList.null;
  return h("li", null, h("span", {class: `pill ${tone}`}, word), " ", text);
}

/** Whether a signed block carries an app hash: {is_signed, signer}, is_signed null where no block could be had. */
async function check_block(referee, call, height, app_hash, chain) {
  const is_solo = chain.engine === "solo";
  const block = await call(is_solo ? "chain_block" : "chain_light_block", {height}).catch(() => null);
  if (!block?.raw) return {is_signed: null, signer: null};
  const answer = is_solo ? await referee.verifyBlock({block: block.raw, appHash: app_hash, height})
    : await referee.verifyLightBlock({block: block.raw, chainId: chain.chain_id});
  const is_signed = Boolean(answer.ok && answer.verified && answer.appHash === app_hash);
  return {is_signed, signer: is_signed && is_solo ? answer.proposer : null};
}

/**
 * What of a record is proven: that it is in the state of a height, and that a signed block carries that state. `named` is how
 * chain_proof and the referee name the record's key: {task: id} or {dispute: id}.
 */
async function check_record(referee, call, named, raw, chain) {
  const proof = await call("chain_proof", {...named, height: chain.height - 1}); // the block after it has its app hash
  const key = await referee.stateKey(named);
  const answer = await referee.verifyStateAnswer(proof);
  const is_here = Boolean(answer.ok && answer.verified && answer.present && (key.key ?? key) === proof.key && proof.value === raw);
  return {is_here, ...(await check_block(referee, call, chain.height, proof.app_hash, chain))};
}

const same = (word, fact) => String(word ?? null) === String(fact ?? null);

/** Whether what the node says of a dispute in words is what the record says that it proves. */
function has_same_words(dispute, {place, chain}) {
  const said = dispute.pinpoint ?? {};
  return same(dispute.state, chain.state) && same(dispute.reason, chain.reason) && same(dispute.segment, place.segment) &&
    ["step", "node", "tile", "partial", "tensor"].every((name) => same(said[name], place[name]));
}

/**
 * Runs every check that the referee has for a dispute. `parts` has the node's answers: dispute, task, transaction, before, after
 * (null where there is none), chain (node_status), and claimedTile, bytes. Returns {answer, agrees, record}, or {error} with a sentence.
 */
export async function judge(referee, call, parts) {
  const {dispute, task, transaction, before, after, chain, claimedTile} = parts;
  const answer = await referee.judge({dispute: dispute.raw, transaction: transaction.raw, task: task?.raw, before: before?.raw, after: after?.raw,
    claimedTile: claimedTile ?? undefined});
  if (!answer.ok) return {error: String(answer.error)};
  return {answer, agrees: has_same_words(dispute, answer), record: await check_record(referee, call, {dispute: dispute.id}, dispute.raw, chain).catch(() => null)};
}

const kVerdicts = {
  refuted: "The proof refutes the responder's claim: the recomputed result is another one.",
  upheld: "The proof confirms the responder's claim: the recomputed result is the claimed one.",
  refused: "The proof decides nothing: it is not of the form that the rules ask for.",
};

function record_lines(name, record) {
  return [line(`the ${name}'s record is in the state that the node's app hash names`, record?.is_here ?? null),
    line("a signed block carries this app hash", record?.is_signed ?? null)];
}

function signer_words(record) {
  if (!record?.signer) return null;
  return h("p", {class: "quiet"}, "The block was signed by the account with the key ", h("code", {class: "whole"}, record.signer),
    ". Whether that is the chain's proposer you have to know from elsewhere.");
}

/** The outcome of judge() as an element. `maps` draws the values. */
export function show_judgement({answer, agrees, record}, maps) {
  const {checks} = answer;
  const is_verified = answer.verdict !== "refused" && checks.namesDispute === true && checks.task === true && checks.claim !== false &&
    answer.chain.agrees !== false && agrees && record?.is_here === true && record.is_signed === true;
  const content = [
    h("p", null, h("strong", null, kVerdicts[answer.verdict] ?? "The referee gave no verdict."),
      ` This took ${Math.round(answer.us)} µs here.`),
    h("ul", {class: "checks"},
      line("the proof is for this dispute", checks.namesDispute),
      line("its sender has signed it", checks.signed),
      line("the task's record is that of the disputed task", checks.task),
      line("the claim follows from the task and its checkpoints", checks.claim),
      line("the chain ended the dispute in the same way", answer.chain.agrees),
      line("the place and the end that this page shows are those of the record", agrees),
      record_lines("dispute", record)),
    signer_words(record),
    maps(answer),
  ];
  if (is_verified) return checked(...content);
  return h("div", {class: "unchecked"}, h("p", null, "The ruling was recomputed here, but not everything that would show that it is the chain's."), ...content);
}

/** Checks a task's history: `records` are all of task_history. Returns {answer, record}, or {error} with a sentence. */
export async function check_history(referee, call, {task, records, chain}) {
  const answer = await referee.verifyHistory({task: task.raw, records: records.map((each) => each.raw)});
  if (!answer.ok) return {error: String(answer.error)};
  return {answer, record: await check_record(referee, call, {task: task.id}, task.raw, chain).catch(() => null)};
}

/** The outcome of check_history() as an element. */
export function show_history({answer, record}) {
  const content = [
    h("ul", {class: "checks"},
      line(`${answer.count} events make the root that the task's record has`, answer.verified),
      record_lines("task", record)),
    h("p", {class: "quiet"}, "The events' bytes were checked. The sentences of this page are made from what the node says beside them: ",
      h("code", null, "assay audit task"), " decodes the bytes themselves."),
    signer_words(record)];
  const is_verified = answer.verified === true && record?.is_here === true && record.is_signed === true;
  return is_verified ? checked(...content) : h("div", {class: "unchecked"}, ...content);
}
