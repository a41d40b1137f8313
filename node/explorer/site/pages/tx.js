// SPDX-License-Identifier: Apache-2.0
import {facts, h, note, section} from "../dom.js";
import {account, anything, asy, block, bytes, count, dispute, state, stranger, task, whole} from "../format.js";
import {call} from "../rpc.js";

/** A field of a decoded body: ids that have a page become links. */
function field(name, value) {
  if (typeof value === "string") {
    if (name === "task" || name === "parent") return task(value);
    if (name === "dispute") return dispute(value);
    if (value.startsWith("assay1")) return account(value);
    if (["reward", "verification_fee", "amount", "fee", "bond", "stake"].includes(name) && /^\d+$/.test(value)) return asy(value);
  }
  return anything(value);
}

export async function render({args, signal}) {
  const t = await call("tx_get", {hash: String(args[0] ?? "")}, signal);
  return {
    title: `Transaction ${t.action ?? ""}`,
    content: [
      h("h1", null, "Transaction"),
      section("What became of it", facts([
        ["Hash", whole(t.hash)],
        ["Status", [state(t.status), t.error ? [" ", h("strong", null, t.error)] : null]],
        ["Block", t.height ? [block(t.height), ` at place ${t.index}`] : "it waits in the mempool"],
        ["Action", t.action],
        ["Sender", account(t.sender)],
        ...(t.owner ? [["For its owner", account(t.owner)]] : []),
        ["Nonce", count(t.nonce)],
        ["Fee", t.fee === "0" ? "none: it answers a duty" : asy(t.fee)],
        ["Gas", count(t.gas)],
        ["Size", bytes(t.size_bytes)]])),
      section("Decoded body", t.body ? facts(Object.entries(t.body).map(([name, value]) => [name, field(name, value)]))
        : note(t.status === "pending" ? "The node decodes it when it is in a block." : "It does not decode.")),
      t.raw ? section("Bytes", h("details", null, h("summary", null, `${count(t.raw.length / 2)} bytes as they were signed`),
        h("pre", {class: "raw"}, t.raw.slice(0, 20000), t.raw.length > 20000 ? "…" : "")),
        note("Check it yourself: ", h("code", null, "assay tx show ", String(t.hash)))) : null,
      t.chain_id ? note("For the chain ", stranger(t.chain_id), ".") : null],
  };
}
