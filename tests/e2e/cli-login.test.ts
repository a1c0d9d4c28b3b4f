import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { makeKey } from '../harness/credentials.ts';
import { FakeServer } from '../harness/fake-server.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';

const tokenPath = '/api/v1/auth/token';
const day = 86_400;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start({ args: ['--database', 'memory:'] });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const now = () => Math.floor(Date.now() / 1000);
const grant = (more: object = {}) => ({
  json: { token: 'fake.token.one', expires_at: now() + day, scopes: ['read', 'write'], ...more },
});

describe('login', () => {
  test('posts the key to the token route and keeps the session for the active context', async () => {
    using home = new TestHome();
    home.writeConfig({ current_context: 'prod', contexts: { prod: { api_url: gateway.http } } });
    const { code, stdout, stderr } = await home.run(['login', '--api-key', bootstrapKey]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^[^\n]*prod[^\n]*\n$/);
    const { prod, ...others } = home.sessions();
    expect(others).toEqual({});
    expect(prod).toEqual({
      token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      expires_at: expect.any(Number),
      scopes: ['read', 'write', 'admin'],
      source_key: bootstrapKey,
      api_url: gateway.http,
    });
    expect(prod?.expires_at).toBeGreaterThan(now() + day - 600);
  });

  test('sends the key as bearer, and no body without --scope', async () => {
    using home = new TestHome();
    await using server = await FakeServer.start(() => grant());
    const { code } = await home.run(['login', '--api-url', server.url, '--api-key', 'some-key-of-mine']);
    expect(code).toBe(0);
    expect(server.seen).toEqual([
      { method: 'POST', path: tokenPath, authorization: 'Bearer some-key-of-mine', body: '' },
    ]);
  });

  test.each(['read', 'write', 'admin'])('--scope %s asks for that scope alone', async (scope) => {
    using home = new TestHome();
    await using server = await FakeServer.start(() => grant({ scopes: [scope] }));
    const { code, stdout } = await home.run(['login', '--scope', scope, '--api-url', server.url, '--api-key', 'key']);
    expect(code).toBe(0);
    expect(JSON.parse(server.seen[0]?.body ?? '')).toEqual({ scopes: [scope] });
    expect(stdout).toContain(scope);
    expect(home.sessions()[server.url]?.scopes).toEqual([scope]);
  });

  test('without --scope all scopes of the key are granted, with it only that one', async () => {
    using home = new TestHome();
    const { key } = await makeKey(gateway, { scopes: ['read', 'write'] });
    await home.run(['login', '--api-url', gateway.http, '--api-key', key]);
    expect(home.sessions()[gateway.http]?.scopes).toEqual(['read', 'write']);
    await home.run(['login', '--api-url', gateway.http, '--api-key', key, '--scope', 'read']);
    expect(home.sessions()[gateway.http]?.scopes).toEqual(['read']);
  });

  test.each([
    [
      'a flag comes before a variable and the context',
      ['--api-key', 'of-the-flag'],
      { REEVE_API_KEY: 'of-the-variable' },
      'of-the-flag',
    ],
    ['a variable comes before the context', [], { REEVE_API_KEY: 'of-the-variable' }, 'of-the-variable'],
    ['the key of the context is used without either', [], {}, 'of-the-context'],
    ['an empty variable counts as unset', [], { REEVE_API_KEY: '' }, 'of-the-context'],
    ['an empty flag counts as unset', ['--api-key', ''], {}, 'of-the-context'],
  ])('%s', async (_rule, args, env, expected) => {
    using home = new TestHome();
    await using server = await FakeServer.start(() => grant());
    home.writeConfig({ current_context: 'c', contexts: { c: { api_url: server.url, api_key: 'of-the-context' } } });
    const { code } = await home.run(['login', ...args], { env });
    expect(code).toBe(0);
    expect(server.seen.map((request) => request.authorization)).toEqual([`Bearer ${expected}`]);
  });

  test.each([
    ['24 hours', day, /24 hours/],
    ['three days', 3 * day, /3 days/],
    ['20 minutes', 20 * 60, /(19|20) minutes/],
    ['half a minute', 30, /less than a minute/],
  ])(
    'prints one line with the context, the scopes and that it expires in %s; never the key or the token',
    async (_, left, hint) => {
      using home = new TestHome();
      await using server = await FakeServer.start(() => grant({ expires_at: now() + left }));
      home.writeConfig({ current_context: 'prod', contexts: { prod: { api_url: server.url } } });
      const { stdout, stderr } = await home.run(['login', '--api-key', 'the-key-itself']);
      expect(stdout).toMatch(/^Logged in to prod[^\n]*read, write[^\n]*\n$/);
      expect(stdout).toMatch(hint);
      expect(stdout + stderr).not.toMatch(/the-key-itself|fake\.token/);
    },
  );

  test('names the URL where the context has no name', async () => {
    using home = new TestHome();
    await using server = await FakeServer.start(() => grant());
    const { stdout } = await home.run(['login', '--api-url', `${server.url}/`, '--api-key', 'key']);
    expect(stdout).toContain(`Logged in to ${server.url};`);
    expect(Object.keys(home.sessions())).toEqual([server.url]);
    const who = await home.json<{ context: string }>(['whoami', '--api-url', server.url]);
    expect(who.context).toBe(server.url);
  });

  test.each(['json', 'yaml'])('with --output %s shows what whoami shows', async (format) => {
    using home = new TestHome();
    await using server = await FakeServer.start(() => grant());
    const { stdout } = await home.run(['login', '--api-url', server.url, '--api-key', 'the-key-itself', '-o', format]);
    expect(stdout).toMatch(/"?logged_in"?: true/);
    expect(stdout).not.toMatch(/the-key-itself|fake\.token/);
  });
});

