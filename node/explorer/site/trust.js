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

/** What of a dispute's record is proven: that it is in the state of a height, and that a signed block carries that state. */
async function check_record(referee, call, {id, raw}, chain) {
  const proof = await call("chain_proof", {dispute: id, height: chain.height - 1}); // the block after it has its app hash
  const key = await referee.stateKey({dispute: id});
  const answer = await referee.verifyStateAnswer(proof);
  const is_here = Boolean(answer.ok && answer.verified && answer.present && (key.key ?? key) === proof.key && proof.value === raw);
  return {is_here, ...(await check_block(referee, call, chain.height, proof.app_hash, chain))};
}

/**
 * Runs every check that the referee has for a dispute. `parts` has the node's answers: dispute, task, transaction, before, after
 * (null where there is none), chain (node_status), and claimedTile, bytes. Returns {answer, record}, or {error} with a sentence.
 */
export async function judge(referee, call, parts) {
  const {dispute, task, transaction, before, after, chain, claimedTile} = parts;
  const answer = await referee.judge({dispute: dispute.raw, transaction: transaction.raw, task: task?.raw, before: before?.raw, after: after?.raw,
    claimedTile: claimedTile ?? undefined});
  if (!answer.ok) return {error: String(answer.error)};
  return {answer, record: await check_record(referee, call, dispute, chain).catch(() => null)};
}

const kVerdicts = {
  refuted: "The proof refutes the responder's claim: the recomputed result is another one.",
  upheld: "The proof confirms the responder's claim: the recomputed result is the claimed one.",
  refused: "The proof decides nothing: it is not of the form that the rules ask for.",
};

/** The outcome of judge() as an element. `maps` draws the values. */
export function show_judgement({answer, record}, maps) {
  const {checks} = answer;
  const is_verified = answer.verdict !== "refused" && checks.namesDispute === true && checks.task === true && checks.claim !== false &&
    answer.chain.agrees !== false && record?.is_here === true && record.is_signed === true;
  const content = [
    h("p", null, h("strong", null, kVerdicts[answer.verdict] ?? "The referee gave no verdict."),
      ` This took ${Math.round(answer.us)} µs here.`),
    h("ul", {class: "checks"},
      line("the proof is for this dispute", checks.namesDispute),
      line("its sender has signed it", checks.signed),
      line("the task's record is that of the disputed task", checks.task),
      line("the claim follows from the task and its checkpoints", checks.claim),
      line("the chain ended the dispute in the same way", answer.chain.agrees),
      line("the dispute's record is in the state that the node's app hash names", record?.is_here ?? null),
      line("a signed block carries this app hash", record?.is_signed ?? null)),
    record?.signer ? h("p", {class: "quiet"}, "The block was signed by the account with the key ", h("code", {class: "whole"}, record.signer),
      ". Whether that is the chain's proposer you have to know from elsewhere.") : null,
    maps(answer),
  ];
  if (is_verified) return checked(...content);
  return h("div", {class: "unchecked"}, h("p", null, "The ruling was recomputed here, but not everything that would show that it is the chain's."), ...content);
}

