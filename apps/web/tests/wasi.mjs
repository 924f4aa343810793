// Runs a program for wasm32-wasip1 in Node: a runner of `cargo test --target wasm32-wasip1`.
//
//   node tests/wasi.mjs PROGRAM.wasm [ARGUMENTS]

import { readFileSync } from 'node:fs';
import { WASI } from 'node:wasi';

const [program] = process.argv.slice(2);
const wasi = new WASI({ version: 'preview1', args: process.argv.slice(2), env: process.env, returnOnExit: true });
const { instance } = await WebAssembly.instantiate(readFileSync(program), wasi.getImportObject());
process.exit(wasi.start(instance));
