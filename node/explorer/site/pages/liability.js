// SPDX-License-Identifier: Apache-2.0
// The liability tables of the protocol's documents, as the build wrote them into liability.json.
import {h, section} from "../dom.js";

let loaded = null;

/** Text in which `code` stands between backticks. */
function prose(text) {
  return text.split("`").map((part, i) => (i % 2 === 1 ? h("code", null, part) : part));
}

function tables({columns, rows}) {
  const long = columns.length > 4;
  return h("div", {class: "cards"}, rows.map((row) => h("article", {class: "row"},
    h("h3", null, prose(row[0])),
    h("dl", {class: long ? "facts" : "facts short"}, row.slice(1).map((cell, i) => h("div", null, h("dt", null, columns[i + 1]), h("dd", null, prose(cell))))))));
}

export async function render({signal}) {
  loaded ??= await (await fetch("liability.json", {signal})).json();
  return {
    title: "Liability",
    content: [
      h("h1", null, "Who can make whom pay"),
      h("p", {class: "lead"}, "Every way in which a stake or a reward can be lost: who can cause it, what it costs them, and the reply that wins. ",
        "A test of the project fails when the code has a reason or a message that is not here."),
      ...loaded.sections.map((each) => section(each.title, each.parts.map((part) => (part.text ? h("p", null, prose(part.text)) : tables(part)))))],
  };
}
