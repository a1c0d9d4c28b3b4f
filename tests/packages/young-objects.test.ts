import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const command = 'packages/cli/bin/reeve.mjs';
const room = '--min-semi-space-size=16 --max-semi-space-size=64';

/** What Node is started with, by a Node that prints it. */
function nodeArguments(...args: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-start-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const node = join(folder, 'node_modules/.bin/node');
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  writeFileSync(node, '#!/bin/sh\necho "$@"\n');
  chmodSync(node, 0o755);
  const copy = join(folder, 'reeve.mjs');
  copyFileSync(command, copy);
  return execFileSync(copy, args, { encoding: 'utf8' }).trim().replace(copy, 'reeve.mjs');
}

test('a gateway gets more room for young objects, a start of a program some, and other commands none', () => {
  expect(nodeArguments('serve', '--data', 'a b')).toBe(`${room} reeve.mjs serve --data a b`);
  expect(nodeArguments('run', '--', 'a')).toBe('--min-semi-space-size=8 reeve.mjs run -- a');
  expect(nodeArguments('check')).toBe('reeve.mjs check');
  expect(nodeArguments()).toBe('reeve.mjs');
});

test('it gets the same room in the image', () => {
  expect(readFileSync('deploy/image/assemble.sh', 'utf8')).toContain(`young="${room}"`);
});
