// SPDX-License-Identifier: Apache-2.0
import {facts, h, note, section, table} from "../dom.js";
import {account, asy, block, blocks, count, hash, state, whole} from "../format.js";
import {call} from "../rpc.js";

function standing(v, status) {
  if (v.is_banned) return state("banned");
  if (v.jailed_until) return [state("jailed"), ` until ${count(v.jailed_until)}`];
  return state(v.power > 0 ? "in the set" : "waits for a place");
}

function beacon_section(beacon, status) {
  return section("The beacon", facts([
    ["Rounds closed", count(beacon.rounds)],
    ["Seed of the last", beacon.seed ? whole(beacon.seed) : "none yet"],
    ["Withheld a secret in it", beacon.withheld.length ? beacon.withheld.map((a) => [account(a), " "]) : "nobody"],
    ["Open round", beacon.round ? [`since block `, block(beacon.round.opened_at), `, ${beacon.round.contributions.length} of ${beacon.seats.length} secrets`] : "none"]]),
  table("Contributors to the beacon", [["Account"], ["Bond", "number"], ["Committed at"], ["Due"]],
    beacon.seats.map((seat) => [account(seat.account), asy(seat.bond), block(seat.committed_at), seat.due ? "yes" : "no"]), "Nobody contributes yet."),
  note("Draws of solvers, verifiers and watchers use the seed of a round: a hash over the secrets that its contributors had committed to."));
}

function what_of(p) {
  if (p.kind === "params") return p.changes.map((c) => `${c.param} = ${c.value}`).join(", ");
  if (p.kind === "halt") return "halt the chain";
  return p.height === 0 ? "cancel the planned upgrade" : ["version ", count(p.protocol_version), " of the protocol from block ", count(p.height), " on"];
}

function votes_section({proposals, plans}) {
  return section("What validators vote on", plans.map((plan) => note(plan.kind === "halt"
    ? ["The chain halts before block ", count(plan.height), "."]
    : ["Version ", count(plan.protocol_version), " of the protocol begins with block ", count(plan.height), "."])),
  table("Proposals", [["Proposal"], ["By"], ["What"], ["In favour", "number"], ["Until"]],
    proposals.map((p) => [hash(p.id), account(p.proposer), what_of(p), `${count(p.power_in_favour)} of ${count(p.power_total)}`,
      p.has_passed ? `passed, in effect after block ${count(p.effective)}` : `block ${count(p.ends)}`]), "There are no proposals."),
  note("More than two thirds of the power pass a proposal. The votes are counted again when it takes effect."));
}

export async function render({status, signal}) {
  const [{validators}, beacon, votes] = await Promise.all([
    call("validator_list", {}, signal), call("beacon_get", {}, signal), call("proposal_list", {}, signal)]);
  const total = validators.reduce((sum, v) => sum + v.power, 0);
  return {
    title: "Validators",
    content: [
      h("h1", null, "Validators and the beacon"),
      section("Validators", table("Validators", [["Account"], ["Standing"], ["Stake", "number"], ["Power", "number"], ["Missed", "number"], ["Slashed", "number"], ["Key"]],
        validators.map((v) => [account(v.account), standing(v, status), asy(String(BigInt(v.stake.free) + BigInt(v.stake.locked))),
          v.power ? `${count(v.power)} (${(100 * v.power / total).toFixed(1)} %)` : "0", count(v.missed), asy(v.slashed), hash(v.consensus_key)]),
        status.engine === "solo" ? "This chain has the embedded engine: one account proposes all blocks." : "Nobody is registered."),
      status.engine === "solo" ? facts([["Proposer", account(status.proposer)], ["A block every", blocks(1, status.block_interval_ms)]]) : null),
      votes_section(votes),
      beacon_section(beacon, status)],
  };
}
