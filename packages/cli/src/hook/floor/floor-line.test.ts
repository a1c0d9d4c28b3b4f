import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { joinWords } from '../shell/quote.ts';
import { offFloor, onFloor } from './floor-line.ts';

const floor = { program: ['/opt/a node/node', '/opt/reeve.mjs'], flags: ['--agent', 'acme/core/ada'] };

const commands = [
  'ls',
  '',
  "echo 'it'\\''s' \"$HOME\" `id` $(id) \\\n !x; rm x & | < >",
  "'; rm -rf x; '",
  "''",
  '-- x',
  'printf "%s\n" a\nb\n',
  String.raw`echo $'\'; rm -rf x; echo \''`,
];

test.each(commands)('a shell hands the command on as it was: %j', (command) => {
  const echo = { program: [process.execPath, '-p', 'JSON.stringify(process.argv.slice(1))'], flags: ['--'] };
  const { stdout } = spawnSync('sh', ['-c', String(onFloor(command, echo, 's-1'))], { encoding: 'utf8' });
  const words: unknown = JSON.parse(stdout);
  // Node takes the first "--" for itself.
  expect(words).toEqual(['run', '--', '--run', 's-1', '--', 'bash', '-c', command]);
});

test.each([...commands, ['git', 'push', "it's"]])('it is found again, and gets no second floor: %j', (command) => {
  const line = onFloor(command, floor, 's-1');
  expect(offFloor(line, floor)).toEqual(command);
  expect(onFloor(line, floor, 's-1')).toEqual(line);
  expect(onFloor(line, floor, 's-2')).toEqual(onFloor(command, floor, 's-2'));
});

describe('another floor is none', () => {
  const start = joinWords([...floor.program, 'run', ...floor.flags]);
  test.each([
    `${start} --write /etc --run s-1 -- bash -c ls`,
    `${start} --run s-1 --env KEY -- bash -c ls`,
    `${start} --run s-1 -- bash -c ls; rm x`,
    `${start} --run s-1 -- bash -c 'ls'; rm 'x'`,
    `${start} --run s-1 -- bash -c 'ls' rm`,
    `${start} --run s-1 -- sh -c ls`,
    `${start} --run "$(id)" -- bash -c ls`,
    `reeve run --agent acme/core/ada --run s-1 -- bash -c ls`,
    `${start} --run s-1 -- bash -c `,
  ])('%s', (line) => {
    expect(offFloor(line, floor)).toBe(line);
    expect(offFloor(onFloor(line, floor, 's-1'), floor)).toBe(line);
  });

  test('by words', () => {
    const words = [...floor.program, 'run', ...floor.flags, '--run', 's-1', '--write', '/etc', '--', 'ls'];
    expect(offFloor(words, floor)).toBe(words);
  });
});
