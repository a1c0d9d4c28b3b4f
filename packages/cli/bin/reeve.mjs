#!/bin/sh
':' //; self=$(readlink -f "$0"); d=${self%/*}; young=; case "$1" in serve) young="--min-semi-space-size=16 --max-semi-space-size=64";; run) young=--min-semi-space-size=8;; esac; while [ -n "$d" ]; do [ -x "$d/node_modules/.bin/node" ] && exec "$d/node_modules/.bin/node" $young "$self" "$@"; d=${d%/*}; done; exec node $young "$self" "$@"
// Shell and JavaScript in one file: the line above replaces the shell by the Node that the repository brings,
// so the process keeps its id and gets its signals directly. The rest is plain JavaScript that any Node can read.
// A gateway gets more room for young objects: what a decision needs is mostly garbage before the room is full, and is never copied.
// A program on a floor begins sooner if nothing is copied before.
if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(
    `reeve needs Node 24 or newer (this is ${process.version}). Run "npm install" in the repository: it brings one.\n`,
  );
  // For the hosts of hooks 2 means no, and 1 means go on.
  process.exit(process.argv[2] === 'hook' ? 2 : 1);
}
// Sources run as they are. What the compiler makes of them is kept beside the package, whose files are as trusted, so that
// only the first start pays for it.
const { createRequire, enableCompileCache } = process.getBuiltinModule('node:module');
const { fileURLToPath } = process.getBuiltinModule('node:url');
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/reeve', import.meta.url)));
// Without promises in between, loading takes less time than by import.
await createRequire(import.meta.url)('../src/main.ts').main();
