// SPDX-License-Identifier: Apache-2.0
// Screenshots for the documentation: the first page, a task, a dispute, in light and dark.
import {join} from "node:path";
import {given, launch, open, rpc, until, visit} from "./browser.mjs";
import {claimed_tile} from "./trust.mjs";

const kWidth = 1200;

const browser = await launch();
try {
  const {tasks} = await rpc(given.ended, "task_list");
  const task = tasks.find((t) => t.state === "settled").id;
  const shots = [["home", given.open, "#/", 800], ["task", given.ended, `#/task/${task}`, 1100], ["dispute", given.ended, `#/dispute/${given.dispute}`, 2080]];
  for (const scheme of ["light", "dark"]) {
    for (const [name, base, route, height] of shots) {
      const {page} = await open(browser, {width: kWidth, height, scheme});
      await visit(page, base, route);
      if (await page.$("#judge")) {
        await page.click("#judge");
        await page.waitForSelector("#claimed");
        await (await page.$("#claimed")).uploadFile(await claimed_tile(page, given.scratch));
        await until(page, () => document.querySelector("main").textContent.includes("Claimed less recomputed"));
      }
      await page.screenshot({path: join(given.pictures, `explorer-${name}-${scheme}.png`), clip: {x: 0, y: 0, width: kWidth, height}});
      await page.close();
    }
  }
} finally {
  await browser.close();
}
