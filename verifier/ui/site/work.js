// SPDX-License-Identifier: Apache-2.0
// What the machine is, what it may do, and what it does.
import {facts, h, note, section, table} from "./dom.js";
import {asy, bytes, count, shorten, span, state as pill, stranger} from "./format.js";
import {chart} from "./chart.js";
import {post} from "./api.js";

const kGiB = 1024 ** 3;
const two = (value) => String(value).padStart(2, "0");
const clock = (minute) => `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
const minutes = (text) => text.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);

function words_of(state) {
  const owed = state.activity.tasks.filter((task) => ["train", "checkpoint", "accept", "commit", "replay", "verdict"].includes(task.last));
  if (!state.is_running) return [state.settings.is_started ? "Waiting for your password" : "Stopped", "calm"];
  if (state.closed) return [`Takes nothing new: ${state.closed}`, "busy"];
  return [owed.length > 0 ? "Working" : "Ready, and waiting for work", "good"];
}

// Why a worker waits, where the owner can do something about it by other means than its log says.
const kIdle = {
  no_stake: "its free stake is too small: bond more below", unlisted: "it let a task lapse: bond some more below to be drawn again",
  closed: "nothing new is taken now", no_task: "no task is open", not_drawn: "it was not drawn for a task so far", in_work: "others are to move in its tasks",
  breaker: "stake was lost: look below why, stop, and start with the box ticked", no_node: "the node cannot be asked", catching_up: "the node is catching up",
  no_blocks: "the node makes no blocks", not_operator: "the account that it works for has not named this one its operator",
};

/** The last event of each role, where it says why the worker waits: [role, event]. */
function waiting(state) {
  const last = new Map();
  for (const e of state.activity.events) if (!last.has(e.role)) last.set(e.role, e);
  return [...last].filter(([, e]) => e.event === "idle");
}
const has_lost = (state) => state.activity.events.some((e) => e.event === "breaker" || e.reason === "breaker");

function controls(app, state) {
  const go = (path) => app.action(async () => { await post(path); });
  if (!state.is_running) {
    const start = app.form(async (form) => { await post("/api/start", {password: form.get("password"), reset_breaker: form.has("forgive")}); });
    return h("form", {class: "fields", id: "start", onsubmit: start},
      h("label", null, h("span", {class: "name"}, "Password"),
        h("input", {name: "password", type: "password", autocomplete: "current-password", required: true})),
      has_lost(state) ? h("label", null, h("input", {type: "checkbox", name: "forgive"}), " Take new work again, though stake was lost") : null,
      h("div", {class: "actions"}, h("button", {type: "submit"}, "Start"), h("button", {type: "button", class: "second", id: "quit", onclick: go("/api/quit")}, "Quit")));
  }
  const is_paused = state.settings.is_paused;
  return h("div", {class: "actions"},
    h("button", {type: "button", id: "pause", onclick: go(is_paused ? "/api/resume" : "/api/pause")}, is_paused ? "Resume" : "Pause"),
    h("button", {type: "button", class: "second", id: "stop", onclick: go("/api/stop")}, "Stop"),
    h("button", {type: "button", class: "second", id: "quit", onclick: go("/api/quit")}, "Quit"));
}

export function status(app, state) {
  const [words] = words_of(state);
  const failures = Object.entries(state.failures);
  const costs = state.proven?.params;
  return section("Now",
    h("p", {class: "status-line", id: "status"}, words), controls(app, state),
    state.is_running && !state.closed ? waiting(state).map(([role, e]) =>
      h("p", null, `${role}: `, Object.hasOwn(kIdle, e.reason) ? kIdle[e.reason] : stranger(e.text ?? e.reason))) : null,
    failures.map(([role, why]) => h("p", {class: "complaint"}, `The worker for ${role} has ended: `, stranger(why))),
    state.node.error ? h("p", {class: "complaint"}, "The node: ", stranger(state.node.error)) : null,
    state.refused_requests > 0 ? h("p", {class: "complaint"}, `${count(state.refused_requests)} requests to this page without its token, or from another page, were refused.`) : null,
    note("A pause, and every limit below, is about new work: what was promised is finished, so nothing is lost by it. ",
      costs ? `A solver that is drawn while it takes nothing new declines, which costs ${asy(costs.decline_costs)} at most once in ${count(costs.decline_blocks)} blocks for tasks of the same worth; a verifier tells the chain beforehand, for a small fee. ` : "",
      "Stopping or quitting in the middle of a task is different: its deadlines run on, and missing one costs stake."));
}

export function machine(app, state) {
  const {machine: m, settings} = state;
  const measure = app.action(async () => { await post("/api/measure"); });
  const classes = (state.proven?.params.classes ?? []).filter((each) => settings.score >= each.least_score);
  const best = classes.sort((a, b) => b.least_score - a.least_score)[0];
  return section("This machine",
    facts([
      ["Processor", `${m.cores} cores`], ["Memory now free", bytes(m.memory_bytes)],
      ["Graphics", m.gpus.length === 0 ? "no NVIDIA GPU was found" : m.gpus.map((gpu) => h("div", null, `${gpu.name}, ${bytes(gpu.memory_bytes)}`))],
      ["Temperature", m.sensors.length === 0 ? "no sensor can be read" : m.sensors.map((each) => h("div", null, `${each.name}: ${Math.round(each.celsius)} °C`))],
      ["Speed", settings.score === 0 ? "not measured" : h("span", {id: "score"}, `${count(settings.score)} units on ${settings.score_device}${best ? `, of the class ${best.name}` : ", of no class"}`)]]),
    h("div", {class: "actions"}, h("button", {type: "button", class: "second", id: "measure", onclick: measure, disabled: m.is_measuring || state.is_running},
      m.is_measuring ? "Measuring…" : "Measure it (a few seconds)")),
    note("Some tasks ask for a class of machines. It can be measured while nothing runs."));
}

function settings_body(form) {
  return {
    solve: form.has("solve"), verify: form.has("verify"), watch: form.has("watch"), device: form.get("device"), threads: Number(form.get("threads")),
    from_minute: minutes(form.get("from")), to_minute: minutes(form.get("to")), memory_bytes: Math.round(Number(form.get("memory")) * kGiB),
    least_price: Number(form.get("price")), celsius_max: Number(form.get("celsius")),
    ...Object.fromEntries(["node", "publish", "relay", "owner", "image", "labels"].map((name) => [name, form.get(name).trim()])),
  };
}

export function settings(app, state) {
  const s = state.settings;
  const save = app.form(async (form) => { await post("/api/settings", settings_body(form)); }, null, {keeps: true});
  const field = (name, label, value, attributes = {}) => h("label", null, h("span", {class: "name"}, label),
    h("input", {name, type: "text", value: String(value), autocomplete: "off", spellcheck: "false", ...attributes}));
  const box = (name, is_on, label) => h("label", null, h("input", {type: "checkbox", name, checked: is_on}), " ", label);
  const devices = ["cpu", ...state.machine.gpus.map((_, i) => `cuda:${i}`)];
  if (!devices.includes(s.device)) devices.push(s.device);
  return section("What it may do",
    h("form", {class: "fields", id: "settings", onsubmit: save},
      h("fieldset", {class: "wide"}, h("legend", null, "Roles"),
        box("solve", s.solve, "Train tasks: the most pay, and a stake of the task's worth"),
        box("verify", s.verify, "Check others' training: it cannot refuse what it is drawn for"),
        box("watch", s.watch, "Watch what was completed, and dispute what is wrong")),
      field("from", "New work from (local time)", clock(s.from_minute), {type: "time", required: true}),
      field("to", "until; the same time means all day", clock(s.to_minute), {type: "time", required: true}),
      field("memory", "Most memory in GiB; 0: what is free", s.memory_bytes / kGiB, {type: "number", min: "0", step: "any"}),
      field("price", "Least pay in grains for 10⁹ multiply-adds; 0: any", s.least_price, {type: "number", min: "0", step: "1"}),
      field("celsius", "No new work above so many °C; 0: no limit", s.celsius_max, {type: "number", min: "0", max: "120", step: "1"}),
      h("label", null, h("span", {class: "name"}, "Computes on"), h("select", {name: "device"}, devices.map((d) => h("option", {value: d, selected: d === s.device}, d)))),
      field("threads", "Processor threads", s.threads, {type: "number", min: "1", max: "1024", step: "1"}),
      field("node", "The node that is asked", s.node), field("publish", "A store for what is trained, if others cannot reach this machine", s.publish),
      field("relay", "Relays, HOST:PORT, through which others reach this machine", s.relay),
      h("details", {class: "wide"}, h("summary", null, "For whom it works, and in what"),
        h("div", {class: "fields"},
          field("owner", "The account that it works for, if that has named this one its operator", s.owner),
          field("image", "The image that this program runs in, sha256:…", s.image),
          field("labels", "Labels of that image, key=value, with spaces between them", s.labels)),
        note("Tasks that ask for an image or for labels come to machines that state them. The chain believes it, so state what is true: who trains elsewhere may get another result, and lose a dispute about it.")),
      h("div", {class: "actions"}, h("button", {type: "submit"}, "Save"))),
    note("Hours, pay and temperature hold at once. Other changes start the workers again, which costs the steps since the last checkpoint."));
}

function task_view(task) {
  const progress = Number.isFinite(task.step) && Number.isFinite(task.steps) ? `step ${count(task.step)} of ${count(task.steps)}` : "";
  const curve = task.losses.length > 1 ? chart({caption: "Loss by step, as this machine computes it", x_name: "step", y_name: "loss",
    series: [{name: "loss", kind: "line", points: task.losses}]}) : null;
  return h("div", {class: "row"},
    h("p", null, pill(task.state ?? task.last), " ", stranger(task.title ?? ""), " ", h("code", {class: "id"}, shorten(String(task.task))),
      ` ${task.role}. `, progress, Number.isFinite(task.loss) ? `, loss ${Number(task.loss).toPrecision(5)}` : "",
      Number.isFinite(task.eta_s) && task.last === "train" ? `, ${span(task.eta_s * 1000)} left` : "", task.verdict ? `, verdict: ${task.verdict}` : ""),
    task.reason ? h("p", {class: "quiet"}, stranger(task.reason)) : null, curve);
}

export function work(state) {
  const {tasks, events} = state.activity;
  return section("Work",
    tasks.length === 0 ? note("Nothing since this program was started.") : h("div", {class: "cards", id: "tasks"}, tasks.slice(0, 10).map(task_view)),
    h("details", null, h("summary", null, "What happened, the latest first"),
      table("Events", [["When", ""], ["Role", ""], ["What", "wide"]], events.slice(0, 50).map((e) => [
        new Date(e.time_ms).toLocaleTimeString(), e.role, h("bdi", {class: "stranger"}, `${e.event} ${e.text ?? e.reason ?? e.title ?? ""}`.slice(0, 300))]))));
}
