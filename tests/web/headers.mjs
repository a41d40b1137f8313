// SPDX-License-Identifier: Apache-2.0
// What the node's HTTP server answers to GET.
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {given} from "./browser.mjs";

const kPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function headers() {
  return [
    ["every file has its type, its policy and the hash of its bytes", async () => {
      const {files} = await (await fetch(`${given.ended}/files.json`)).json();
      assert.ok(files.includes("/index.html") && files.includes("/pages/dispute.js"), files.join(" "));
      let bytes = 0;
      for (const file of files) {
        const response = await fetch(given.ended + file);
        const body = Buffer.from(await response.arrayBuffer());
        bytes += body.length;
        assert.equal(response.status, 200, file);
        assert.equal(response.headers.get("content-security-policy"), kPolicy, file);
        assert.equal(response.headers.get("x-content-type-options"), "nosniff", file);
        assert.equal(response.headers.get("etag"), `"${createHash("sha256").update(body).digest("hex")}"`, file);
        const kind = {html: "text/html", js: "text/javascript", css: "text/css", json: "application/json", svg: "image/svg+xml", wasm: "application/wasm"};
        assert.ok(response.headers.get("content-type").startsWith(kind[file.split(".").pop()]), file);
      }
      return `${files.length} files, ${bytes} bytes`;
    }],
    ["a file that the browser has is not sent again", async () => {
      const first = await fetch(`${given.ended}/main.js`);
      await first.arrayBuffer();
      const again = await fetch(`${given.ended}/main.js`, {headers: {"If-None-Match": first.headers.get("etag")}, cache: "no-store"});
      assert.equal(again.status, 304);
      assert.equal((await again.arrayBuffer()).byteLength, 0);
      const other = await fetch(`${given.ended}/main.js`, {headers: {"If-None-Match": "\"00\""}, cache: "no-store"});
      assert.equal(other.status, 200);
      await other.arrayBuffer();
    }],
    ["the other targets answer as before", async () => {
      assert.equal(await (await fetch(`${given.ended}/livez`)).text(), "ok\n");
      assert.equal((await (await fetch(`${given.ended}/readyz`)).json()).ready, true);
      for (const target of ["/nothing", "/pages/", "/../main.js", "/main.js/", "/%6dain.js"]) {
        const response = await fetch(given.ended + target, {redirect: "manual"});
        await response.arrayBuffer();
        assert.equal(response.status, target === "/../main.js" ? 200 : 404, target); // fetch resolves the dots itself
      }
      const head = await fetch(`${given.ended}/`, {method: "HEAD"});
      assert.equal(head.status, 200);
    }],
  ];
}
