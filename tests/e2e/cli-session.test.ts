import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';

const day = 86_400;
const now = () => Math.floor(Date.now() / 1000);
const secretToken = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start({ args: ['--database', 'memory:'] });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const session = (more: object = {}) => ({
  token: secretToken,
  expires_at: now() + day,
  scopes: ['read', 'write'],
  source_key: bootstrapKey,
  api_url: 'http://gateway.example:8080',
  ...more,
});

function homeWith(sessions: Record<string, unknown>, contexts: Record<string, unknown> = {}): TestHome {
  const home = new TestHome();
  home.writeConfig({
    current_context: 'prod',
    contexts: { prod: { api_url: 'http://gateway.example:8080' }, ...contexts },
  });
  home.writeCredentials({ sessions });
  return home;
}

describe('whoami', () => {
  test('shows the projection of the session and nothing else', async () => {
    using home = homeWith({ prod: session() });
    const who = await home.json<{ expires_at: number; expires_in_secs: number }>(['whoami']);
    expect(who).toEqual({
      logged_in: true,
      context: 'prod',
      api_url: 'http://gateway.example:8080',
      scopes: ['read', 'write'],
      expires_at: expect.any(Number),
      expires_in_secs: expect.any(Number),
      expired: false,
      source_key_hint: 'rvk_abcdefghijkl…',
    });
    expect(Math.abs(who.expires_at - now() - who.expires_in_secs)).toBeLessThan(60);
  });

  test('carries the same data in every form, and never the token or the whole key', async () => {
    using home = homeWith({ prod: session() });
    const table = await home.run(['whoami']);
    const yaml = await home.run(['whoami', '--output', 'yaml']);
    const json = await home.json<Record<string, unknown>>(['whoami']);
    const { expires_in_secs: _, ...rest } = parse(yaml.stdout) as Record<string, unknown>;
    expect(rest).toEqual({ ...json, expires_in_secs: undefined });
    for (const value of [
      'prod',
      'http://gateway.example:8080',
      'read, write',
      String(json['expires_at']),
      'rvk_abcdefghijkl…',
    ]) {
      expect(table.stdout).toContain(value);
    }
    for (const { code, stdout, stderr } of [table, yaml, await home.run(['whoami', '-o', 'json'])]) {
      expect(code).toBe(0);
      expect(stdout + stderr).not.toContain(secretToken);
      expect(stdout + stderr).not.toContain(bootstrapKey);
      expect(stdout + stderr).not.toContain(secretToken.split('.')[1]);
    }
  });

  test('says that a session has expired', async () => {
    using home = homeWith({ prod: session({ expires_at: now() - 10 }) });
    expect(await home.json(['whoami'])).toMatchObject({ logged_in: true, expired: true, expires_in_secs: 0 });
    expect((await home.run(['whoami'])).stdout).toContain('expired');
  });

  test('without a session exits 0 and tells how to log in', async () => {
    using home = new TestHome();
    const { code, stdout } = await home.run(['whoami']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/not logged in/i);
    expect(stdout).toContain('reeve login');
  });

  test.each(['json', 'yaml'])('without a session is only {logged_in: false} in %s', async (format) => {
    using home = new TestHome();
    const { code, stdout } = await home.run(['whoami', '--output', format]);
    expect(code).toBe(0);
    expect(parse(stdout)).toEqual({ logged_in: false });
  });

  test('hints at a key of another form with a few of its characters', async () => {
    using home = homeWith({ prod: session({ source_key: 'abcdefghijklmnopqrstuvwxyz0123456789' }) });
    expect(await home.json(['whoami'])).toMatchObject({ source_key_hint: 'abcdefgh…' });
    using other = homeWith({ prod: session({ source_key: 'abcdef' }) });
    expect(await other.json(['whoami'])).toMatchObject({ source_key_hint: 'ab…' });
  });

  test('speaks of the session of the context that is asked for, and of no other URL than its own', async () => {
    using home = homeWith(
      { prod: session(), staging: session({ api_url: 'http://staging.example', scopes: ['read'] }) },
      { staging: { api_url: 'http://staging.example' } },
    );
    expect(await home.json(['whoami', '--context', 'staging'])).toMatchObject({ context: 'staging', scopes: ['read'] });
    expect(await home.json(['whoami'], { env: { REEVE_CONTEXT: 'staging' } })).toMatchObject({ context: 'staging' });
    expect(await home.json(['whoami', '--context', 'prod'], { env: { REEVE_CONTEXT: 'staging' } })).toMatchObject({
      context: 'prod',
    });
    expect(await home.json(['whoami'], { env: { REEVE_CONTEXT: '' } })).toMatchObject({ context: 'prod' });
    expect(await home.json(['whoami', '--context', 'nobody'])).toEqual({ logged_in: false });
    expect(await home.json(['whoami', '--api-url', 'http://elsewhere.example'])).toEqual({ logged_in: false });
    expect(await home.json(['whoami'], { env: { REEVE_API_URL: 'http://elsewhere.example' } })).toEqual({
      logged_in: false,
    });
  });
});

