// SPDX-License-Identifier: Apache-2.0
// "Check this history here": the events' bytes against the root in the task's record, and that record against a signed block.
import {h, note, section} from "../dom.js";
import {is_served, load} from "../referee_here.js";
import {call} from "../rpc.js";
import {check_history, show_history} from "../trust.js";

const kDone = new Map(); // by task: what check_history() found, or {error}, and of which bytes

export async function check_section({status, redraw}, t, past) {
  const title = "Check this history here";
  if (!past.complete) return section(title, note("Not all events are here, so their root cannot be made."));
  if (!(await is_served())) return section(title, note("This node was built without the referee for browsers, so this page cannot check."));
  const bytes = JSON.stringify([t, past.records]);
  const run = async () => {
    try {
      kDone.set(t.id, {...await check_history(await load(), call, {task: t, records: past.records, chain: status}), bytes});
    } catch (error) {
      kDone.set(t.id, {error: error.message, bytes});
    }
    redraw();
  };
  const done = kDone.get(t.id)?.bytes === bytes ? kDone.get(t.id) : null;
  return section(title, h("p", null, h("button", {type: "button", id: "check", onclick: run}, done ? "Check once more" : "Check")),
    done?.error ? h("p", {class: "warning"}, "It could not be checked: ", done.error) : null,
    done?.answer ? show_history(done) : null);
}