describe('a key that is asked for', () => {
  test('is asked for on stderr, and read from standard input where that is no terminal', async () => {
    using home = new TestHome();
    const { code, stdout, stderr } = await home.run(['login', '--api-url', gateway.http], {
      input: `${bootstrapKey}\n`,
    });
    expect(code).toBe(0);
    expect(stderr).toContain('API key:');
    expect(stdout).not.toContain('API key:');
    expect(stdout + stderr).not.toContain(bootstrapKey);
    expect(home.sessions()[gateway.http]?.source_key).toBe(bootstrapKey);
  });

  test.each([
    ['an empty line', '\n'],
    ['blanks', '   \t \n'],
    ['nothing at all', ''],
  ])('is refused when it is %s', async (_what, input) => {
    using home = new TestHome();
    await using server = await FakeServer.start(() => grant());
    const { code, stderr, stdout } = await home.run(['login', '--api-url', server.url], { input });
    expect(code).toBe(1);
    expect(stderr).toContain('error: no API key provided');
    expect(stdout).toBe('');
    expect(server.seen).toEqual([]);
    expect(home.sessions()).toEqual({});
  });

  test('is one line: nobody has to close the input behind it', async () => {
    using home = new TestHome();
    await using cli = home.start(['login', '--api-url', gateway.http], { keepInputOpen: true });
    await cli.says(/API key:/, 'stderr');
    cli.type(`${bootstrapKey}\n`);
    await cli.ended();
    expect(cli.child.exitCode).toBe(0);
    expect(home.sessions()[gateway.http]?.source_key).toBe(bootstrapKey);
  });

  test('is not asked for where there is one already', async () => {
    using home = new TestHome();
    const { stderr } = await home.run(['login', '--api-url', gateway.http, '--api-key', bootstrapKey], {
      input: 'other\n',
    });
    expect(stderr).toBe('');
  });

  test('is not shown on a terminal while it is typed', async () => {
    using home = new TestHome();
    await using cli = home.startOnTerminal(['login', '--api-url', gateway.http]);
    await cli.says(/API key: ?$/);
    cli.type(`xx\u0015${bootstrapKey}z\u007f\r`);
    await cli.ended();
    expect(cli.child.exitCode).toBe(0);
    expect(cli.stdout).toMatch(/API key:\s+Logged in to/);
    expect(cli.stdout).not.toContain(bootstrapKey.slice(0, 12));
    expect(home.sessions()[gateway.http]?.source_key).toBe(bootstrapKey);
  });

  test('may be pasted with the marks that terminals put around what is pasted', async () => {
    using home = new TestHome();
    await using cli = home.startOnTerminal(['login', '--api-url', gateway.http]);
    await cli.says(/API key: ?$/);
    cli.type(`\u001b[200~${bootstrapKey}\u001b[201~\r`);
    await cli.ended();
    expect(home.sessions()[gateway.http]?.source_key).toBe(bootstrapKey);
  });

  test.each([
    ['blank', '\r'],
    ['ended by Ctrl-D', '\u0004'],
  ])('is refused on a terminal when it is %s', async (_what, keys) => {
    using home = new TestHome();
    await using cli = home.startOnTerminal(['login', '--api-url', gateway.http]);
    await cli.says(/API key: ?$/);
    cli.type(keys);
    await cli.ended();
    expect(cli.child.exitCode).toBe(1);
    expect(cli.stdout).toContain('error: no API key provided');
  });

  test('Ctrl-C at the question ends it without a session, and the terminal shows again what is typed', async () => {
    using home = new TestHome();
    await using cli = home.startOnTerminal(['login', '--api-url', gateway.http], { afterwards: 'stty -a' });
    await cli.says(/API key: ?$/);
    cli.type('rvk_half\u0003');
    await cli.ended();
    expect(cli.child.exitCode).toBe(130);
    expect(cli.stdout).toMatch(/\becho\b/);
    expect(cli.stdout).not.toMatch(/-echo\b/);
    expect(cli.stdout).not.toContain('rvk_half');
    expect(home.sessions()).toEqual({});
  });

  test('SIGINT at the question ends it, too', async () => {
    using home = new TestHome();
    await using cli = home.start(['login', '--api-url', gateway.http], { keepInputOpen: true });
    await cli.says(/API key:/, 'stderr');
    cli.child.kill('SIGINT');
    await cli.ended();
    expect(cli.child.signalCode).toBe('SIGINT');
    expect(home.sessions()).toEqual({});
  });
});

