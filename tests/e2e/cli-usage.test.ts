import { describe, expect, test } from 'vitest';
import type { CommandTable } from '../../packages/cli/src/command-line/command.ts';
import { commandTable } from '../../packages/cli/src/command-table.ts';
import { TestHome } from '../harness/cli.ts';
import { FakeServer } from '../harness/fake-server.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';

const pathsIn = (table: CommandTable): string[][] =>
  Object.entries(table).flatMap(([name, entry]) =>
    'commands' in entry ? pathsIn(entry.commands).map((path) => [name, ...path]) : [[name]],
  );
const paths = pathsIn(commandTable);

describe('help', () => {
  test('names every command', async () => {
    using home = new TestHome();
    const { code, stdout, stderr } = await home.run(['--help']);
    expect([code, stderr]).toEqual([0, '']);
    for (const name of Object.keys(commandTable)) expect(stdout).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
    for (const option of ['--api-key', '--context', '--api-url', '--output table|json|yaml'])
      expect(stdout).toContain(option);
    expect((await home.run(['help'])).stdout).toBe(stdout);
    expect((await home.run(['-h'])).stdout).toBe(stdout);
  });

  test.each(paths.map((path) => [path.join(' '), path]))('of "%s" has examples of it', async (name, path) => {
    using home = new TestHome();
    const { code, stdout, stderr } = await home.run([...path, '--help']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`Usage: reeve ${name}`);
    expect(stdout).toMatch(new RegExp(`^Examples:\\n  reeve ${name}\\b`, 'm'));
    expect(stdout).toContain('--output table|json|yaml');
    // Help lines fit into a terminal. The settings table of "serve" does not claim to.
    const [help = ''] = stdout.split('\nSettings:');
    expect(help.split('\n').filter((line) => line.length > 100)).toEqual([]);
  });

  test('can be asked for before anything else is right', async () => {
    using home = new TestHome();
    home.writeConfig('{');
    expect((await home.run(['ops', 'pause', '--help'])).code).toBe(0);
    expect((await home.run(['help', 'ops', 'pause'])).stdout).toContain('Usage: reeve ops pause ID');
    expect((await home.run(['ops', '--help'])).stdout).toContain('reeve ops COMMAND');
  });
});

describe('a mistake', () => {
  test.each([
    [[], /^Usage: reeve COMMAND/],
    [['ops'], /^Usage: reeve ops COMMAND/],
    [['logn'], /unknown command "logn"\. Did you mean "login"\?/],
    [['lgoin'], /Did you mean "login"\?/],
    [['frobnicate'], /unknown command "frobnicate"\.\n/],
    [['ops', 'terminat', 'x'], /unknown command "ops terminat"\. Did you mean "terminate"\?/],
    [['help', 'lgout'], /Did you mean "logout"\?/],
    [['help', 'ops', 'puase'], /Did you mean "pause"\?/],
    [['whoami', '--outptu', 'json'], /unknown option "--outptu"\. Did you mean "--output"\?/],
    [['--nonsense', 'whoami'], /unknown option "--nonsense"\.\n/],
    [['whoami', '-x'], /unknown option "-x"/],
    [['whoami', '--output', 'xml'], /--output must be one of table, json, yaml, wide, not "xml"/],
    [['whoami', '--output'], /--output needs a value/],
    [['ops', 'list', '--all=yes'], /--all takes no value/],
    [['ops', 'list', '--per-page', 'many'], /--per-page must be a whole number from 1 to 1000, not "many"/],
    [['ops', 'list', '--per-page', '1001'], /--per-page must be/],
    [['ops', 'list', '--timeout', '0'], /--timeout must be/],
    [['ops', 'list', '--state', 'gone'], /--state must be one of pending, running/],
    [['ops', 'pause'], /ID is missing/],
    [['ops', 'pause', 'a', 'b'], /unexpected argument "b"/],
    [['agents', 'suspend', 'justaname'], /AGENT must be ORG\/TEAM\/AGENT/],
    [['keys', 'create'], /a key needs a LABEL/],
    [['keys', 'create', 'x', '--scope', 'root'], /--scope must be one of read, write, admin/],
    [['keys', 'create', 'x', '--ttl', 'soon'], /--ttl must be a time/],
    [['logs', '--from', 'yesterday'], /--from must be a time/],
    [['logs', '--follow', '--all'], /--follow goes on/],
    [['stop'], /say what to stop/],
    [['stop', '--all', '--org', 'acme'], /--all stands alone/],
    [['audit', 'export', '--format', 'pdf'], /--format must be one of jsonl, csv/],
    [['policy', 'validat'], /unknown command "policy validat"\. Did you mean "validate"\?/],
    [['approvals', 'approve'], /ID is missing/],
    [['approvals', 'approve', ''], /ID is missing/],
    [['keys', 'revoke', '.'], /the id must not be "\."/],
    [['policy', 'show', '..'], /the name must not be "\.\."/],
    [['agents', 'resume', '../ops/t:s'], /the org must not be "\.\."/],
    [['serve', '--htpp', 'x'], /unknown option "--htpp"\. Did you mean "--http"\?/],
  ])('%j is said to be one, with exit code 2', async (args, words) => {
    using home = new TestHome();
    const { code, stdout, stderr } = await home.run(args, { env: { REEVE_API_URL: 'http://127.0.0.1:9' } });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(words);
  });
});

