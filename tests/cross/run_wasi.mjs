#!/usr/bin/env -S node --no-warnings
// SPDX-License-Identifier: Apache-2.0

// run_wasi.mjs PROGRAM: runs a program compiled for WASI and exits with its status. It sees no file and no variable.
import { readFile } from "node:fs/promises";
import { WASI } from "node:wasi";

const program = process.argv[2];
const wasi = new WASI({ version: "preview1", args: [program], returnOnExit: true });
const module = await WebAssembly.compile(await readFile(program));
process.exitCode = wasi.start(await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport }));
