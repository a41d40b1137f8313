// SPDX-License-Identifier: Apache-2.0
// The numbers by which a task's result is judged, drawn: scores along its lineage, distances of segments.
import {h, note, section, table} from "../dom.js";
import {account, count, state, stranger, task} from "../format.js";
import {chart} from "../chart.js";
import {maybe} from "../rpc.js";

const kRelatives = 12;

// Segment 0 is the initialisation, so a task of n segments has the numbers 0 to n, and its evaluation n + 1.
/** Whether a verifier's replay of the evaluation gave the score that the solver claimed: verdicts on it are by equality (EVL-5). */
function is_replayed(t) {
  return t.assignments.some((a) => a.segment === t.segments + 1 && a.status === "accepted");
}

const kNoLosses = "The chain does not have the losses of a training. It has a state root for each checkpoint, and one score at the end, if the task " +
  "asks for an evaluation. Losses are in the solver's log, and anybody who replays a segment sees them.";

export async function scores_section(t, lineage, signal) {
  const line = lineage ? [...lineage.ancestors.slice(0, kRelatives).reverse(), ...lineage.descendants.slice(0, kRelatives)] : [];
  const others = (await Promise.all(line.map((each) => maybe("task_get", {task: each.id}, signal)))).filter(Boolean);
  const family = [...others.filter((o) => o.depth < t.depth), t, ...others.filter((o) => o.depth > t.depth)];
  if (!family.some((each) => each.evaluation)) {
    return section("Scores", note("This task asks for no evaluation, so there is no score. ", kNoLosses));
  }
  const scored = family.filter((each) => each.score !== null && each.score !== undefined);
  const claimed = scored.map((each) => [each.depth, each.score]);
  const replayed = scored.filter(is_replayed).map((each) => [each.depth, each.score]);
  const drawing = chart({
    caption: "The mean loss on the hold-out set along the lineage. A dot is what the solver claimed, a ring what a verifier's replay of the evaluation gave as well.",
    x_name: "depth in the lineage", y_name: "mean loss",
    series: [{name: "claimed", kind: "line", points: claimed}, {name: "claimed", kind: "dots", points: claimed}, {name: "replayed", kind: "rings", points: replayed}]});
  return section("Scores", drawing,
    table("Scores", [["Task"], ["State"], ["Score as claimed", "number"], ["As replayed", "number"]],
      family.map((each) => [each.id === t.id ? "this task" : task(each.id, stranger(each.title)), state(each.state),
        each.score ?? "none yet", is_replayed(each) ? each.score : "no accepting verdict"])),
    note(t.evaluation ? `The evaluation has ${count(t.evaluation.nodes)} nodes and is replayed like a segment, by equality. ` : "", kNoLosses));
}

const share = (d) => d.parameters / 1e9;

export function distances_section(t) {
  if (t.mode !== "tolerance") return null;
  const measured = t.assignments.filter((a) => a.measurement);
  const threshold = t.tolerance?.threshold;
  const drawing = chart({
    caption: "How far each replayed segment is from what its solver claimed, in parts of the segment's update, and the threshold.",
    x_name: "segment", y_name: "distance",
    series: [{name: "measured", kind: "bars", points: measured.map((a) => [a.segment, share(a.measurement)])}],
    limit: threshold ? {name: "threshold", y: share(threshold)} : null});
  return section("Distances", drawing,
    table("Measurements", [["Segment", "number"], ["Verifier"], ["Status"], ["Parameters", "number"], ["Other state", "number"]],
      measured.map((a) => [count(a.segment), account(a.verifier), state(a.status), share(a.measurement).toPrecision(3), (a.measurement.other / 1e9).toPrecision(3)]),
      "No measurement was published yet."),
    t.tolerance ? note(`Profiling: ${t.tolerance.phase}, ${t.tolerance.profiles.length} profilers.`) : null,
    h("p", null, h("code", null, `assay task history ${t.id}`)));
}
