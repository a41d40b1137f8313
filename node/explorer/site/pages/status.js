// SPDX-License-Identifier: Apache-2.0
// For whoever operates this node.
import {facts, h, note, section} from "../dom.js";
import {chart} from "../chart.js";
import {account, block, bytes, count, span, stranger, time, whole} from "../format.js";
import {call, optional} from "../rpc.js";

let methods = null; // their names: a description of them all may be large, and does not change

async function readiness(signal) {
  const response = await fetch("/readyz", {signal});
  return {is_ready: response.ok, answer: await response.json()};
}

function since(height, what) {
  return height <= 1 ? `all ${what}` : [`${what} from block `, block(height), " on"];
}

/** What a unit of gas cost in the latest blocks, as a curve; null of a node that has no such list. */
function fees_section(fees) {
  if (!fees?.blocks?.length) return null;
  const points = fees.blocks.map((each) => [each.height, Number(each.base_fee)]).reverse();
  return section("Fees", chart({caption: "What a unit of gas cost in the latest blocks, in grains.", x_name: "block", y_name: "grains",
    series: [{name: "base fee", kind: "line", points}]}),
  facts([["In the next block", `${count(fees.next_base_fee)} grains`], ["At least", `${count(fees.gas_price_min)} grains`]]));
}

export async function render({status, signal}) {
  methods ??= (await call("rpc.discover", {}, signal)).methods.map((each) => (typeof each === "string" ? each : each.name));
  const [ready, fees] = await Promise.all([readiness(signal), optional("fee_history", {}, signal)]);
  const age = Date.now() - status.time_ms;
  return {
    title: "Node",
    content: [
      h("h1", null, "This node"),
      section("Health", facts([
        ["Ready", ready.is_ready ? h("span", {class: "pill good"}, "ready") : [h("span", {class: "pill bad"}, "not ready"), " ", ready.answer.reasons.join(", ")]],
        ["Last block", [block(status.height), `, ${span(age)} ago`]],
        ["Its time", time(status.time_ms)],
        ["Up for", span(status.uptime_s * 1000)],
        ["How the last run ended", {first_start: "this is the first one", clean: "in order", unclean: "it was killed or crashed"}[status.last_stop] ?? status.last_stop],
        ["Mempool", `${count(status.mempool.txs)} transactions, ${bytes(status.mempool.bytes)}`]]),
      age > 20 * status.block_interval_ms + 5000 ? h("p", {class: "warning"}, "No block has come for a long time: see the node's log.") : null),
      section("Chain", facts([
        ["Chain", stranger(status.chain_id)],
        ["Genesis hash", whole(status.genesis_hash)],
        ["App hash", whole(status.app_hash)],
        ["Engine", status.engine],
        ["Proposer of all blocks", status.proposer ? account(status.proposer) : "the validators take turns"],
        ["Version", `${status.version}, protocol ${status.protocol_version}`],
        ["A block every", span(status.block_interval_ms)],
        ["Base fee", status.base_fee ? `${count(status.base_fee)} grains for a unit of gas` : null]])),
      section("What this node has", facts([
        ["Blocks", since(status.first_block, "blocks")],
        ["States, for proofs", since(Math.max(1, status.first_state), "states")],
        ["Histories of tasks and disputes", since(status.first_history, "of them")]])),
      fees_section(fees),
      section("Methods", note("This node answers: ", methods.join(", "), "."))],
  };
}
