// SPDX-License-Identifier: Apache-2.0
// The first page: the chain, its last blocks, its tasks by state, the disputes that are open.
import {h, note, section, table} from "../dom.js";
import {asy, block, blocks, count, dispute, hash, span, state, stranger, task} from "../format.js";
import {all, batch, call, maybe, optional} from "../rpc.js";
import {proposers} from "../proposers.js";
import {kTaskStates} from "../words.js";
import {place_of} from "../tree.js";

const kBlocks = 8;
const kTasks = 400;

function tile(name, value, more) {
  return h("div", {class: "tile"}, h("p", {class: "name"}, name), h("p", {class: "value"}, value), more ? h("p", {class: "quiet"}, more) : null);
}

export async function last_blocks(newest, number, signal) {
  const heights = Array.from({length: Math.min(number, newest)}, (_, i) => newest - i);
  const found = await batch(heights.map((height) => ["chain_block", {height}]), signal);
  return found.filter(Boolean);
}

/** `proposer` shows who proposed a block (proposers.js). */
export function block_table(list, proposer) {
  return table("Blocks, the newest first", [["Height"], ["Time"], ["Transactions", "number"], ["Gas", "number"], ["Proposer"]],
    list.map((b) => [block(b.height), h("span", null, `${span(Math.max(0, Date.now() - b.time_ms))} ago`), count(b.txs.length),
      `${(100 * b.gas / b.gas_max).toFixed(1)} %`, proposer(b.proposer)]));
}

function by_state(tasks) {
  const numbers = new Map();
  for (const each of tasks) numbers.set(each.state, (numbers.get(each.state) ?? 0) + 1);
  const order = Object.keys(kTaskStates).filter((name) => numbers.has(name));
  return h("ul", {class: "states"}, order.map((name) =>
    h("li", null, h("a", {href: `#/tasks?state=${name}`}, state(name), h("strong", null, ` ${numbers.get(name)}`)))));
}

export async function render({status, signal}) {
  const [list, tasks, active, awaiting, beacon, supply, proposer] = await Promise.all([
    last_blocks(status.height, kBlocks, signal),
    all("task_list", {order: "newest"}, "tasks", kTasks, signal),
    call("dispute_list", {state: "active", limit: 20}, signal),
    call("dispute_list", {state: "awaiting", limit: 20}, signal),
    maybe("beacon_get", {}, signal),
    optional("supply_get", {}, signal),
    proposers(status, signal),
  ]);
  const open = [...active.disputes, ...awaiting.disputes];
  const newest = tasks.items.slice(0, 6);
  return {
    title: "Home",
    content: [
      h("h1", null, "Training that is checked"),
      h("p", {class: "lead"}, "Solvers train models for pay, verifiers replay segments that a beacon draws, and a dispute is narrowed to one tile of ",
        "32 by 32 values that every validator recomputes. This is what the chain of this node has of it."),
      h("div", {class: "tiles"},
        tile("Height", h("a", {href: `#/block/${status.height}`}, count(status.height)), `a block every ${span(status.block_interval_ms)}`),
        tile("Tasks", count(tasks.items.length) + (tasks.complete ? "" : " or more"), `${count(tasks.items.filter((t) => t.state === "settled").length)} settled`),
        tile("Open disputes", count(open.length) + (active.next_cursor ? " or more" : ""), open.length === 0 ? "nobody disagrees" : "see below"),
        tile("Beacon", beacon ? `round ${count(beacon.rounds)}` : "-", beacon ? `${count(beacon.seats.length)} contributors` : null),
        supply ? tile("Supply", asy(supply.supply), null) : tile("Mempool", count(status.mempool.txs), "transactions wait")),
      section("Disputes that are open", table("Open disputes",
        [["Dispute"], ["State"], ["Place", "wide"], ["To move"], ["Deadline"]],
        open.map((d) => [dispute(d.id), state(d.state), place_of(d).join(" › "), d.to_move ?? "-",
          d.deadline > status.height ? blocks(d.deadline - status.height, status.block_interval_ms) : "now"]),
        "No dispute is open.")),
      h("div", {class: "pair"},
        section("Tasks by state", tasks.items.length ? by_state(tasks.items) : note("No task was submitted yet."),
          tasks.complete ? null : note(`Of the newest ${count(tasks.items.length)}.`),
          table("The newest tasks", [["Task"], ["State"], ["Reward", "number"]],
            newest.map((t) => [task(t.id, stranger(t.title)), state(t.state), asy(t.reward)]), " ")),
        section("Latest blocks", block_table(list, proposer), h("p", null, h("a", {href: "#/blocks"}, "All blocks"))))],
  };
}
