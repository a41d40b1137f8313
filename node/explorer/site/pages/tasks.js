// SPDX-License-Identifier: Apache-2.0
import {h, section, table} from "../dom.js";
import {account, asy, block, count, state, stranger, task} from "../format.js";
import {call} from "../rpc.js";
import {kTaskStates} from "../words.js";

export async function render({query, signal}) {
  const wanted = query.get("state");
  const cursor = query.get("cursor");
  const params = {limit: 50, order: "newest", ...(wanted ? {state: wanted} : {}), ...(cursor ? {cursor} : {})};
  const {tasks, next_cursor, first_height} = await call("task_list", params, signal);
  const choose = h("select", {id: "state", onchange: (event) => {
    location.hash = event.target.value ? `#/tasks?state=${event.target.value}` : "#/tasks";
  }}, h("option", {value: ""}, "any"), Object.keys(kTaskStates).map((name) => h("option", {value: name, selected: name === wanted}, name)));
  return {
    title: "Tasks",
    content: [
      h("h1", null, "Tasks"),
      h("p", {class: "filter"}, h("label", {for: "state"}, "State "), choose, " ",
        wanted && Object.hasOwn(kTaskStates, wanted) ? h("span", {class: "quiet"}, kTaskStates[wanted][1]) : null),
      section("The latest first", table("Tasks",
        [["Title"], ["State"], ["Reward", "number"], ["Checkpoints", "number"], ["Submitter"], ["Solver"], ["Submitted at"]],
        tasks.map((t) => [task(t.id, stranger(t.title)), state(t.state), asy(t.reward), `${count(t.checkpoints)} of ${count(t.segments + 1)}`,
          account(t.submitter), account(t.solver), block(t.submitted_at)]),
        next_cursor ? "None among those that the node looked at; there are further ones." : "There is no such task."),
      h("p", {class: "pages"}, cursor ? h("a", {href: wanted ? `#/tasks?state=${wanted}` : "#/tasks"}, "First") : null, " ",
        next_cursor ? h("a", {href: `#/tasks?${wanted ? `state=${wanted}&` : ""}cursor=${encodeURIComponent(next_cursor)}`}, "Further") : null),
      first_height > 1 ? h("p", {class: "quiet"}, `This node has tasks from block ${count(first_height)} on.`) : null)],
  };
}