describe('logout', () => {
  test('removes the session of the active context alone, and does not call anybody', async () => {
    using home = homeWith({ prod: session(), staging: session({ scopes: ['read'] }) });
    const { code, stdout, stderr } = await home.run(['logout']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Logged out of prod\b.*\n$/);
    expect(Object.keys(home.sessions())).toEqual(['staging']);
  });

  test('does not revoke the key', async () => {
    using home = new TestHome();
    await home.run(['login', '--api-url', gateway.http, '--api-key', bootstrapKey]);
    const { stdout } = await home.run(['logout', '--api-url', gateway.http]);
    expect(stdout).toContain(`Logged out of ${gateway.http}`);
    const { status } = await gateway.api.get('/api/v1/auth/me', bootstrapKey);
    expect(status).toBe(200);
  });

  test('succeeds where there is no session, and says so', async () => {
    using home = new TestHome();
    const { code, stdout } = await home.run(['logout']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/no active session/i);
    expect(existsSync(join(home.path, '.reeve'))).toBe(false);
    expect(await home.json(['logout'])).toEqual({ logged_out: false, context: 'http://127.0.0.1:8080' });
  });

  test('takes no arguments', async () => {
    using home = homeWith({ prod: session() });
    const { code, stderr } = await home.run(['logout', 'prod']);
    expect(code).toBe(2);
    expect(stderr).toContain('unexpected argument "prod"');
    expect(Object.keys(home.sessions())).toEqual(['prod']);
  });
});

