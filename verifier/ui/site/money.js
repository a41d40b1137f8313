// SPDX-License-Identifier: Apache-2.0
// Money: what is proven of it, stakes, orders, earnings, disputes.
import {facts, h, note, section, table} from "./dom.js";
import {asy, blocks, count, shorten, span, stranger} from "./format.js";
import {kDisputeStates, reason} from "./words.js";
import {new_id, post} from "./api.js";

export const kRoles = {solver: "Training", verifier: "Checking", whistleblower: "Watching"};
const drafts = {}; // ids of orders that were filled in and have not been taken yet

const password = () => h("label", null, h("span", {class: "name"}, "Password"),
  h("input", {name: "password", type: "password", autocomplete: "current-password", required: true}));
const amount = (label) => h("label", null, h("span", {class: "name"}, label),
  h("input", {name: "amount", type: "text", inputmode: "decimal", pattern: "[0-9]+([.][0-9]{1,9})?", title: "A number, as in 12.5", required: true}));
const role_choice = () => h("label", null, h("span", {class: "name"}, "For"),
  h("select", {name: "role"}, Object.entries(kRoles).map(([role, words]) => h("option", {value: role}, `${words} (${role})`))));

function order(app, kind, fields, words) {
  const submit = app.form(async (form) => {
    drafts[kind] ??= new_id(); // the same until it was taken
    const body = {id: drafts[kind], amount: `${form.get("amount")} ASY`, password: form.get("password")};
    if (form.has("role")) body.role = form.get("role");
    if (form.has("to")) body.to = form.get("to").trim();
    await post(`/api/${kind}`, body);
    delete drafts[kind];
  }, () => { delete drafts[kind]; });
  return h("form", {class: "fields", id: kind, onsubmit: submit}, fields, h("div", {class: "actions"}, h("button", {type: "submit"}, words)));
}

function unbonding_words(each, proven) {
  const left = Math.max(0, each.release_at - proven.height);
  return h("span", null, `${asy(each.amount)} at block ${count(each.release_at)}, in ${blocks(left, proven.params.block_ms)}`);
}

function stakes(proven) {
  const rows = Object.entries(proven.stakes ?? {}).map(([role, stake]) => [
    `${kRoles[role] ?? role} (${role})`, asy(stake.free), asy(stake.locked),
    stake.unbonding.length === 0 ? "none" : stake.unbonding.map((each) => h("div", null, unbonding_words(each, proven))),
    asy(proven.params.least_bond[role])]);
  return table("Stakes", [["For", ""], ["Free", "number"], ["Locked by work", "number"], ["Being withdrawn", "wide"], ["Least", "number"]], rows);
}

function order_line(each) {
  const {what} = each;
  const words = `${what.action} ${what.amount}${what.role ? ` as ${what.role}` : ""}${what.to ? ` to ${shorten(what.to)}` : ""}`;
  if (each.error) return h("li", null, `${words}: not executed, `, stranger(each.error));
  return h("li", null, `${words}: executed in block ${count(each.height)}`);
}

function orders(app, state) {
  const {pending, done} = state.orders;
  if (!pending && done.length === 0) return null;
  const forget = pending && app.action(async () => { await post("/api/forget", {id: pending.id}); });
  return [h("h3", null, "Your orders"), h("ul", {class: "plain", id: "orders"},
    pending ? h("li", null, `${pending.what.action} ${pending.what.amount}: `,
      pending.uncertain ? ["nobody knows whether it was executed (", stranger(pending.uncertain), "). Compare your balance. ",
        h("button", {type: "button", class: "second", onclick: forget}, "Forget it")] : "under way") : null,
    done.slice(0, 8).map(order_line))];
}

