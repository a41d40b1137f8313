// SPDX-License-Identifier: Apache-2.0
/**
 * What a node says, checked by the referee (docs/operations/referee.md). The caller loads it, by the loadReferee of
 * referee.js, and knows whose signature counts: without a known proposer a signed block proves nothing.
 */
import { NotVerified } from "./errors.js";

function must(answer, what) {
  if (!answer.ok || answer.verified === false) {
    throw new NotVerified(`${what}: ${answer.error ?? answer.problem ?? "it does not verify"}`);
  }
  return answer;
}

/** An account in hex, as the referee takes it. */
async function inHex(referee, account) {
  return account.startsWith("assay1") ? must(await referee.accountOf(account), "the address").account : account;
}

/** A slot of the state as { key, value, height, block }: proven against the app hash of a block that `proposer` signed. */
export async function verifySlot(client, referee, slot, { proposer, chainId, height, timeout = 30_000 }) {
  if (!proposer || !chainId) {
    throw new TypeError("verifySlot needs the proposer and the chain id, from a source other than the node");
  }
  const { key } = must(await referee.stateKey(
    slot.account ? { account: await inHex(referee, slot.account) } : slot), "the slot");
  const answer = await client.chain_proof({ ...slot, height });
  if (answer.key !== key || (height !== undefined && answer.height !== height)) {
    throw new NotVerified("the node proved another slot, or another height, than was asked for");
  }
  must(await referee.verifyStateAnswer(answer), "the proof");
  // A block carries the app hash of the state after the block before it.
  await client.chain_wait({ after: answer.height, timeout_ms: timeout });
  const { raw } = await client.chain_block({ height: answer.height + 1 });
  const block = must(await referee.verifyBlock(
    { block: raw, chainId, proposer: await inHex(referee, proposer), height: answer.height + 1, appHash: answer.app_hash }), "the block");
  return { key, value: answer.value, height: answer.height, block: block.hash };
}

/** All records of a task's history, held against the root in its proven record. */
export async function verifyTaskHistory(client, referee, task, options) {
  const { value, height } = await verifySlot(client, referee, { task }, options);
  if (value === null) {
    throw new NotVerified("the chain has no such task");
  }
  const records = [];
  for await (const record of client.iterate("task_history", { task })) {
    records.push(record);
  }
  must(await referee.verifyHistory({ task: value, records: records.map((record) => record.raw) }), "the history");
  return { records, height };
}

/** A dispute that ended with a proof, judged again: the referee's ruling over the proven record. */
export async function verifyDispute(client, referee, dispute, options) {
  const { value, height } = await verifySlot(client, referee, { dispute }, options);
  const shown = await client.dispute_get({ dispute });
  const task = await verifySlot(client, referee, { task: shown.task }, { ...options, height });
  const proof = shown.moves.filter((move) => move.action === "prove_move").at(-1);
  if (value === null || !proof) {
    throw new NotVerified("the chain has no such dispute, or it did not end with a proof");
  }
  const transaction = await client.tx_get({ hash: proof.tx });
  const ruling = await referee.judge({ dispute: value, transaction: transaction.raw, task: task.value });
  if (!ruling.ok || !ruling.checks.namesDispute || !ruling.checks.task || ruling.chain.agrees === false) {
    throw new NotVerified(`the dispute: ${ruling.error ?? "the ruling of the chain is not that of its rules"}`);
  }
  return ruling;
}
