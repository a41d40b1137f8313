// SPDX-License-Identifier: Apache-2.0
// JSON-RPC to the node that served this page (docs/rpc.md).

/** What the node answered instead of a result, or `name` "offline" if it did not answer. */
export class RpcError extends Error {
  constructor(code, name, message) {
    super(message);
    this.code = code;
    this.name = name;
  }
}

let lastId = 0;
let token = ""; // of a node that answers only who has it; forgotten with the page
let asked = false;

/** Whether this node wants a token, which an EventSource cannot send. */
export const has_token = () => token !== "";

/** Asks the visitor once. Returns whether there is something to try. */
function ask_token() {
  if (!asked) {
    asked = true;
    token = window.prompt("This node answers only who has its token: the text of its rpc.token_file.")?.trim() ?? "";
  }
  return token !== "";
}

async function send(body, signal) {
  const headers = {"Content-Type": "application/json"};
  if (token) headers.Authorization = `Bearer ${token}`;
  return fetch("/", {method: "POST", headers, body: JSON.stringify(body), signal});
}

async function post(body, signal) {
  let response;
  try {
    response = await send(body, signal);
    if (response.status === 401 && ask_token()) response = await send(body, signal);
    return await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new RpcError(response?.status ?? 0, "offline", response ? `the node answered with status ${response.status}` : "the node does not answer");
  }
}

/** The result of one call. Throws RpcError; an aborted call throws what fetch throws. */
export async function call(method, params = {}, signal = undefined) {
  const answer = await post({jsonrpc: "2.0", id: ++lastId, method, params}, signal);
  if (answer.error) {
    throw new RpcError(answer.error.code, answer.error.data?.name ?? "error", String(answer.error.message));
  }
  return answer.result;
}

const kBatch = 10; // calls of one request, which have one budget together

/** The results of many calls [[method, params], ...], in order; null for each that failed. */
export async function batch(calls, signal = undefined) {
  const results = [];
  for (let from = 0; from < calls.length; from += kBatch) {
    const body = calls.slice(from, from + kBatch).map(([method, params], i) => ({jsonrpc: "2.0", id: i, method, params}));
    const answers = await post(body, signal);
    if (!Array.isArray(answers)) throw new RpcError(0, "offline", "the node did not answer a list of calls");
    const by_id = new Map(answers.map((answer) => [answer.id, answer.result ?? null]));
    body.forEach((each) => results.push(by_id.get(each.id) ?? null));
  }
  return results;
}

/** call(), or null where the node has no such thing or does not know the method. */
export async function maybe(method, params = {}, signal = undefined) {
  try {
    return await call(method, params, signal);
  } catch (error) {
    if (error instanceof RpcError && error.name !== "offline") return null;
    throw error;
  }
}

/** maybe(), but undefined where the node does not know the method: older nodes have fewer. */
export async function optional(method, params = {}, signal = undefined) {
  try {
    return await call(method, params, signal);
  } catch (error) {
    if (!(error instanceof RpcError) || error.name === "offline") throw error;
    return error.name === "method_not_found" ? undefined : null;
  }
}

/** All items of a listing, `at_most` of them: pages of 100 under `member`. */
export async function all(method, params, member, at_most, signal = undefined) {
  const items = [];
  let cursor = null;
  do {
    const page = await call(method, cursor ? {...params, limit: 100, cursor} : {...params, limit: 100}, signal);
    items.push(...page[member]);
    cursor = page.next_cursor;
  } while (cursor && items.length < at_most);
  return {items, complete: !cursor};
}