export function money(app, state) {
  const {proven} = state;
  if (!proven || !proven.stakes) return section("Money", note("Nothing is proven yet: the node has not answered."));
  const {owner} = state.settings;
  const wait = blocks(proven.params.unbonding_blocks, proven.params.block_ms);
  return section("Money",
    facts([
      ["Your account", h("code", {class: "whole", id: "account"}, state.account)],
      ["Balance, proven at block " + count(proven.height), h("strong", {id: "balance"}, asy(proven.balance))],
      owner ? ["It works for", [h("code", {class: "whole", id: "owner"}, owner),
        proven.is_operator ? ", which has named it its operator" : ", which has not named it its operator: whoever has that account's key does, with ",
        proven.is_operator ? null : h("code", null, `assay operator name ${state.account}`)]] : null]),
    note(owner ? "The stakes and earnings below are those of the account that it works for, whose key alone bonds and withdraws. This account pays the fees: keep a little money in it."
      : "Send money to this account first; then bond some of it. A stake is what you lose if this machine cheats, or breaks a promise by being switched off in the middle of a task."),
    stakes(proven), orders(app, state),
    owner ? null : [h("h3", null, "Bond"), order(app, "bond", [role_choice(), amount("ASY to bond"), password()], "Bond"),
      h("h3", null, "Withdraw"), note(`What is being withdrawn can no longer be lost. It comes back to the balance after ${wait}.`),
      order(app, "unbond", [role_choice(), amount("ASY to withdraw"), password()], "Withdraw")],
    h("details", null, h("summary", null, "Send money to another account"),
      order(app, "transfer", [h("label", {class: "wide"}, h("span", {class: "name"}, "To the account"),
        h("input", {name: "to", type: "text", autocomplete: "off", spellcheck: "false", required: true})), amount("ASY to send"), password()], "Send")));
}

export function earnings(state) {
  const {said} = state;
  if (!said) return section("Earnings", note("The node has said nothing about them yet."));
  const {earnings: sum, payments} = said;
  const by = (amounts) => Object.entries(amounts).map(([name, value]) => h("div", null, `${asy(value)}, `, stranger(reason(name))));
  return section("Earnings",
    note("The node says this; it is not proven. The balance is."),
    facts([["Paid by tasks", h("span", {id: "earned"}, asy(sum.total_paid))], ["For", by(sum.paid)], ["Lost", asy(sum.total_slashed)],
      ["Why", Object.keys(sum.slashed).length === 0 ? "nothing was lost" : by(sum.slashed)], ["Fees of your orders", asy(sum.fees)],
      sum.is_whole ? null : ["Not yet counted", "older payments are still being read"]]),
    table("Last payments", [["Task", ""], ["For", "wide"], ["Amount", "number"], ["Block", "number"]],
      payments.slice(0, 20).map((each) => [h("code", {class: "id"}, shorten(String(each.task))), stranger(reason(each.reason)), asy(each.amount), count(each.height)]),
      "No task has paid this account yet."));
}

const kDisputes = new Set(["dispute_opened", "dispute_ended", "verdict_challenged", "profile_challenged", "slashed", "accused", "member_convicted"]);

function dispute_words(e, self) {
  switch (e.event) {
    case "dispute_opened": return [e.actor === self ? "You disputed" : "Somebody disputed", ` segment ${e.segment}.`];
    case "verdict_challenged": return [e.actor === self ? "You challenged a verdict" : "A verdict was challenged", ` on segment ${e.segment}.`];
    case "dispute_ended": return ["A dispute ended: the claim ", e.claim_refuted ? "was wrong" : "stood", ". ", reason(e.reason),
      Object.hasOwn(kDisputeStates, e.state ?? "") ? ` ${kDisputeStates[e.state]}` : ""];
    case "slashed": return [e.from === self ? "You lost " : "Another account lost ", asy(e.amount), ": ", reason(e.reason)];
    default: return [String(e.event), e.reason ? `: ${reason(e.reason)}` : ""];
  }
}

export function disputes(state) {
  const listed = (state.said?.events ?? []).filter((e) => kDisputes.has(e.event));
  return section("Disputes and losses",
    note("The node says this. A dispute is decided by the chain, which computes the disputed number itself; your worker makes its moves alone."),
    listed.length === 0 ? note("There are none about this account.") : h("ul", {class: "plain"}, listed.slice(0, 30).map((e) =>
      h("li", null, h("bdi", {class: "stranger"}, dispute_words(e, state.settings.owner || state.account)), ` Block ${count(e.height)}.`))));
}

export {span};
