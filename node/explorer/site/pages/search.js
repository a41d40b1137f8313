// SPDX-License-Identifier: Apache-2.0
import {h, note, section, table} from "../dom.js";
import {shorten, stranger, task} from "../format.js";
import {all, maybe, optional} from "../rpc.js";

const kTasks = 200; // the newest, whose titles are looked through for any part
const kShown = 50;

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

/** The newest tasks that have this anywhere in their title: a node searches only for the beginning. */
async function by_part(text, signal) {
  if (text.length < 2) return {found: [], complete: true};
  const {items, complete} = await all("task_list", {order: "newest"}, "tasks", kTasks, signal);
  const wanted = text.toLowerCase();
  return {found: items.filter((t) => t.title.toLowerCase().includes(wanted)), complete};
}

const kKinds = ["account", "block", "tx", "task", "dispute"];

/** What a node that can search finds by the beginning of an id or a title. Titles have 64 characters at most. */
async function by_prefix(text, signal) {
  const listed = await optional("search", {prefix: text.slice(0, 64), limit: kShown}, signal);
  return (listed?.results ?? []).map((each) => (each.kind === "validator" ? result("account", each.account, "validator") : each))
    .filter((each) => kKinds.includes(each.kind));
}

export async function render({name, args, signal}) {
  const text = (name === "search" ? args[0] ?? "" : [name, ...args].join("/")).trim().slice(0, 200);
  const [exact, part, listed] = await Promise.all([by_id(text, signal), by_part(text, signal), text ? by_prefix(text, signal) : []]);
  const is_titled = (each) => typeof each.title === "string";
  const seen = new Set(exact.map((each) => each.kind + each.id));
  const further = listed.filter((each) => !is_titled(each) && !seen.has(each.kind + each.id));
  const ids = [...exact, ...further].slice(0, kShown);
  const titles = new Map([...listed.filter(is_titled), ...part.found].map((each) => [each.id, each.title]));
  return {
    title: "Search",
    content: [
      h("h1", null, "Search"),
      h("p", null, "For ", stranger(text), "."),
      section("Ids, accounts and heights", table("Found by id", [["Kind"], ["Id"], ["What"]],
        ids.map((each) => [each.kind, h("a", {href: `#/${each.kind}/${encodeURIComponent(each.id)}`, class: "id", title: String(each.id)}, shorten(String(each.id))),
          stranger(each.label ?? each.kind)]),
        "No id, account or height is this.")),
      section("Tasks with this title", table("Found by title", [["Task"], ["Id"]],
        [...titles].slice(0, kShown).map(([id, title]) => [task(id, stranger(title)), h("span", {class: "id", title: id}, shorten(id))]), "No task is called so."),
      part.complete ? null : note(`Titles that have this not at their beginning were looked for among the newest ${kTasks} tasks.`))],
  };
}

