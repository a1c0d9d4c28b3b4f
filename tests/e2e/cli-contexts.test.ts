import { readdirSync, readFileSync, symlinkSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { FakeServer } from '../harness/fake-server.ts';

const list = { json: { items: [], next_cursor: null, total: 0 } };

describe('contexts', () => {
  test('are set, listed, used and deleted', async () => {
    using home = new TestHome();
    const set = await home.run(['context', 'set', 'prod', '--api-url', 'https://prod.example/']);
    expect([set.code, set.stdout]).toEqual([0, 'Context prod is https://prod.example, and is the current one.\n']);
    await home.run(['context', 'set', 'ci', '--api-url', 'http://ci.example:81', '--api-key', 'rvk_secret']);
    expect(home.config()).toEqual({
      current_context: 'prod',
      contexts: {
        prod: { api_url: 'https://prod.example' },
        ci: { api_url: 'http://ci.example:81', api_key: 'rvk_secret' },
      },
    });
    expect([home.mode(), home.mode('config.yaml')]).toEqual(['700', '600']);
    const listed = await home.run(['context', 'list']);
    expect(listed.stdout).toMatch(/^\* +prod +https:\/\/prod\.example/m);
    expect(listed.stdout).not.toContain('rvk_secret');
    expect(await home.json(['context', 'list'])).toEqual({
      current_context: 'prod',
      items: [
        { name: 'prod', api_url: 'https://prod.example', current: true, has_api_key: false, logged_in: false },
        { name: 'ci', api_url: 'http://ci.example:81', current: false, has_api_key: true, logged_in: false },
      ],
    });
    const use = await home.run(['context', 'use', 'ci']);
    expect([use.code, use.stdout]).toEqual([0, 'Now using ci.\n']);
    expect(home.config().current_context).toBe('ci');
    const forget = await home.run(['context', 'set', 'ci', '--forget-key']);
    expect(forget.code).toBe(0);
    expect(home.config().contexts['ci']).toEqual({ api_url: 'http://ci.example:81' });
    const gone = await home.run(['context', 'delete', 'ci']);
    expect([gone.code, gone.stdout]).toEqual([0, 'Deleted ci.\n']);
    expect(home.config()).toEqual({ contexts: { prod: { api_url: 'https://prod.example' } } });
    expect(readdirSync(join(home.path, '.reeve'))).toEqual(['config.yaml']);
  });

  test('that are deleted take their session along, and leave those of others', async () => {
    using home = new TestHome();
    const session = {
      token: 'a.b.c',
      expires_at: 1_900_000_000,
      scopes: ['read'],
      source_key: 'key',
      api_url: 'http://a.example',
    };
    home.writeConfig({ contexts: { a: { api_url: 'http://a.example' }, b: { api_url: 'http://b.example' } } });
    home.writeCredentials({ sessions: { a: session, b: session } });
    expect((await home.run(['context', 'delete', 'a'])).stdout).toBe('Deleted a and its session.\n');
    expect(Object.keys(home.sessions())).toEqual(['b']);
  });

  test('keep what somebody else has written into the file', async () => {
    using home = new TestHome();
    home.writeConfig('future: {setting: 1}\ncontexts:\n  a: {api_url: http://a.example, colour: green}\n');
    await home.run(['context', 'set', 'a', '--api-url', 'http://b.example']);
    expect(home.config()).toEqual({
      future: { setting: 1 },
      current_context: 'a',
      contexts: { a: { api_url: 'http://b.example', colour: 'green' } },
    });
  });

  test('stay in a file that is a link', async () => {
    using home = new TestHome();
    mkdirSync(join(home.path, '.reeve'), { mode: 0o700 });
    writeFileSync(join(home.path, 'dotfile.yaml'), 'contexts: {}\n', { mode: 0o600 });
    symlinkSync(join(home.path, 'dotfile.yaml'), home.configPath);
    await home.run(['context', 'set', 'a', '--api-url', 'http://a.example']);
    expect(lstatSync(home.configPath).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(home.path, 'dotfile.yaml'), 'utf8')).toContain('http://a.example');
  });

  test.each([
    [['context', 'use', 'prdo'], 1, /there is no context "prdo"\. Did you mean "prod"\?/],
    [['context', 'delete', 'nothing-like-it'], 1, /there is no context "nothing-like-it"\.$/m],
    [['context', 'set', 'new'], 2, /a new context needs --api-url URL/],
    [['context', 'set', 'a b', '--api-url', 'http://a.example'], 2, /NAME must be/],
    [['context', 'set', 'a', '--api-url', 'ftp://a.example'], 2, /--api-url must be a URL/],
    [['context', 'use'], 2, /NAME is missing/],
    [['context'], 2, /Usage: reeve context/],
  ])('%j is refused', async (args, code, words) => {
    using home = new TestHome();
    home.writeConfig({ contexts: { prod: { api_url: 'http://a.example' } } });
    const exit = await home.run(args);
    expect([exit.code, exit.stdout]).toEqual([code, '']);
    expect(exit.stderr).toMatch(words);
  });

  test('set at the same time are all there', async () => {
    using home = new TestHome();
    const names = Array.from({ length: 6 }, (_, at) => `c${at}`);
    await Promise.all(names.map((name) => home.run(['context', 'set', name, '--api-url', 'http://a.example'])));
    expect(Object.keys(home.config().contexts).toSorted()).toEqual(names);
  });
});

