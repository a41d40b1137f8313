// SPDX-License-Identifier: Apache-2.0
import { AssayError, ConnectionFailed, ProtocolError, RpcError, rpcError } from "./errors.js";
import { METHODS, PAGES, SUBMITTING } from "./generated/methods.js";
import { Subscription } from "./subscription.js";

const BATCH_MAX = 20;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** The node reads the height from the upper bits of a sequence number (docs/rpc.md). */
const ITEMS = 2 ** 24;

export const sleep = (ms, signal) => new Promise((resolve, reject) => {
  signal?.throwIfAborted();
  const stop = () => {
    clearTimeout(timer);
    reject(signal.reason);
  };
  const timer = setTimeout(() => {
    signal?.removeEventListener("abort", stop);
    resolve();
  }, ms);
  signal?.addEventListener("abort", stop, { once: true });
});

/** 0.1 s, 0.2 s, ... at most 5 s, each up to a half longer so that many clients do not come back at once. */
export const backoffMs = (attempt) => Math.min(5000, 100 * 2 ** Math.min(attempt, 10)) * (1 + Math.random() / 2);

function request(id, method, params) {
  const given = Object.fromEntries(Object.entries(params ?? {}).filter(([, value]) => value !== undefined && value !== null));
  return { jsonrpc: "2.0", id, method, params: given };
}

/** [id, result or RpcError] of an answer. Throws ProtocolError. */
function outcome(answer) {
  const isObject = answer !== null && typeof answer === "object" && answer.jsonrpc === "2.0";
  if (!isObject || Object.hasOwn(answer, "result") === Object.hasOwn(answer, "error")) {
    throw new ProtocolError("the answer is not one of JSON-RPC 2.0");
  }
  return [answer.id, Object.hasOwn(answer, "error") ? rpcError(answer.error) : answer.result];
}

async function readBody(response) {
  const parts = [];
  let size = 0;
  for (const reader = response.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) {
      break;
    }
    size += value.length;
    if (size > MAX_ANSWER_BYTES) {
      await reader.cancel();
      throw new ProtocolError(`the answer has more than ${MAX_ANSWER_BYTES} bytes`);
    }
    parts.push(value);
  }
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return new TextDecoder().decode(whole);
}

/** One method for each of the node's, batches, listings and subscriptions (index.d.ts has the types). */
export class AssayClient {
  constructor(url = "http://127.0.0.1:26600", { timeout = 30_000, retries = 3, token, fetch: send = globalThis.fetch } = {}) {
    const parsed = new URL(url);
    if (!["http:", "https:"].includes(parsed.protocol) || parsed.search || parsed.hash) {
      throw new TypeError(`${url} is not the URL of a node`);
    }
    this.url = parsed.href.replace(/\/+$/, "");
    this.timeout = timeout;
    this.retries = retries;
    this.fetch = token === undefined ? (...given) => send(...given)
      : (target, given = {}) => send(target, { ...given, headers: { ...given.headers, Authorization: `Bearer ${token}` } });
    // A WebSocket of a browser cannot send the token.
    this.hasToken = token !== undefined;
  }

