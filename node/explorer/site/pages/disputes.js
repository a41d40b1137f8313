// SPDX-License-Identifier: Apache-2.0
import {h, section, table} from "../dom.js";
import {account, block, count, dispute, state, task} from "../format.js";
import {call} from "../rpc.js";
import {place_of} from "../tree.js";
import {kDisputeStates} from "../words.js";

export async function render({query, signal}) {
  const wanted = query.get("state");
  const cursor = query.get("cursor");
  const {disputes, next_cursor} = await call("dispute_list", {limit: 50, order: "newest", ...(wanted ? {state: wanted} : {}), ...(cursor ? {cursor} : {})}, signal);
  const choose = h("select", {id: "state", onchange: (event) => {
    location.hash = event.target.value ? `#/disputes?state=${event.target.value}` : "#/disputes";
  }}, h("option", {value: ""}, "any"), Object.keys(kDisputeStates).map((name) => h("option", {value: name, selected: name === wanted}, name)));
  return {
    title: "Disputes",
    content: [
      h("h1", null, "Disputes"),
      h("p", {class: "filter"}, h("label", {for: "state"}, "State "), choose, " ",
        wanted && Object.hasOwn(kDisputeStates, wanted) ? h("span", {class: "quiet"}, kDisputeStates[wanted]) : null),
      section("The latest first", table("Disputes",
        [["Dispute"], ["State"], ["Task"], ["Place", "wide"], ["About"], ["Rounds", "number"], ["Challenger"], ["Opened at"]],
        disputes.map((d) => [dispute(d.id), state(d.state), task(d.task), place_of(d).join(" › "), d.subject, count(d.rounds), account(d.challenger), block(d.opened_at)]),
        next_cursor ? "None among those that the node looked at; there are further ones." : "Nobody disagreed."),
      h("p", {class: "pages"}, next_cursor ? h("a", {href: `#/disputes?${wanted ? `state=${wanted}&` : ""}cursor=${encodeURIComponent(next_cursor)}`}, "Further") : null))],
  };
}
