// SPDX-License-Identifier: Apache-2.0

// record_disputes.mjs URL FILE SOURCE: writes what the node at URL answers about every dispute that a proof ended, and about
// every task's history, to FILE, for referee_test.mjs. SOURCE says in words where the chain comes from. The files in
// tests/vectors/referee were made from `assay demo --fraud KIND --steps 60 --keep-running`; of demo-inflate.json, with `--mode
// tolerance`, one dispute of three was kept.
import { writeFileSync } from "node:fs";

const [url, file, source] = process.argv.slice(2);

async function call(method, params = {}) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  const { result, error } = await response.json();
  if (error) {
    throw new Error(`${method}: ${error.message}`);
  }
  return result;
}

const pick = (answer, ...names) => Object.fromEntries(names.map((name) => [name, answer[name]]));

async function checkpointOf(task, index) {
  const { checkpoints } = await call("task_get", { task });
  const isThere = checkpoints.some((checkpoint) => checkpoint.index === index);
  return isThere ? pick(await call("checkpoint_get", { task, index }), "index", "raw") : null;
}

async function recordDispute(id, height) {
  const dispute = await call("dispute_get", { dispute: id });
  const last = dispute.moves.filter(({ action }) => action === "prove_move").at(-1);
  if (!last) {
    return null;
  }
  const block = await call("chain_block", { height });
  return {
    dispute: pick(dispute, "id", "task", "segment", "state", "reason", "pinpoint", "raw"),
    transaction: pick(await call("tx_get", { hash: last.tx }), "hash", "raw"),
    task: pick(await call("task_get", { task: dispute.task }), "id", "raw"),
    before: await checkpointOf(dispute.task, dispute.segment - 1),
    after: await checkpointOf(dispute.task, dispute.segment),
    proof: await call("chain_proof", { dispute: id, height: height - 1 }),
    block: pick(block, "height", "hash", "app_hash", "parent_app_hash", "proposer", "raw"),
  };
}

async function recordHistory(id) {
  const task = await call("task_get", { task: id });
  const records = [];
  let cursor = null;
  do {
    const page = await call("task_history", { task: id, limit: 100, ...(cursor ? { cursor } : {}) });
    records.push(...page.records.map(({ raw }) => raw));
    cursor = page.next_cursor;
  } while (cursor);
  return { task: pick(task, "id", "history_count", "history_root", "raw"), records };
}

const { height, chain_id } = await call("node_status");
const disputes = [];
for (const { id } of (await call("dispute_list", { limit: 100 })).disputes) {
  disputes.push(await recordDispute(id, height));
}
const histories = [];
for (const { id } of (await call("task_list", { limit: 100 })).tasks) {
  histories.push(await recordHistory(id));
}
writeFileSync(file, `${JSON.stringify({ source, chain_id, disputes: disputes.filter(Boolean), histories }, null, 1)}\n`);