describe('the context of a command', () => {
  test('is the one of the flag, else of the variable, else the current one; options stand before and after the command', async () => {
    await using one = await FakeServer.start(() => list);
    await using two = await FakeServer.start(() => list);
    await using three = await FakeServer.start(() => list);
    using home = new TestHome();
    home.writeConfig({
      current_context: 'one',
      contexts: { one: { api_url: one.url, api_key: 'k1' }, two: { api_url: two.url, api_key: 'k2' } },
    });
    const calls: [string[], Record<string, string>, FakeServer, string | undefined][] = [
      [['ops', 'list'], {}, one, 'Bearer k1'],
      [['ops', 'list'], { REEVE_CONTEXT: 'two' }, two, 'Bearer k2'],
      [['ops', 'list', '--context', 'one'], { REEVE_CONTEXT: 'two' }, one, 'Bearer k1'],
      [['--context', 'two', 'ops', 'list'], {}, two, 'Bearer k2'],
      [['ops', '--context', 'two', 'list'], {}, two, 'Bearer k2'],
      [['ops', 'list', '--context=two'], {}, two, 'Bearer k2'],
      [['ops', 'list', '--api-url', three.url, '--api-key', 'k3'], {}, three, 'Bearer k3'],
      [['--api-url', three.url, '--api-key', 'k3', 'ops', 'list'], {}, three, 'Bearer k3'],
      [['ops', 'list'], { REEVE_API_URL: three.url, REEVE_API_KEY: 'k4' }, three, 'Bearer k4'],
      [['ops', 'list', '--api-url', two.url], { REEVE_API_URL: three.url, REEVE_API_KEY: 'k4' }, two, 'Bearer k4'],
      [['ops', 'list'], { REEVE_API_URL: '', REEVE_API_KEY: '', REEVE_CONTEXT: '' }, one, 'Bearer k1'],
    ];
    for (const [args, env, server, bearer] of calls) {
      const before = server.seen.length;
      const { code, stderr } = await home.run(args, { env });
      expect({ args, env, code, stderr }).toEqual({ args, env, code: 0, stderr: '' });
      expect(server.seen.slice(before).map(({ authorization }) => authorization)).toEqual([bearer]);
    }
  });

  test('that nobody knows sends nothing anywhere', async () => {
    await using server = await FakeServer.start(() => list);
    using home = new TestHome();
    home.writeConfig({ current_context: 'staging', contexts: { staging: { api_url: server.url, api_key: 'k' } } });
    const { code, stderr } = await home.run(['ops', 'list', '--context', 'stagin']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/no context "stagin"\. Did you mean "staging"\? There are: staging\./);
    expect(server.seen).toEqual([]);
  });

  test('may have a path in its URL', async () => {
    await using server = await FakeServer.start(() => list);
    using home = new TestHome();
    expect((await home.run(['ops', 'list', '--api-url', `${server.url}/behind/proxy/`])).code).toBe(0);
    expect(server.seen[0]?.path).toBe('/behind/proxy/api/v1/ops');
  });
});

describe('a config file', () => {
  test.each([
    ['is not YAML', 'contexts: {a: [', /config\.yaml is not YAML: /],
    ['is a list', '- a\n', /must be a map/],
    ['has contexts of another kind', 'contexts: 7\n', /"contexts" must be a map/],
    ['has a context of another kind', 'contexts:\n  a: text\n', /"contexts\.a" must be a map/],
    ['has a URL of another kind', 'contexts:\n  a:\n    api_url: 7\n', /"contexts\.a\.api_url" must be text/],
    ['has a current context of another kind', 'current_context: [a]\n', /"current_context" must be text/],
    [
      'has a URL that is none',
      'current_context: a\ncontexts:\n  a:\n    api_url: nowhere\n',
      /api_url of the context "a" must be a URL/,
    ],
    [
      'has a current context that it does not know',
      'current_context: b\ncontexts:\n  a:\n    api_url: http://a.example\n',
      /no context "b"/,
    ],
  ])('that %s is an error of configuration', async (_what, text, words) => {
    using home = new TestHome();
    home.writeConfig(text);
    const { code, stdout, stderr } = await home.run(['ops', 'list']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/ {4}at .*\.ts:/);
    expect(readFileSync(home.configPath, 'utf8')).toBe(text);
  });

  test('that cannot be read is said to be so', async () => {
    using home = new TestHome();
    mkdirSync(home.configPath, { recursive: true });
    const { code, stderr } = await home.run(['ops', 'list']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/cannot read .*config\.yaml: it is a folder/)]);
  });

  test('that is empty is as good as none', async () => {
    using home = new TestHome();
    home.writeConfig('');
    expect(await home.json(['context', 'list'])).toEqual({ current_context: null, items: [] });
  });

  test.each(['__proto__', 'constructor', 'toString'])('may be asked for a context named %s', async (name) => {
    using home = new TestHome();
    home.writeConfig({ contexts: {} });
    expect((await home.run(['ops', 'list', '--context', name])).code).toBe(2);
    expect(await home.json(['whoami', '--context', name])).toEqual({ logged_in: false });
  });
});