describe('output', () => {
  test('is chosen before and after the command, in both ways of writing an option', async () => {
    using home = new TestHome();
    for (const args of [
      ['--output', 'json', 'whoami'],
      ['whoami', '--output', 'json'],
      ['whoami', '--output=json'],
      ['-o', 'json', 'whoami'],
      ['whoami', '-o=json'],
    ]) {
      expect(JSON.parse((await home.run(args)).stdout)).toEqual({ logged_in: false });
    }
  });

  test('words behind -- are no options', async () => {
    await using server = await FakeServer.start(() => ({
      status: 404,
      json: { status: 404, code: 'op_not_found', detail: 'there is no such operation' },
    }));
    using home = new TestHome();
    await home.run(['ops', 'pause', '--api-url', server.url, '--', '--odd']);
    expect(server.seen[0]?.path).toBe('/api/v1/ops/--odd/pause');
  });

  test('what is typed is one part of a path, whatever it holds', async () => {
    await using server = await FakeServer.start(() => ({ status: 404, json: { status: 404, code: 'op_not_found' } }));
    using home = new TestHome();
    for (const id of ['a/b', '%2e%2e', '...', '../ops', '?x=1', '#y', 'ü;v=1'])
      await home.run(['ops', 'pause', '--api-url', server.url, '--', id]);
    expect(server.seen.map(({ path }) => path.split('/').length)).toEqual(Array.from({ length: 7 }, () => 6));
    expect(server.seen.map(({ path }) => decodeURIComponent(path.split('/')[4] ?? ''))).toEqual([
      'a/b',
      '%2e%2e',
      '...',
      '../ops',
      '?x=1',
      '#y',
      'ü;v=1',
    ]);
  });

  test('that nobody reads to its end is no failure', async () => {
    const many = Array.from({ length: 20_000 }, (_, at) => ({
      id: `key-${at}`,
      label: 'x'.repeat(50),
      scopes: ['read'],
    }));
    await using server = await FakeServer.start(() => ({ json: { items: many, next_cursor: null, total: 20_000 } }));
    using home = new TestHome();
    await using cli = home.start(['keys', 'list', '--api-url', server.url, '-o', 'json']);
    cli.child.stdout.once('data', () => cli.child.stdout.destroy());
    await cli.ended();
    expect([cli.child.exitCode, cli.stderr]).toEqual([0, '']);
  });
});

describe('pages', () => {
  const page = (from: number, next: string | null) => ({
    json: { items: [{ op_id: `t:${from}` }, { op_id: `t:${from + 1}` }], next_cursor: next, total: 6 },
  });
  const start = () =>
    FakeServer.start(({ path }) => {
      const cursor = new URL(path, 'http://x').searchParams.get('cursor');
      return cursor === null ? page(0, 'two') : cursor === 'two' ? page(2, 'three') : page(4, null);
    });

  test('come one at a time, with a word on where the next is', async () => {
    await using server = await start();
    using home = new TestHome();
    const { stdout, stderr } = await home.run(['ops', 'list', '--api-url', server.url, '--per-page', '2']);
    expect(stdout.trimEnd().split('\n')).toHaveLength(3);
    expect(stderr).toBe('2 of 6 shown. There is more: --all, or --cursor two\n');
    const next = await home.json<{ items: { op_id: string }[] }>([
      'ops',
      'list',
      '--api-url',
      server.url,
      '--cursor',
      'two',
    ]);
    expect(next).toMatchObject({ next_cursor: 'three', total: 6 });
    expect(next.items.map(({ op_id: id }) => id)).toEqual(['t:2', 't:3']);
  });

  test('come all with --all', async () => {
    await using server = await start();
    using home = new TestHome();
    const all = await home.json<{ items: { op_id: string }[] }>(['ops', 'list', '--all', '--api-url', server.url]);
    expect(all.items.map(({ op_id: id }) => id)).toEqual(['t:0', 't:1', 't:2', 't:3', 't:4', 't:5']);
    expect(all).toMatchObject({ next_cursor: null, total: 6 });
  });

  test('that lead to themselves are given up', async () => {
    await using server = await FakeServer.start(() => page(0, 'same'));
    using home = new TestHome();
    const { code, stderr } = await home.run(['ops', 'list', '--all', '--api-url', server.url]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('the same page again')]);
  });
});

describe('--version', () => {
  test('shows the version of the command and of the gateway beside it', async () => {
    await using gateway = await TestGateway.start({ args: ['--database', 'memory:'] });
    using home = new TestHome();
    const { code, stdout } = await home.run(['--version', '--api-url', gateway.http, '--api-key', bootstrapKey]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^reeve \d+\.\d+\.\d+\ngateway \d+\.\d+\.\d+ \(http:\/\/127\.0\.0\.1:\d+\)\n$/);
    const data = await home.json<object>(['--version', '--api-url', gateway.http]);
    expect(data).toEqual({
      version: expect.any(String),
      gateway: { api_url: gateway.http, version: expect.any(String) },
    });
  });

  test('says so where there is no gateway, and sends it no credential', async () => {
    using home = new TestHome();
    const { code, stdout } = await home.run(['-V', '--api-url', 'http://127.0.0.1:9']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^reeve \d+\.\d+\.\d+\ngateway not known: cannot reach http:\/\/127\.0\.0\.1:9/);
    await using server = await FakeServer.start(() => ({ json: { version: '9.9.9' } }));
    const { stdout: known } = await home.run(['--version', '--api-url', server.url, '--api-key', 'key']);
    expect(known).toContain('gateway 9.9.9');
    expect(server.seen.map(({ authorization }) => authorization)).toEqual([undefined]);
  });
});
