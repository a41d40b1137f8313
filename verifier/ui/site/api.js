// SPDX-License-Identifier: Apache-2.0
// Calls to the process that serves this page. The token came in the fragment of the link and is sent in a header, so that
// it stands in no history, no log and no Referer.

const kKey = "assay-ui-token";
const kRetry = 2000; // ms before a stream that broke is opened again

function take_token() {
  const given = /^#token=([0-9a-f]{64})$/.exec(location.hash);
  if (given) {
    sessionStorage.setItem(kKey, given[1]);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(kKey);
}

const token = take_token();
export const has_token = () => token !== null;

export class ApiError extends Error {
  constructor(reason, message) {
    super(message);
    this.reason = reason;
  }
}

async function ask(path, options) {
  let response = null;
  try {
    response = await fetch(path, {...options, cache: "no-store", headers: {...options.headers, Authorization: `Bearer ${token}`}});
  } catch {
    throw new ApiError("offline", "The program does not answer: it has ended, or is being started again.");
  }
  if (response.ok) return response;
  const {error} = await response.json().catch(() => ({error: {reason: "failed", message: `status ${response.status}`}}));
  throw new ApiError(error.reason, error.message);
}

export async function get(path) {
  return (await ask(path, {method: "GET"})).json();
}

export async function post(path, body = {}) {
  return (await ask(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)})).json();
}

/** An id for an order: the same order that is sent twice is executed once. */
export function new_id() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Calls `news()` at every event of the stream, and `lost(error)` where it breaks. EventSource could not send the token. */
export async function listen(news, lost) {
  for (;;) {
    try {
      const response = await ask("/api/events", {method: "GET"});
      const reader = response.body.getReader();
      for (let part = await reader.read(); !part.done; part = await reader.read()) news();
      throw new ApiError("offline", "The program has ended the connection.");
    } catch (error) {
      lost(error);
      if (error.reason === "token") return;
    }
    await new Promise((done) => setTimeout(done, kRetry));
  }
}
