import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { GlobalValues } from '../command-line/command.ts';
import type { Shell } from '../shell.ts';
import { asLines } from './as-lines.ts';

interface Item {
  readonly at: number;
  readonly state: string;
}

test('what a list has shown is not shown again, nor what the stream brings from before it', async () => {
  const stdout = new PassThrough();
  const shell = { env: {}, stdin: process.stdin, stdout, stderr: new PassThrough() } as unknown as Shell;
  const globals = { output: undefined, timeout: 1 } as unknown as GlobalValues;
  await asLines<Item>(shell, globals, {
    watch: (listener) => {
      listener.onAll([{ at: 2, state: 'running' }]);
      listener.onChange({ at: 1, state: 'pending' });
      listener.onChange({ at: 2, state: 'running' });
      listener.onChange({ at: 3, state: 'paused' });
      listener.onAll([{ at: 3, state: 'paused' }]);
      return Promise.resolve();
    },
    keyOf: () => 'one',
    markOf: ({ at, state }) => `${state} ${at}`,
    isOlder: (item, known) => item.at < known.at,
    isOver: () => false,
    cells: ({ state }) => [state],
  });
  expect(String(stdout.read())).toBe('running\npaused\n');
});