describe('a login that fails', () => {
  test('says that the key was rejected, and nothing of the key', async () => {
    using home = new TestHome();
    const wrong = 'rvk_bbbbbbbbbbbb_01234567890123456789012345678901234567891ssRG8';
    const { code, stdout, stderr } = await home.run(['login', '--api-url', gateway.http, '--api-key', wrong]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^authentication failed: the API key was rejected$/m);
    expect(stderr).toContain('checksum');
    expect(stdout + stderr).not.toContain(wrong);
    expect(home.sessions()).toEqual({});
  });

  test('says no more than that where the key looks right', async () => {
    using home = new TestHome();
    const { key, id } = await makeKey(gateway);
    await gateway.api.post(`/api/v1/iam/api-keys/${id}/revoke`, bootstrapKey);
    const { code, stderr } = await home.run(['login', '--api-url', gateway.http, '--api-key', key]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'authentication failed: the API key was rejected\n' });
  });

  test('shows the message of the server where the scope is more than the key has', async () => {
    using home = new TestHome();
    const { key } = await makeKey(gateway, { scopes: ['read'] });
    const { code, stderr } = await home.run(['login', '--scope', 'admin', '--api-url', gateway.http, '--api-key', key]);
    const said = await gateway.api.post<{ detail: string }>(tokenPath, key, { scopes: ['admin'] });
    expect(code).toBe(1);
    expect(said.body.detail).toContain('admin');
    expect(stderr).toContain(said.body.detail);
    expect(home.sessions()).toEqual({});
  });

  test('leaves the session that was there', async () => {
    using home = new TestHome();
    await home.run(['login', '--api-url', gateway.http, '--api-key', bootstrapKey]);
    const before = home.sessions();
    const { code } = await home.run(['login', '--api-url', gateway.http, '--api-key', 'wrong']);
    expect(code).toBe(1);
    expect(home.sessions()).toEqual(before);
  });

  test.each([
    ['a scope that there is not', ['--scope', 'root'], /--scope must be one of read, write, admin/],
    ['a URL that is none', ['--api-url', 'nowhere'], /--api-url must be a URL/],
    ['a URL with a password', ['--api-url', 'https://a:b@example.com'], /must not hold a user or a password/],
    ['a context that nobody knows', ['--context', 'prdo'], /no context "prdo"\. Did you mean "prod"\?/],
    ['an argument', ['now'], /unexpected argument "now"/],
  ])('is a mistake of usage with %s', async (_what, args, words) => {
    using home = new TestHome();
    home.writeConfig({ contexts: { prod: { api_url: gateway.http } } });
    const { code, stderr } = await home.run(['login', '--api-key', bootstrapKey, ...args]);
    expect(code).toBe(2);
    expect(stderr).toMatch(words);
  });

  test('says so where a key cannot be one', async () => {
    using home = new TestHome();
    const { code, stderr } = await home.run(['login', '--api-url', gateway.http, '--api-key', 'käse\u0007']);
    expect(code).toBe(1);
    expect(stderr).toContain('characters that no API key has');
    expect(stderr).not.toContain('käse');
  });
});

test('two logins at once lose nothing', async () => {
  using home = new TestHome();
  const names = Array.from({ length: 6 }, (_, at) => `context-${at}`);
  home.writeConfig({ contexts: Object.fromEntries(names.map((name) => [name, { api_url: gateway.http }])) });
  const exits = await Promise.all(
    names.map((name) => home.run(['login', '--context', name, '--api-key', bootstrapKey])),
  );
  expect(exits.map(({ code, stderr }) => [code, stderr])).toEqual(names.map(() => [0, '']));
  expect(Object.keys(home.sessions()).toSorted()).toEqual(names);
  const left = await import('node:fs').then(({ readdirSync }) => readdirSync(`${home.path}/.reeve`));
  expect(left.toSorted()).toEqual(['config.yaml', 'credentials.yaml']);
});

test('a lock that a killed command has left behind holds nobody up', async () => {
  using home = new TestHome();
  const child = home.start(['whoami']);
  await child.ended();
  home.write('credentials.yaml.lock', `${child.child.pid} 0.5`);
  const { code } = await home.run(['login', '--api-url', gateway.http, '--api-key', bootstrapKey]);
  expect(code).toBe(0);
  expect(Object.keys(home.sessions())).toEqual([gateway.http]);
});

test('a login to a context that is not in the file keeps its URL', async () => {
  using home = new TestHome();
  await home.run(['login', '--context', 'loose', '--api-url', gateway.http, '--api-key', bootstrapKey]);
  expect(home.sessions()['loose']?.api_url).toBe(gateway.http);
  const who = await home.json<object>(['whoami', '--context', 'loose']);
  expect(who).toMatchObject({ logged_in: true, context: 'loose', api_url: gateway.http });
});
