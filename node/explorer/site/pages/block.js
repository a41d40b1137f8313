// SPDX-License-Identifier: Apache-2.0
import {facts, h, note, section, table} from "../dom.js";
import {account, block, count, state, time, tx, whole} from "../format.js";
import {proposers} from "../proposers.js";
import {RpcError, call} from "../rpc.js";

export async function render({args, status, signal}) {
  const height = Number(args[0]);
  if (!Number.isSafeInteger(height) || height < 1) throw new RpcError(-32001, "not_found", "a height is a whole number from 1 on");
  const [b, proposer] = await Promise.all([call("chain_block", {height}, signal), proposers(status, signal)]);
  return {
    title: `Block ${b.height}`,
    content: [
      h("h1", null, `Block ${count(b.height)}`),
      h("p", {class: "pages"}, height > 1 ? h("a", {href: `#/block/${height - 1}`}, "Before") : null, " ",
        height < status.height ? h("a", {href: `#/block/${height + 1}`}, "After") : null),
      section("Header", facts([
        ["Hash", whole(b.hash)],
        ["Time", time(b.time_ms)],
        ["Proposer", proposer(b.proposer)],
        ["Parent", b.parent ? whole(b.parent) : "not on this node"],
        ["App hash before it", whole(b.parent_app_hash)],
        ["App hash after it", whole(b.app_hash)],
        ["Transactions' root", b.txs_root ? whole(b.txs_root) : null],
        ["Signature", b.signature ? whole(b.signature) : "by the validators; see chain_light_block"],
        ["Gas", `${count(b.gas)} of ${count(b.gas_max)}`]])),
      section("Transactions", table(`Transactions of block ${b.height}`,
        [["Transaction"], ["Action"], ["Sender"], ["Result"], ["Gas", "number"]],
        b.txs.map((each) => [tx(each.hash), each.action ?? "-", account(each.sender),
          each.code === 0 ? state("executed") : [state("failed"), " ", each.error ?? each.code], count(each.gas)]),
        "This block is empty: deadlines are counted in blocks, so they go on."),
        note("Check it yourself: ", h("code", null, `assay query block ${b.height}`)))],
  };
}
