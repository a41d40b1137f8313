// SPDX-License-Identifier: Apache-2.0
// The referee for browsers (docs/operations/referee.md), loaded when somebody wants it.

let referee = null; // a promise

/** Whether this node serves the referee: a build without clang for WebAssembly has none. */
export async function is_served() {
  const response = await fetch("/files.json");
  return response.ok && (await response.json()).files.includes("/referee.js");
}

export async function load() {
  referee ??= import("/referee.js").then((module) => module.loadReferee()).catch((error) => {
    referee = null;
    throw error;
  });
  return referee;
}
