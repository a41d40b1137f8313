// SPDX-License-Identifier: Apache-2.0
import {facts, h, note, section, table} from "../dom.js";
import {account, asy, block, count, state, task, tx, whole} from "../format.js";
import {call, optional} from "../rpc.js";
import {reason} from "../words.js";

function stakes(roles) {
  const rows = Object.entries(roles).filter(([, r]) => r.free !== "0" || r.locked !== "0" || r.unbonding.length || r.score);
  return table("Stakes by role", [["Role"], ["Free", "number"], ["Locked", "number"], ["Unbonding"], ["Machine"], ["Standing"]],
    rows.map(([name, r]) => [name, asy(r.free), asy(r.locked),
      r.unbonding.length ? r.unbonding.map((u) => h("div", null, `${asy(u.amount)} at block ${count(u.release_at)}`)) : "-",
      r.terms?.hardware_class ? `${r.terms.hardware_class}, score ${count(r.score)}` : "any",
      r.is_unlisted ? "not drawn until it bonds or registers again" : r.declined_until ? `declined, until block ${count(r.declined_until)}` : "drawn by its free stake"]),
    "It has no stake in any role.");
}

function payments_section(answer) {
  if (answer === undefined) {
    return section("Payments", note("This node has no list of payments by account. The history of each task has its own: ", h("code", null, "assay task history ID")));
  }
  return section("Payments", table("Payments", [["Block"], ["From"], ["Amount", "number"], ["Why", "wide"]],
    (answer?.payments ?? []).map((p) => [block(p.height), p.task ? ["the task ", task(p.task)] : account(p.from), asy(p.amount), p.reason ? reason(p.reason) : "a transfer"]),
    "Nothing was paid to it."),
  answer?.next_cursor ? note("The latest 100 are shown.") : null);
}

/** `answer` has the events of all tasks that slashed somebody and name this account. */
function penalties_section(answer, id) {
  if (answer === undefined) {
    return section("Penalties", note("This node has no list of penalties by account. ", h("code", null, "assay penalty explain TASK --account A"), " explains those of a task."));
  }
  const own = (answer?.events ?? []).filter((e) => e.from === id);
  return section("Penalties", table("Penalties", [["Block"], ["Task"], ["Lost", "number"], ["Burned", "number"], ["Why", "wide"]],
    own.map((e) => [block(e.height), task(e.task), asy(e.amount), asy(e.burned), reason(e.reason)]), "It has lost no stake."),
  answer?.next_cursor ? note("There are further ones.") : null);
}

/** Nothing for an account that no validator's penalty names, and for a node that lists none. */
function validator_section(answer) {
  const events = answer?.events ?? [];
  if (!events.length) return null;
  return section("Penalties as a validator", table("Penalties as a validator", [["Block"], ["Why", "wide"], ["Lost", "number"], ["Jailed until"]],
    events.map((e) => [block(e.height), e.reason === "double_sign" ? "it signed two blocks of one height" : e.reason === "downtime" ? "it missed too many blocks in a row" : e.reason,
      asy(e.amount), e.jailed_until === null ? "banned" : ["block ", count(e.jailed_until)]])),
  answer.next_cursor ? note("There are further ones.") : null);
}

/** What of an account's transactions a link may ask for: who signed them, and for whom they act. */
const kWanted = ["sender", "owner"];

function page_of(id, query) {
  return `#/account/${encodeURIComponent(id)}${query.length ? `?${new URLSearchParams(query)}` : ""}`;
}

/** Who sent a transaction of the account's list for whom, where these are two. */
function acting(t, id) {
  if (!t.owner) return "-";
  return t.sender === id ? ["sent for ", account(t.owner)] : ["sent by ", account(t.sender)];
}

export async function render({args, query, signal}) {
  const id = String(args[0] ?? "");
  const cursor = query.get("cursor");
  const wanted = kWanted.filter((name) => query.get(name)).map((name) => [name, query.get(name)]);
  const [a, stake, history, payments, penalties, as_validator] = await Promise.all([
    call("account_get", {account: id}, signal), call("stake_get", {account: id}, signal),
    call("account_history", {account: id, limit: 25, ...Object.fromEntries(wanted), ...(cursor ? {cursor} : {})}, signal),
    optional("account_payments", {account: id, limit: 100, order: "newest"}, signal), optional("event_list", {account: id, event: "slashed", limit: 100, order: "newest"}, signal),
    optional("event_list", {account: id, event: "validator_penalized", limit: 100, order: "newest"}, signal)]);
  return {
    title: "Account",
    content: [
      h("h1", null, "Account"),
      section("Balance", facts([["Address", whole(a.account)], ["Balance", h("strong", null, asy(a.balance))],
        ["Transactions", count(a.nonce)], ["Next nonce", count(a.next_nonce)],
        ["Operator", a.operator ? [account(a.operator), " (", h("a", {href: page_of(id, [["sender", a.operator]])}, "what it sent for this account"), ")"] : "none: its own key does its duties"]]),
      note("Check it yourself: ", h("code", null, "assay query proof --account ", String(a.account)))),
      section("Stakes by role", stakes(stake.roles)),
      payments_section(payments),
      penalties_section(penalties, a.account),
      validator_section(as_validator),
      section("What it sent", wanted.map(([name, value]) => note(name === "sender" ? "Only what was signed by " : "Only what acts for ", account(value), ". ", h("a", {href: page_of(id, [])}, "Show all"))),
      table("Transactions that it sent", [["Block"], ["Transaction"], ["Action"], ["Result"], ["Fee", "number"], ["Operator"]],
        history.txs.map((t) => [block(t.height), tx(t.hash), t.action ?? "-", t.code === 0 ? state("executed") : [state("failed"), " ", t.error], t.fee === "0" ? "none" : asy(t.fee), acting(t, a.account)]),
        wanted.length ? "There is none here." : "It has sent nothing."),
      history.next_cursor ? h("p", {class: "pages"}, h("a", {href: page_of(id, [...wanted, ["cursor", history.next_cursor]])}, "Further")) : null,
      history.first_height > 1 ? note(`This node has transactions from block ${count(history.first_height)} on.`) : null)],
  };
}

