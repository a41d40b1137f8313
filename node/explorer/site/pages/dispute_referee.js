// SPDX-License-Identifier: Apache-2.0
// "Judge it again here": the chain's own one-step verifier, compiled for browsers, on the bytes that the chain has.
import {h, note, section} from "../dom.js";
import {heat_map, scale_of} from "../chart.js";
import {call, maybe} from "../rpc.js";
import {is_served, load} from "../referee_here.js";
import {judge, show_judgement} from "../trust.js";

const rulings = new Map(); // by dispute: what judge() found, or {error}, and of which bytes

/** The numbers of a tile inside its tensor's shape, as [values, rows, cols]. */
function inside(values) {
  const [rows, cols] = values.shape ?? [values.rows, values.cols];
  const out = [];
  for (let r = 0; r < rows; ++r) {
    for (let c = 0; c < cols; ++c) out.push(Number(values.numbers[r * values.cols + c]));
  }
  return [out, rows, cols];
}

function map_of(title, values, scale, kept) {
  const [list, rows, cols] = inside(values);
  return heat_map(title, list, rows, cols, scale, kept);
}

/** Claimed, recomputed, difference; then what the partial read. */
function maps(answer, key) {
  const {claimed, recomputed, inputs, before} = answer;
  if (!recomputed?.values) return null;
  const has_both = Boolean(claimed?.values);
  const own = inside(recomputed.values)[0];
  const theirs = has_both ? inside(claimed.values)[0] : [];
  const scale = scale_of(own, theirs);
  const [, rows, cols] = inside(recomputed.values);
  const outputs = [];
  if (has_both) {
    const difference = own.map((value, i) => theirs[i] - value);
    outputs.push(map_of("Claimed", claimed.values, scale, `${key}c`), map_of("Recomputed here", recomputed.values, scale, `${key}r`),
      heat_map("Claimed less recomputed", difference, rows, cols, scale_of(difference), `${key}d`));
  } else {
    outputs.push(h("div", {class: "unknown"}, h("p", null, h("strong", null, "Claimed")),
      h("p", null, "The chain has only the hash of what the responder claims here, and it is another one than that of the recomputed values."),
      h("p", null, h("code", {class: "whole"}, claimed?.hash ?? "-"))),
    map_of("Recomputed here", recomputed.values, scale, `${key}r`));
  }
  const reads = [...(before?.values ? [["Accumulator before", before.values]] : []),
    ...inputs.filter((each) => each.values).map((each) => [`Operand: ${each.source} ${each.index}, tile ${each.tile}`, each.values])];
  return [h("div", {class: "heats"}, outputs), reads.length ? h("h3", null, "What the partial reads") : null,
    h("div", {class: "heats small"}, reads.map(([title, values], i) => map_of(title, values, scale_of(inside(values)[0]), `${key}i${i}`)))];
}

function claimed_picker(run) {
  return h("p", null, h("label", {for: "claimed"}, "If you have the bytes of the claimed tile, from the solver's files, add them: they are used only if they have the claimed hash. "),
    h("input", {type: "file", id: "claimed", onchange: async (event) => {
      const file = event.target.files[0];
      if (file && file.size < 1 << 20) await run(new Uint8Array(await file.arrayBuffer()));
    }}));
}

async function parts_of(d, t, raw, status) {
  const find = (index) => (index < 0 || index > t.segments ? null : maybe("checkpoint_get", {task: t.id, index}));
  const [before, after] = d.subject === "segment" ? await Promise.all([find(d.segment - 1), find(d.segment)]) : [null, null];
  return {dispute: d, task: t, transaction: {raw}, before, after, chain: status};
}

export async function referee_section({status, redraw}, d, t, bodies) {
  const title = "Judge it again here";
  const last = d.moves.findLastIndex((move) => move.action === "prove_move");
  const raw = last < 0 ? null : bodies[last]?.raw;
  if (["active", "awaiting"].includes(d.state)) return section(title, note("There is nothing to judge yet: the last move, the proof, has not come."));
  if (!raw) return section(title, note("It ended without a proof that this node has, so there is nothing to recompute: the reason is below."));
  if (!(await is_served())) {
    return section(title, note("This node was built without the referee for browsers, so this page cannot judge. ",
      h("code", null, `assay dispute explain ${d.id}`), " shows the ruling."));
  }
  // A ruling is of what was shown when it was made: an answer that the node changes later is not covered by it.
  const bytes = JSON.stringify([d, t?.raw, raw]);
  const run = async (claimedTile) => {
    try {
      const parts = await parts_of(d, t, raw, status);
      rulings.set(d.id, {...await judge(await load(), call, claimedTile ? {...parts, claimedTile} : parts), bytes});
    } catch (error) {
      rulings.set(d.id, {error: error.message, bytes});
    }
    redraw();
  };
  const done = rulings.get(d.id)?.bytes === bytes ? rulings.get(d.id) : null;
  return section(title,
    h("p", null, "The chain's one-step verifier runs in this browser on the proof that was sent to the chain, ",
      "and says what every validator computed. Nothing is asked of anybody else."),
    h("p", null, h("button", {type: "button", id: "judge", onclick: () => run(null)}, done ? "Judge once more" : "Judge")),
    done?.error ? h("p", {class: "warning"}, "It could not be judged: ", done.error) : null,
    done?.answer ? show_judgement(done, (answer) => maps(answer, d.id)) : null,
    done?.answer && !done.answer.claimed?.values ? claimed_picker(run) : null);
}
