// SPDX-License-Identifier: Apache-2.0
import {h, note, section, table} from "../dom.js";
import {shorten, state, stranger, task} from "../format.js";
import {all, maybe, optional} from "../rpc.js";

const kTasks = 2000;

const result = (kind, id, label) => ({kind, id, label});

/** What has exactly this id: a node that has no `search` is asked for each kind. */
async function by_id(text, signal) {
  if (/^\d{1,15}$/.test(text)) {
    return (await maybe("chain_block", {height: Number(text)}, signal)) ? [result("block", text, `block ${text}`)] : [];
  }
  if (/^assay1[0-9a-z]+$/.test(text)) {
    return (await maybe("account_get", {account: text}, signal)) ? [result("account", text, "account")] : [];
  }
  if (!/^[0-9a-f]{64}$/.test(text)) return [];
  const [tx, a_task, dispute, account] = await Promise.all([maybe("tx_get", {hash: text}, signal), maybe("task_get", {task: text}, signal),
    maybe("dispute_get", {dispute: text}, signal), maybe("account_get", {account: text}, signal)]);
  return [tx && result("tx", text, `transaction ${tx.action ?? ""}`), a_task && result("task", text, a_task.title),
    dispute && result("dispute", text, `dispute of segment ${dispute.segment}`),
    account && (account.nonce > 0 || account.balance !== "0") && result("account", account.account, "account")].filter(Boolean);
}

async function by_title(text, signal) {
  if (text.length < 2) return {found: [], complete: true};
  const {items, complete} = await all("task_list", {order: "newest"}, "tasks", kTasks, signal);
  const wanted = text.toLowerCase();
  return {found: items.filter((t) => t.title.toLowerCase().includes(wanted) || t.id.startsWith(wanted)), complete};
}

const kKinds = ["account", "block", "tx", "task", "dispute"];

/** What a node that can search finds by the beginning of an id. */
async function by_prefix(text, signal) {
  const listed = await optional("search", {prefix: text, limit: 50}, signal);
  return (listed?.results ?? []).map((each) => (each.kind === "validator" ? result("account", each.account, "validator") : each))
    .filter((each) => kKinds.includes(each.kind));
}

export async function render({name, args, signal}) {
  const text = (name === "search" ? args[0] ?? "" : [name, ...args].join("/")).trim().slice(0, 200);
  const [exact, titles, listed] = await Promise.all([by_id(text, signal), by_title(text, signal), text ? by_prefix(text, signal) : []]);
  const seen = new Set(exact.map((each) => each.kind + each.id));
  const further = listed.filter((each) => !seen.has(each.kind + each.id));
  const ids = [...exact, ...further].slice(0, 50);
  return {
    title: "Search",
    content: [
      h("h1", null, "Search"),
      h("p", null, "For ", stranger(text), "."),
      section("Ids, accounts and heights", table("Found by id", [["Kind"], ["Id"], ["What"]],
        ids.map((each) => [each.kind, h("a", {href: `#/${each.kind}/${encodeURIComponent(each.id)}`, class: "id", title: String(each.id)}, shorten(String(each.id))),
          stranger(each.label ?? each.kind)]),
        "No id, account or height is this.")),
      section("Tasks with this in their title", table("Found by title", [["Task"], ["State"]],
        titles.found.slice(0, 50).map((t) => [task(t.id, stranger(t.title)), state(t.state)]), "No task is called so."),
      titles.complete ? null : note(`Only the first ${kTasks} tasks were looked at.`))],
  };
}

