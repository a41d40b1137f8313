// SPDX-License-Identifier: Apache-2.0
// What the parameters of this chain mean for whoever puts a stake into it.
import {facts, h, note, section, table} from "../dom.js";
import {anything, asy, blocks, bytes, count, span, stranger} from "../format.js";
import {call, optional} from "../rpc.js";
import {kGroups} from "./params_words.js";

function shown(kind, value, status) {
  if (value === undefined || value === null) return "-";
  switch (kind) {
    case "asy": return asy(value);
    case "grains": return `${count(value)} grains`;
    case "blocks": return blocks(value, status.block_interval_ms);
    case "bps": return `${value / 100} %`;
    case "ppm": return `${value / 10000} %`;
    case "thousandths": return `${value / 1000} times`;
    case "ms": return span(value);
    case "bytes": return bytes(value);
    case "list": return Array.isArray(value) ? value.map((each) => h("div", null, stranger(each.name), ` ${count(each.least_score)}`)) : anything(value);
    default: return count(value);
  }
}

/** The bonds of an example task, by PAR-2: the greater of the least amount and a part of the value. */
function bond(params, role, value) {
  const least = BigInt(params[`${role}_bond`]);
  const part = (value * BigInt(params[`${role}_bond_bps`])) / 10000n;
  return least > part ? least : part;
}

function example(params) {
  const cap = BigInt(params.task_value_max);
  const values = [...new Set([10n, 50n, 100n, 200n].map((v) => v * 1_000_000_000n).filter((v) => v <= cap).concat([cap]))];
  return table("Bonds by value", [["A task worth", "number"], ["Solver locks", "number"], ["Verifier, each segment", "number"], ["Challenger", "number"], ["Burned if the solver is convicted", "number"]],
    values.map((value) => {
      const solver = bond(params, "solver", value);
      const burned = solver - (solver * BigInt(params.slash_to_winner_bps)) / 10000n;
      return [asy(value), asy(solver), asy(bond(params, "verifier", value)), asy(bond(params, "challenger", value)), asy(burned)];
    }));
}

export async function render({status, signal}) {
  const [params, supply] = await Promise.all([call("chain_params", {}, signal), optional("supply_get", {}, signal)]);
  const known = new Set(kGroups.flatMap(([, list]) => list.map(([name]) => name)));
  const others = Object.keys(params).filter((name) => !known.has(name) && name !== "raw");
  return {
    title: "Economics",
    content: [
      h("h1", null, "What honesty stands on"),
      h("p", {class: "lead"}, "Every role locks a bond that is worth more than what cheating would gain, and whoever shows that somebody was wrong gets a part of that bond. ",
        "These are the parameters of this chain. They never change after its genesis."),
      supply ? section("Supply", facts([["In all", h("strong", null, asy(supply.supply))], ["At genesis", asy(supply.genesis)], ["Burned so far", asy(supply.burned)],
        ["Of it in the treasury", asy(supply.treasury)]])) : null,
      section("What is at stake", example(params), note("A bond is the greater of its least amount and its part of the task's value, which is reward and verification fee together (PAR-2).")),
      ...kGroups.map(([name, list]) => section(name, table(name, [["Parameter"], ["Here", "number"], ["What it is", "wide"], ["Rules"]],
        list.filter(([each]) => params[each] !== undefined).map(([each, kind, words, rules]) => [h("code", null, each), shown(kind, params[each], status), words, rules])))),
      others.length ? section("Others", table("Other parameters", [["Parameter"], ["Here"]], others.map((name) => [h("code", null, name), anything(params[name])]))) : null,
      note("Every way to lose a stake is on the ", h("a", {href: "#/liability"}, "liability page"), ". ", h("code", null, "assay economics"),
        " looks for parameters under which honesty is every role's best reply.")],
  };
}