  async call(method, params = {}, options = {}) {
    const waitsMs = method === "chain_wait" ? params.timeout_ms ?? 10_000 : 0;
    const timeout = (options.timeout ?? this.timeout) + waitsMs;
    const [id, result] = outcome(await this.#post(request(1, method, params), { ...options, timeout }, SUBMITTING.includes(method)));
    if (result instanceof RpcError) {
      throw result;
    }
    if (id !== 1) {
      throw new ProtocolError("the answer belongs to another call");
    }
    return result;
  }

  async batch(calls, options = {}) {
    if (calls.some(([method]) => method === "chain_wait")) {
      throw new TypeError("chain_wait must not be in a batch");
    }
    const out = [];
    for (let first = 0; first < calls.length; first += BATCH_MAX) {
      const part = calls.slice(first, first + BATCH_MAX);
      const message = part.map(([method, params], i) => request(i, method, params));
      const answers = await this.#post(message, options, part.some(([method]) => SUBMITTING.includes(method)));
      if (!Array.isArray(answers)) {
        const [, result] = outcome(answers);
        throw result instanceof RpcError ? result : new ProtocolError("a batch was answered by a single answer");
      }
      const byId = new Map(answers.map(outcome));
      if (answers.length !== part.length || part.some((_, i) => !byId.has(i))) {
        throw new ProtocolError("the answers of a batch are not those of its calls");
      }
      out.push(...part.map((_, i) => byId.get(i)));
    }
    return out;
  }

  async *iterate(method, params = {}, options = {}) {
    if (!Object.hasOwn(PAGES, method)) {
      throw new TypeError(`${method} is no listing`);
    }
    const seen = new Set();
    for (let cursor = params.cursor; ;) {
      const page = await this.call(method, { ...params, cursor }, options);
      const items = page?.[PAGES[method]];
      cursor = page?.next_cursor ?? null;
      if (!Array.isArray(items) || (cursor !== null && typeof cursor !== "string") || seen.has(cursor)) {
        throw new ProtocolError(`the answer of ${method} is no page, or its pages go round in a circle`);
      }
      yield* items;
      if (cursor === null) {
        return;
      }
      seen.add(cursor);
    }
  }

  subscribe(topic, { after, patience = 60_000, signal, transport, ...names } = {}) {
    // A place right behind the present block: without one, a connection that breaks before the first message would
    // silently miss what came in between.
    const begin = async () => after ?? ((await this.call("node_status", {}, { signal })).height + 1) * ITEMS - 1;
    const way = transport ?? (this.hasToken ? "events" : undefined);
    return new Subscription(this.url, { topic, ...names }, { begin, patience, signal, transport: way, fetch: this.fetch });
  }

  async #post(message, options, isSubmission) {
    for (let attempt = 0; ; ++attempt) {
      try {
        return await this.#attempt(message, options);
      } catch (error) {
        const mayRepeat = error instanceof ConnectionFailed && (!isSubmission || error.wasNotSent);
        if (!mayRepeat || attempt >= this.retries) {
          throw error;
        }
        await sleep(Math.min(30_000, error.retryAfterMs ?? backoffMs(attempt)), options.signal);
      }
    }
  }

  async #attempt(message, { timeout = this.timeout, signal }) {
    const limit = AbortSignal.timeout(timeout);
    const stop = new AbortController();
    const abort = () => stop.abort();
    limit.addEventListener("abort", abort);
    signal?.throwIfAborted();
    signal?.addEventListener("abort", abort);
    try {
      const response = await this.fetch(this.url + "/", {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(message), signal: stop.signal,
        redirect: "error" });
      const text = await readBody(response);
      if (response.status === 503) {
        const seconds = /^[0-9]{1,5}$/.exec(response.headers.get("Retry-After") ?? "");
        throw Object.assign(new ConnectionFailed("the node answers 503: it has no place now, or is stopping"),
          { wasNotSent: true, retryAfterMs: seconds ? 1000 * Number(seconds[0]) : undefined });
      }
      try {
        const answer = JSON.parse(text);
        if (response.status === 429) {
          // It was not executed, a submission neither.
          const wait = answer?.error?.data?.retry_after_ms;
          throw Object.assign(new ConnectionFailed(String(answer?.error?.message ?? "the node answers 429")),
            { wasNotSent: true, retryAfterMs: Number.isSafeInteger(wait) && wait >= 0 ? wait : undefined });
        }
        return answer;
      } catch (error) {
        if (error instanceof AssayError) {
          throw error;
        }
        throw new ProtocolError(`the answer (HTTP ${response.status}) is not JSON; it begins with ${JSON.stringify(text.slice(0, 80))}`);
      }
    } catch (error) {
      if (error instanceof AssayError) {
        throw error;
      }
      signal?.throwIfAborted();
      const wasNotSent = error?.cause?.code === "ECONNREFUSED";
      const why = limit.aborted ? `no answer within ${timeout} ms` : error?.cause?.message ?? error?.message;
      throw Object.assign(new ConnectionFailed(`${this.url}: ${why}`, { cause: error }), { wasNotSent });
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }
}

for (const method of METHODS) {
  AssayClient.prototype[method.replace(".", "_")] = function (params, options) {
    return this.call(method, params, options);
  };
}
