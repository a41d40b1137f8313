// SPDX-License-Identifier: Apache-2.0
import { AssayError, ConnectionFailed, GapError, ProtocolError, Unavailable, rpcError } from "./errors.js";
import { backoffMs, sleep } from "./client.js";

/** The node writes a comment, or a ping, every 15 s, so a stream that is silent for three times as long is gone. */
const SILENCE_MS = 45_000;
const MAX_EVENT_CHARACTERS = 16 * 1024 * 1024;

function decode(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProtocolError("a message is not JSON");
  }
}

/** The data of each event of a stream: [name, text]. */
async function* eventsOf(body, alive) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", name = "message", data = [], size = 0;
  try {
    for (;;) {
      let timer;
      const silence = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new ConnectionFailed("the stream is silent")), SILENCE_MS);
      });
      const { done, value } = await Promise.race([reader.read(), silence]).finally(() => clearTimeout(timer));
      if (done) {
        return;
      }
      alive();
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const raw of lines) {
        const line = raw.replace(/\r$/, "");
        size += line.length;
        if (line === "") {
          if (data.length > 0) {
            yield [name, data.join("\n")];
          }
          [name, data, size] = ["message", [], 0];
        } else if (line.startsWith("event:")) {
          name = line.slice(6).trim();
        } else if (line.startsWith("data:")) {
          data.push(line.slice(line[5] === " " ? 6 : 5));
        }
      }
      if (size + rest.length > MAX_EVENT_CHARACTERS) {
        throw new ProtocolError("an event is too long");
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/**
 * An asynchronous iterator over messages, by WebSocket where there is one and else by server-sent events through fetch.
 * `last` is the sequence number to resume from. It connects again by itself and misses nothing.
 */
export class Subscription {
  #options;
  #query;
  #url;
  #stop = new AbortController();
  #messages;
  #aliveAt = Date.now();

  constructor(url, query, options) {
    this.#url = url;
    this.#query = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined && value !== null));
    this.#options = options;
    this.last = null;
    options.signal?.addEventListener("abort", () => this.close(), { once: true });
    this.#messages = this.#run();
  }

  [Symbol.asyncIterator]() {
    return this;
  }
  next() {
    return this.#messages.next();
  }
  async return() {
    this.close();
    await this.#messages.return();
    return { done: true, value: undefined };
  }
  close() {
    this.#stop.abort();
  }

  async *#run() {
    this.last = await this.#options.begin();
    for (let failures = 0; !this.#stop.signal.aborted;) {
      try {
        for await (const message of this.#connection()) {
          failures = 0;
          yield message;
        }
        throw new ConnectionFailed("the node ended the stream");
      } catch (error) {
        if (this.#stop.signal.aborted) {
          return;
        }
        const isPassing = error instanceof ConnectionFailed || (error instanceof Unavailable && error.firstHeight === null);
        if (!isPassing || Date.now() - this.#aliveAt > this.#options.patience) {
          throw error;
        }
        await sleep(backoffMs(failures++), this.#stop.signal).catch(() => {});
      }
    }
  }

  #connection() {
    const transport = this.#options.transport ?? (typeof globalThis.WebSocket === "function" ? "websocket" : "events");
    return transport === "websocket" ? this.#webSocket() : this.#events();
  }

  #take(message) {
    const { prev, seq, data } = message ?? {};
    if (!Number.isSafeInteger(seq) || data === null || typeof data !== "object") {
      throw new ProtocolError("this is no message of a subscription");
    }
    if (prev !== (this.last || null) || seq <= this.last) {
      throw new GapError(this.last || null, prev, seq);
    }
    this.last = seq;
    const { topic, kind } = message;
    return { topic, seq, prev, kind, data };
  }

  async *#events() {
    const query = new URLSearchParams({ ...this.#query, after: String(this.last) });
    let response;
    const stop = new AbortController();
    const abort = () => stop.abort();
    this.#stop.signal.addEventListener("abort", abort);
    try {
      response = await this.#options.fetch(`${this.#url}/events?${query}`, { signal: stop.signal, redirect: "error" });
      if (response.status === 503 || response.status === 429) {
        throw new ConnectionFailed(`the node answers ${response.status}`);
      }
      if (response.status !== 200) {
        throw rpcError(decode((await response.text()).slice(0, 1 << 20))?.error);
      }
      for await (const [name, text] of eventsOf(response.body, () => { this.#aliveAt = Date.now(); })) {
        const message = decode(text);
        if (name === "error") {
          throw rpcError(message?.error ?? message);
        }
        yield this.#take(message);
      }
    } catch (error) {
      throw error instanceof AssayError ? error : new ConnectionFailed(`${this.#url}: ${error?.cause?.message ?? error?.message}`, { cause: error });
    } finally {
      stop.abort();
      this.#stop.signal.removeEventListener("abort", abort);
    }
  }

  async *#webSocket() {
    const socket = new globalThis.WebSocket(this.#url.replace(/^http/, "ws") + "/ws");
    const waiting = [];
    let wake = () => {};
    const put = (item) => {
      waiting.push(item);
      wake();
    };
    const abort = () => put({ error: new ConnectionFailed("closed") });
    this.#stop.signal.addEventListener("abort", abort);
    socket.addEventListener("open", () => socket.send(JSON.stringify(
      { jsonrpc: "2.0", id: 1, method: "subscribe", params: { ...this.#query, after: this.last } })));
    socket.addEventListener("message", (event) => put({ text: String(event.data) }));
    socket.addEventListener("close", () => put({ error: new ConnectionFailed("the connection was closed") }));
    socket.addEventListener("error", () => put({ error: new ConnectionFailed(`no WebSocket at ${this.#url}`) }));
    try {
      for (;;) {
        while (waiting.length === 0) {
          await new Promise((resolve) => { wake = resolve; });
        }
        const { text, error } = waiting.shift();
        if (error) {
          throw error;
        }
        this.#aliveAt = Date.now();
        const message = decode(text);
        if (message?.error || message?.params?.error) {
          throw rpcError(message.error ?? message.params.error);
        }
        if (message?.method === "subscription") {
          yield this.#take(message.params);
        } else if (message?.id !== 1) {
          throw new ProtocolError("the node sent what nobody asked for");
        }
      }
    } finally {
      this.#stop.signal.removeEventListener("abort", abort);
      socket.close();
    }
  }
}