describe('the session file', () => {
  test('is apart from the config, 0600 in a folder of 0700', async () => {
    using home = new TestHome();
    await home.run(['login', '--api-url', gateway.http, '--api-key', bootstrapKey]);
    expect(existsSync(home.configPath)).toBe(false);
    expect([home.mode(), home.mode('credentials.yaml')]).toEqual(['700', '600']);
  });

  test.each([['login'], ['whoami'], ['logout']])('%s tightens what it finds looser', async (command) => {
    using home = homeWith({ prod: session() });
    chmodSync(join(home.path, '.reeve'), 0o755);
    chmodSync(home.credentialsPath, 0o644);
    chmodSync(home.configPath, 0o664);
    await home.run([command, '--api-url', gateway.http, '--api-key', bootstrapKey]);
    expect([home.mode(), home.mode('credentials.yaml'), home.mode('config.yaml')]).toEqual(['700', '600', '600']);
  });

  test.each([
    ['is no YAML', 'sessions: {prod: ['],
    ['is binary', '\u0000\u0001\u0002'],
    ['is empty', ''],
    ['is a list', '- one\n- two\n'],
    ['is text', 'nothing'],
    ['has sessions of another kind', 'sessions: 7\n'],
    ['has the session cut off in the middle', `sessions:\n  prod:\n    token: ${secretToken}\n    expires_a`],
    [
      'lacks a part of the session',
      `sessions:\n  prod:\n    token: ${secretToken}\n    expires_at: 1900000000\n    scopes: [read]\n    api_url: http://gateway.example:8080\n`,
    ],
    [
      'has a part of another kind',
      `sessions:\n  prod:\n    token: 7\n    expires_at: soon\n    scopes: read\n    source_key: x\n    api_url: http://gateway.example:8080\n`,
    ],
  ])('that %s is no session', async (_what, text) => {
    using home = homeWith({});
    home.writeCredentials(text);
    const who = await home.run(['whoami', '--output', 'json']);
    expect([who.code, JSON.parse(who.stdout), who.stderr]).toEqual([0, { logged_in: false }, '']);
    const out = await home.run(['logout']);
    expect([out.code, out.stderr]).toEqual([0, '']);
    expect(out.stdout).toMatch(/no active session/i);
    const login = await home.run(['login', '--api-url', gateway.http, '--api-key', bootstrapKey]);
    expect(login.code).toBe(0);
    expect(Object.keys(home.sessions())).toEqual(['prod']);
  });

  test('keeps the other sessions when one of them is incomplete', async () => {
    using home = homeWith({ prod: { token: 'x' }, staging: session() });
    await home.run(['login', '--api-url', gateway.http, '--api-key', bootstrapKey]);
    expect(Object.keys(home.sessions()).toSorted()).toEqual(['prod', 'staging']);
    expect(home.sessions()['staging']?.token).toBe(secretToken);
  });

  test('is understood in every way that YAML can be written', async () => {
    using home = homeWith({});
    const { token, expires_at, scopes, source_key, api_url } = session();
    home.writeCredentials(
      `%YAML 1.2\n---\n# mine\n"sessions": { prod: { token: '${token}', expires_at: ${expires_at}, scopes: [${scopes.join(', ')}], "source_key": ${source_key}, api_url: "${api_url}" } }\n`,
    );
    expect(await home.json(['whoami'])).toMatchObject({ logged_in: true, scopes: ['read', 'write'] });
  });

  test('has the form of the contract', async () => {
    using home = new TestHome();
    await home.run(['login', '--api-url', gateway.http, '--api-key', bootstrapKey, '--scope', 'read']);
    const document = parse(readFileSync(home.credentialsPath, 'utf8')) as object;
    expect(document).toEqual({
      sessions: {
        [gateway.http]: {
          token: expect.any(String),
          expires_at: expect.any(Number),
          scopes: ['read'],
          source_key: bootstrapKey,
          api_url: gateway.http,
        },
      },
    });
  });
});

describe('a home folder', () => {
  test('that does not exist holds no session, and cannot take one', async () => {
    using parent = new TestHome();
    const home = new TestHome(join(parent.path, 'not', 'there'));
    expect(await home.json(['whoami'])).toEqual({ logged_in: false });
    expect((await home.run(['logout'])).code).toBe(0);
    const { code, stderr } = await home.run(['login', '--api-url', gateway.http, '--api-key', bootstrapKey]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/cannot write .*credentials\.yaml: the home folder .* does not exist; set HOME/);
    expect(existsSync(home.path)).toBe(false);
  });

  test('whose .reeve is a file is said to be so', async () => {
    using home = new TestHome();
    await import('node:fs').then(({ writeFileSync }) => writeFileSync(join(home.path, '.reeve'), ''));
    expect(await home.json(['whoami'])).toEqual({ logged_in: false });
    const { code, stderr } = await home.run(['login', '--api-url', gateway.http, '--api-key', bootstrapKey]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/\.reeve is not a folder/)]);
  });

  test('whose .reeve cannot be written is said to be so, and reading goes on', async () => {
    using home = new TestHome();
    mkdirSync(join(home.path, '.reeve'));
    // A folder in place of the file stops every user, root included.
    mkdirSync(join(home.path, '.reeve', 'credentials.yaml'));
    expect(await home.json(['whoami'])).toEqual({ logged_in: false });
    const { code, stderr } = await home.run(['login', '--api-url', gateway.http, '--api-key', bootstrapKey]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/cannot write .*credentials\.yaml/)]);
    expect(stderr).not.toContain(bootstrapKey);
  });

  test('that is read-only is said to be so, and reading goes on', async () => {
    // Not even root can create a folder there.
    const home = new TestHome('/sys');
    expect(await home.json(['whoami'])).toEqual({ logged_in: false });
    expect((await home.run(['logout'])).code).toBe(0);
    const { code, stderr } = await home.run(['login', '--api-url', gateway.http, '--api-key', bootstrapKey]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/cannot write .*: (permission denied|the file system is read-only)/),
    ]);
    expect(stderr).not.toContain(bootstrapKey);
  });
});
