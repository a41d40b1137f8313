// SPDX-License-Identifier: Apache-2.0
// Blocks, the newest first, and further back.
import {h, section} from "../dom.js";
import {count} from "../format.js";
import {proposers} from "../proposers.js";
import {block_table, last_blocks} from "./home.js";

const kPage = 25;

export async function render({query, status, signal}) {
  const from = Math.min(status.height, Number(query.get("from")) || status.height);
  const [list, proposer] = await Promise.all([last_blocks(from, kPage, signal), proposers(status, signal)]);
  const before = from - kPage;
  return {
    title: "Blocks",
    content: [
      h("h1", null, "Blocks"),
      section(from === status.height ? "The newest" : `From ${count(from)} back`, block_table(list, proposer),
        h("p", {class: "pages"}, from < status.height ? h("a", {href: "#/blocks"}, "Newest") : null, " ",
          before >= status.first_block && before > 0 ? h("a", {href: `#/blocks?from=${before}`}, "Older") : null))],
  };
}
