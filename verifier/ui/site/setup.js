// SPDX-License-Identifier: Apache-2.0
// The first steps: a key with its backup phrase, made or restored.
import {h, note, section} from "./dom.js";
import {post} from "./api.js";

let phrase = null; // {words, asked}: shown once, kept nowhere but here
let has_written = false;

const field = (name, label, attributes = {}) =>
  h("label", null, h("span", {class: "name"}, label), h("input", {name, type: "text", autocomplete: "off", spellcheck: "false", ...attributes}));

const passwords = () => [
  field("password", "A password for this machine, 8 characters or more", {type: "password", autocomplete: "new-password", minlength: "8", required: true}),
  field("again", "The same password again", {type: "password", autocomplete: "new-password", minlength: "8", required: true}),
];

function same_password(form) {
  if (form.get("password") !== form.get("again")) throw new Error("The two passwords differ.");
  return form.get("password");
}

function show_phrase(app) {
  return section("Write these 24 words down",
    h("p", null, "These words ", h("strong", null, "are your account"), ": who has them has its money, and without them it is lost with this machine's disk. ",
      "Write them on paper, in this order. They are shown this once and stored nowhere."),
    h("ol", {class: "phrase", id: "phrase"}, phrase.words.map((word) => h("li", null, word))),
    h("div", {class: "actions"}, h("button", {type: "button", onclick: () => { has_written = true; app.draw(); }}, "I have written them down")));
}

function ask_back(app) {
  const submit = app.form(async (form) => {
    const answers = Object.fromEntries(phrase.asked.map((number) => [number, form.get(`word${number}`)]));
    await post("/api/key/confirm", {answers, password: same_password(form)});
    phrase = null;
    has_written = false;
  });
  return section("Show that you have the words",
    h("form", {class: "fields", id: "confirm", onsubmit: submit},
      phrase.asked.map((number) => field(`word${number}`, `Word ${number}`, {required: true})), passwords(),
      h("div", {class: "actions"}, h("button", {type: "submit"}, "Make the key"),
        h("button", {type: "button", class: "second", onclick: () => { has_written = false; app.draw(); }}, "Show the words again"))));
}

/** What a home without a key shows. */
export function setup(app) {
  if (phrase) return [has_written ? ask_back(app) : show_phrase(app)];
  const begin = app.action(async () => { phrase = await post("/api/key/new"); });
  const restore = app.form(async (form) => {
    await post("/api/key/restore", {phrase: form.get("phrase"), passphrase: form.get("passphrase"), password: same_password(form)});
  });
  return [
    section("Welcome",
      h("p", {class: "lead"}, "This machine can train and check models for pay. It needs an account first, and later a stake: money that it loses if it cheats or breaks its word."),
      h("div", {class: "actions"}, h("button", {type: "button", id: "new-key", onclick: begin}, "Make a new account"))),
    section("Restore an account",
      note("With the backup phrase of an account that you have already."),
      h("form", {class: "fields", id: "restore", onsubmit: restore},
        h("label", {class: "wide"}, h("span", {class: "name"}, "The words, with spaces between them"),
          h("textarea", {name: "phrase", rows: "3", autocomplete: "off", spellcheck: "false", required: true})),
        field("passphrase", "The passphrase, if the phrase was made with one"), passwords(),
        h("div", {class: "actions"}, h("button", {type: "submit"}, "Restore")))),
  ];
}
