import { describe, expect, test } from 'vitest';
import type { Command, CommandTable } from './command.ts';
import { defineCommand } from './command.ts';
import { parseCommandLine } from './parse-command-line.ts';
import { suggest } from './suggest.ts';
import { choice, flag, number, optional, required, text, texts } from './values.ts';

const command = defineCommand({
  args: { id: required('An id.'), file: optional('A file.') },
  options: {
    all: flag('All.', { short: 'a' }),
    orgName: text('ORG', 'An org.', { aliases: ['org'] }),
    scope: texts('SCOPE', 'Scopes.'),
    kind: choice(['one', 'two'], 'A kind.'),
    count: number('N', 'How many.', { min: 1, max: 10 }),
  },
  examples: [],
  run: () => Promise.resolve(0),
});
const table: CommandTable = {
  do: { summary: 'Does.', load: () => Promise.resolve(command as Command) },
  wrap: {
    summary: 'Wraps.',
    load: () =>
      Promise.resolve({
        args: {},
        options: { all: flag('All.') },
        rest: { placeholder: '-- COMMAND', summary: 'A command.' },
        examples: [],
        run: () => Promise.resolve(0),
      }),
  },
  group: {
    summary: 'A group.',
    commands: { sub: { summary: 'Subs.', load: () => Promise.resolve(command as Command) } },
  },
};

async function inputOf(...argv: string[]) {
  const parsed = await parseCommandLine(table, argv);
  if (parsed.kind !== 'run') throw new Error(`it is ${parsed.kind}`);
  return parsed.input as unknown as {
    options: Record<string, unknown>;
    args: Record<string, unknown>;
    globals: Record<string, unknown>;
    rest: readonly string[];
  };
}

describe('a command line', () => {
  test('has arguments and options in any order', async () => {
    const expected = { all: true, orgName: 'acme', scope: ['a', 'b', 'c'], kind: 'two', count: 3 };
    for (const argv of [
      ['do', 'x', 'y', '--all', '--org-name', 'acme', '--scope', 'a,b', '--scope=c', '--kind', 'two', '--count', '3'],
      ['do', '--scope', 'a, b', '-a', 'x', '--org=acme', '--kind=two', 'y', '--count=3', '--scope', 'c'],
    ]) {
      const { options, args } = await inputOf(...argv);
      expect(options).toEqual(expected);
      expect(args).toEqual({ id: 'x', file: 'y' });
    }
  });

  test('has any number of words after its options, if the command takes them', async () => {
    const { options, rest } = await inputOf('wrap', '--all', '--', 'npx', '-y', '--all', '--', 'x');
    expect([options, rest]).toEqual([{ all: true }, ['npx', '-y', '--all', '--', 'x']]);
    expect((await inputOf('wrap')).rest).toEqual([]);
  });

  test('leaves out what is not given', async () => {
    const { options, args, globals } = await inputOf('do', 'x');
    expect(options).toEqual({ all: false, orgName: undefined, scope: [], kind: undefined, count: undefined });
    expect(args).toEqual({ id: 'x', file: undefined });
    expect(globals).toEqual({
      apiKey: undefined,
      context: undefined,
      apiUrl: undefined,
      output: 'table',
      isWide: false,
      timeout: 30,
    });
  });

  test('has global options anywhere, and the last one counts', async () => {
    const { globals } = await inputOf(
      '--output',
      'yaml',
      'group',
      '--context',
      'c',
      'sub',
      '--api-key',
      ' k ',
      'x',
      '-o',
      'json',
    );
    expect(globals).toMatchObject({ output: 'json', context: 'c', apiKey: 'k' });
  });

  test('takes an agent without an org for a word', async () => {
    expect((await inputOf('do', '-/-/bot', '-a')).args).toMatchObject({ id: '-/-/bot' });
  });

  test('takes values that begin with a hyphen, and "-" for a word', async () => {
    expect(await inputOf('do', '-', '--org', '--all')).toMatchObject({
      args: { id: '-' },
      options: { orgName: '--all', all: false },
    });
    expect(await inputOf('do', '--', '--all', '--')).toMatchObject({ args: { id: '--all', file: '--' } });
  });

  test.each([
    [['do'], 'ID is missing'],
    [['do', ''], 'ID is missing'],
    [['do', 'a', 'b', 'c'], 'unexpected argument "c"'],
    [['do', 'a', '--kind', 'six'], '--kind must be one of one, two, not "six"'],
    [['do', 'a', '--count', '1.5'], '--count must be a whole number'],
    [['do', 'a', '--count', '-1'], '--count must be a whole number'],
    [['do', 'a', '--all=x'], '--all takes no value'],
    [['do', 'a', '--org'], '--org needs a value: ORG'],
    [['do', 'a', '--version'], 'unknown option "--version"'],
    [['toString'], 'unknown command "toString"'],
    [['group', 'constructor'], 'unknown command "group constructor"'],
  ])('%j is refused', async (argv, words) => {
    await expect(parseCommandLine(table, argv)).rejects.toThrow(words);
  });

  test('may ask for help or the version instead', async () => {
    expect(await parseCommandLine(table, ['do', '--help'])).toEqual({ kind: 'help', path: ['do'], isMisused: false });
    expect(await parseCommandLine(table, ['group'])).toEqual({ kind: 'help', path: ['group'], isMisused: true });
    expect(await parseCommandLine(table, [])).toEqual({ kind: 'help', path: [], isMisused: true });
    expect(await parseCommandLine(table, ['--version'])).toMatchObject({ kind: 'version' });
  });
});

test.each([
  ['logn', 'login'],
  ['lgoin', 'login'],
  ['LOGIN', 'login'],
  ['loginn', 'login'],
  ['whoam', 'whoami'],
  ['ter', 'terminate'],
  ['x', undefined],
  ['frobnicate', undefined],
])('%j suggests %j', (typed, expected) => {
  expect(suggest(typed, ['login', 'logout', 'whoami', 'terminate', 'ops'])).toBe(expected);
});
