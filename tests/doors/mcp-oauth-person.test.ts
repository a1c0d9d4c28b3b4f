import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AuthorizationServer } from '../harness/authorization-server.ts';
import { TestHome } from '../harness/cli.ts';
import { eventually } from '../harness/eventually.ts';
import { TokenIssuer } from '../harness/token-issuer.ts';
import { GuardedServer } from './guarded-server.ts';
import { McpWorld } from './mcp-world.ts';
import { RawMcpClient } from './raw-mcp-client.ts';

/** Shorter than the time before its end at which a token is renewed: each call renews. */
const lifeSecs = 20;
let world: McpWorld;
let issuer: AuthorizationServer;
let behind: GuardedServer;
let home: TestHome;
let config: string;

beforeAll(async () => {
  world = await McpWorld.start();
  issuer = await AuthorizationServer.start({ lifeSecs });
  behind = await GuardedServer.start();
});
afterAll(async () => {
  await behind[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

beforeEach(() => {
  home = new TestHome();
  config = join(home.path, 'mcp.yaml');
  writeFileSync(config, JSON.stringify({ servers: { tickets: { url: behind.url, auth: { type: 'person' } } } }));
  behind.heard.length = 0;
  const { origin } = new URL(behind.url);
  behind.documents = {
    '/.well-known/oauth-protected-resource/mcp': { resource: behind.url, authorization_servers: [issuer.url] },
  };
  behind.refusal = (token) =>
    token === undefined
      ? {
          status: 401,
          'www-authenticate': `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", scope="mcp:read"`,
        }
      : undefined;
});

/** Where a person is sent who logs in. */
function shownAddress(child: ReturnType<TestHome['start']>): Promise<URL> {
  return eventually(() => {
    const shown = /\n {2}(http\S+)\n/.exec(child.stderr)?.[1];
    if (shown === undefined) throw new Error(`no address: ${child.stderr}`);
    return new URL(shown);
  });
}

/** Logs in as this person, by the browser. */
async function logIn(name: string, env: Readonly<Record<string, string>> = {}) {
  const child = home.start(['mcp', 'login', 'tickets', '--config', config, '--output', 'json'], { env });
  const address = await shownAddress(child);
  const page = await issuer.signIn(address.href, name);
  await child.ended();
  return { address, page: await page.text(), ...child.exit() };
}

function run(): Promise<RawMcpClient> {
  const args = ['--server', 'tickets', '--config', config];
  return new RawMcpClient(args, { ...world.env, HOME: home.path }).initialize();
}

const call = { name: 'echo', arguments: {} };
const subjects = () => behind.tokens().map((token) => (token === undefined ? undefined : decodeJwt(token).sub));
const files = () => readdirSync(join(home.path, '.reeve')).filter((name) => name.startsWith('mcp'));

describe('reeve mcp login', () => {
  it('finds the authorization server, registers, and logs in with PKCE for this resource', async () => {
    const { code, stdout, stderr, address, page } = await logIn('anna');
    expect([code, page]).toEqual([0, expect.stringContaining('You are logged in.')]);
    expect(JSON.parse(stdout)).toMatchObject({
      server: 'tickets',
      issuer: issuer.url,
      scope: 'mcp:read offline_access',
      renews: true,
    });
    const asked = Object.fromEntries(address.searchParams);
    expect(asked).toMatchObject({ response_type: 'code', code_challenge_method: 'S256', resource: behind.url });
    expect(asked['redirect_uri']).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(issuer.seen).toContain('POST /reg');
    expect(`${stdout}${stderr}`).not.toContain('eyJ');
  });

  it('is the client that the file names, and registers none', async () => {
    const auth = { type: 'person', client_id: 'app', scope: 'mcp:write' };
    writeFileSync(config, JSON.stringify({ servers: { tickets: { url: behind.url, auth } } }));
    const registered = () => issuer.seen.filter((path) => path === 'POST /reg').length;
    const before = registered();
    const { code, stdout, address } = await logIn('anna');
    expect([code, registered(), address.searchParams.get('client_id')]).toEqual([0, before, 'app']);
    expect(JSON.parse(stdout)).toMatchObject({ scope: expect.stringContaining('mcp:write') as string, renews: true });
    await using client = await run();
    expect(JSON.stringify(await client.ask('tools/call', call))).toContain('done');
  });

  it('describes itself by its address where the server takes that, and registers where it does not', async () => {
    await using modern = await TokenIssuer.start();
    const address = 'https://reeve.example/client.json';
    const auth = { type: 'person', client_id: address };
    writeFileSync(config, JSON.stringify({ servers: { tickets: { url: behind.url, auth } } }));
    modern.document = {
      authorization_endpoint: `${modern.url}/auth`,
      code_challenge_methods_supported: ['S256'],
      client_id_metadata_document_supported: true,
    };
    behind.documents = {
      '/.well-known/oauth-protected-resource/mcp': { resource: behind.url, authorization_servers: [modern.url] },
    };
    await using child = home.start(['mcp', 'login', 'tickets', '--config', config]);
    const shown = await shownAddress(child);
    expect(shown.searchParams.get('client_id')).toBe(address);
    modern.document = { ...modern.document, client_id_metadata_document_supported: false };
    const { stderr } = await home.run(['mcp', 'login', 'tickets', '--config', config]);
    expect(stderr).toContain('registers no clients: register one there, and set auth.client_id');
  });

  it('keeps the tokens on this machine, sealed, for nobody else to read', async () => {
    await logIn('anna');
    expect(files()).toHaveLength(2);
    for (const name of files()) {
      const path = join(home.path, '.reeve', name);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(readFileSync(path, 'utf8')).not.toMatch(/eyJ|127\.0\.0\.1/);
    }
    expect(statSync(join(home.path, '.reeve')).mode & 0o777).toBe(0o700);
  });

  it('takes the key from a file of its own, which nobody else may read', async () => {
    const key = join(home.path, 'key');
    writeFileSync(key, Buffer.alloc(32, 7).toString('base64url'), { mode: 0o644 });
    const open = await home.run(['mcp', 'login', 'tickets', '--config', config], { env: { REEVE_MCP_KEY_FILE: key } });
    expect([open.code, open.stderr]).toEqual([1, expect.stringContaining('others may read')]);
    const closed = join(home.path, 'closed-key');
    writeFileSync(closed, Buffer.alloc(32, 7).toString('base64url'), { mode: 0o600 });
    const { code } = await logIn('anna', { REEVE_MCP_KEY_FILE: closed });
    expect([code, files().filter((name) => name.endsWith('.key'))]).toEqual([0, []]);
  });

  it('is used by mcp run, and renewed with each refresh token once', async () => {
    await logIn('anna');
    const [one, other] = await Promise.all([run(), run()]);
    for (let turn = 0; turn < 3; turn++) {
      const answers = await Promise.all([one.ask('tools/call', call), other.ask('tools/call', call)]);
      expect(answers.map((answer) => JSON.stringify(answer).includes('done'))).toEqual([true, true]);
    }
    expect(new Set(subjects())).toEqual(new Set(['anna']));
    expect(new Set(behind.tokens()).size).toBeGreaterThan(1);
    await Promise.all([one.leave(), other.leave()]);
  });

  it('says what to do where nobody has logged in, and uses no login at another server', async () => {
    await logIn('anna');
    await using another = await GuardedServer.start();
    writeFileSync(config, JSON.stringify({ servers: { tickets: { url: another.url, auth: { type: 'person' } } } }));
    const client = new RawMcpClient(['--server', 'tickets', '--config', config], { ...world.env, HOME: home.path });
    const { error } = await client.ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: {},
    });
    expect(error?.message).toBe('nobody has logged in to tickets: run "reeve mcp login tickets --config FILE"');
    expect(another.heard).toEqual([]);
    await client.leave();
  });

  it('replaces the person with the next one who logs in', async () => {
    await logIn('anna');
    await logIn('berta');
    const client = await run();
    await client.ask('tools/call', call);
    expect(subjects()).toEqual(['berta']);
    await client.leave();
  });

  it('asks for the scopes that the server has wanted since', async () => {
    await logIn('anna');
    const { refusal } = behind;
    const challenge = 'Bearer error="insufficient_scope", scope="mcp:write"';
    behind.refusal = (token, method) => {
      const isRead = token !== undefined && decodeJwt(token)['scope'] !== 'mcp:read mcp:write';
      return method === 'tools/call' && isRead
        ? { status: 403, 'www-authenticate': challenge }
        : refusal(token, method);
    };
    const client = await run();
    const refused = await client.ask('tools/call', call);
    expect(refused.error?.message).toContain('wants the scopes mcp:write; run "reeve mcp login tickets --config FILE"');
    const { address } = await logIn('anna');
    expect(address.searchParams.get('scope')?.split(' ').toSorted()).toEqual([
      'mcp:read',
      'mcp:write',
      'offline_access',
    ]);
    expect(JSON.stringify(await client.ask('tools/call', call))).toContain('done');
    await client.leave();
  });
});

describe('a server that leads elsewhere', () => {
  const failure = async () => {
    const { code, stderr } = await home.run(['mcp', 'login', 'tickets', '--config', config]);
    expect(code).toBe(1);
    return stderr.trim();
  };

  it('describes another resource', async () => {
    const described = { resource: 'https://other.example/mcp', authorization_servers: [issuer.url] };
    behind.documents = { '/.well-known/oauth-protected-resource/mcp': described };
    expect(await failure()).toContain('describes another resource than');
  });

  it('names an authorization server without TLS', async () => {
    const described = { resource: behind.url, authorization_servers: ['http://as.example'] };
    behind.documents = { '/.well-known/oauth-protected-resource/mcp': described };
    expect(await failure()).toContain('names no authorization server with https, or on loopback');
  });

  it('names an issuer whose document is another’s (mix-up)', async () => {
    await using mixed = await TokenIssuer.start();
    mixed.document = { issuer: issuer.url, authorization_endpoint: `${issuer.url}/auth` };
    const described = { resource: behind.url, authorization_servers: [mixed.url] };
    behind.documents = { '/.well-known/oauth-protected-resource/mcp': described };
    expect(await failure()).toContain('names another issuer');
  });

  it('has an issuer that knows no PKCE', async () => {
    await using old = await TokenIssuer.start();
    old.document = { authorization_endpoint: `${old.url}/auth` };
    const described = { resource: behind.url, authorization_servers: [old.url] };
    behind.documents = { '/.well-known/oauth-protected-resource/mcp': described };
    expect(await failure()).toContain('does not say that it knows PKCE with S256');
  });

  it('answers the browser with a state that is not ours: nobody is logged in', async () => {
    const child = home.start(['mcp', 'login', 'tickets', '--config', config]);
    const address = await shownAddress(child);
    const back = new URL(address.searchParams.get('redirect_uri') ?? '');
    back.search = new URLSearchParams({ code: 'stolen', state: 'of another' }).toString();
    expect((await fetch(back)).status).toBe(400);
    back.search = new URLSearchParams({
      code: 'stolen',
      state: address.searchParams.get('state') ?? '',
      iss: 'https://evil.example',
    }).toString();
    await fetch(back);
    await child.ended();
    expect(child.exit()).toMatchObject({ code: 1, stderr: expect.stringContaining('unexpected "iss"') as unknown });
    expect(issuer.seen).not.toContain('POST /token stolen');
  });
});

describe('the key of the logins', () => {
  /** A program in place of secret-tool that keeps what it is given, and writes down how it was called. */
  function fakeKeyring(): { readonly env: Record<string, string>; readonly calls: () => string; away: string } {
    const bin = join(home.path, 'bin');
    mkdirSync(bin);
    const [calls, kept, away] = ['calls', 'kept', 'away'].map((name) => join(home.path, name)) as [
      string,
      string,
      string,
    ];
    const script = `#!/bin/sh
echo "$@" >> '${calls}'
env >> '${calls}'
if [ -e '${away}' ]; then echo 'Cannot autolaunch D-Bus without X11' >&2; exit 1; fi
case "$1" in
  store) cat > '${kept}' ;;
  lookup) [ -e '${kept}' ] && cat '${kept}' || exit 1 ;;
esac
`;
    writeFileSync(join(bin, 'secret-tool'), script, { mode: 0o755 });
    writeFileSync(calls, '');
    const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, REEVE_MCP_KEYRING: join(bin, 'secret-tool') };
    return { env, calls: () => readFileSync(calls, 'utf8'), away };
  }

  it('is in the keyring where there is one, never in an argument, and in no file', async () => {
    const { env, calls } = fakeKeyring();
    const { code, stdout } = await logIn('anna', env);
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({ key: 'the keyring of the system (secret-tool)' }),
    ]);
    const key = readFileSync(join(home.path, 'kept'), 'utf8');
    expect(Buffer.from(key, 'base64url')).toHaveLength(32);
    expect(calls()).toMatch(/^store --label=.* service reeve-mcp account /m);
    expect(calls()).not.toContain(key);
    expect(files()).toEqual([expect.stringMatching(/^mcp-.*\.login$/)]);
    const args = ['--server', 'tickets', '--config', config];
    await using client = await new RawMcpClient(args, { ...world.env, HOME: home.path, ...env }).initialize();
    expect(JSON.stringify(await client.ask('tools/call', call))).toContain('done');
    const doctor = await home.run(['doctor', '--output', 'json'], { env });
    expect(doctor.stdout).toContain('the keyring of the system (secret-tool)');
  });

  it('reaches no program that merely is on the PATH, and the program gets nothing of the environment', async () => {
    const { env, calls } = fakeKeyring();
    await logIn('anna', { ...env, REEVE_MCP_KEYRING: 'on' });
    expect(calls()).toBe('');
    rmSync(join(home.path, '.reeve'), { recursive: true });
    await logIn('anna', { ...env, OTHER_SECRET: 'hush', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' });
    expect(calls()).toContain('DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere');
    expect(calls()).not.toMatch(/hush|^REEVE_/m);
    const wrong = await home.run(['mcp', 'login', 'tickets', '--config', config], {
      env: { REEVE_MCP_KEYRING: 'secret-tool' },
    });
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('the whole path of a program')]);
  });

  it('is in a file where no keyring answers, and stays there', async () => {
    const { env, away } = fakeKeyring();
    writeFileSync(away, '');
    const { stdout, stderr } = await logIn('anna', env);
    expect(stderr).toContain('No keyring has the key of your logins');
    const path = join(home.path, '.reeve', 'mcp.key');
    expect(JSON.parse(stdout)).toMatchObject({ key: path });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    rmSync(away);
    expect(JSON.parse((await logIn('anna', env)).stdout)).toMatchObject({ key: path });
  });

  it.each([
    ['does not answer', () => writeFileSync(join(home.path, 'away'), ''), {}],
    ['says that it has none', () => renameSync(join(home.path, 'kept'), join(home.path, 'locked')), {}],
    ['is not to be found', () => {}, { REEVE_MCP_KEYRING: '/nowhere/secret-tool' }],
    ['is switched off', () => {}, { REEVE_MCP_KEYRING: 'off' }],
  ])('is not replaced where the keyring that has it %s', async (_what, lose, changed) => {
    const { env } = fakeKeyring();
    await logIn('anna', env);
    lose();
    const without = { ...env, ...changed };
    const args = ['--server', 'tickets', '--config', config];
    await using client = await new RawMcpClient(args, { ...world.env, HOME: home.path, ...without }).initialize();
    expect(JSON.stringify(await client.ask('tools/call', call))).toContain('unlock the keyring');
    const again = await home.run(['mcp', 'login', 'tickets', '--config', config], { env: without });
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('unlock the keyring')]);
    const doctor = await home.run(['doctor', '--output', 'json'], { env: without });
    expect(doctor.stdout).toContain('unlock the keyring');
    expect(files()).toEqual([expect.stringMatching(/^mcp-.*\.login$/)]);
    expect(existsSync(join(home.path, 'locked'))).not.toBe(existsSync(join(home.path, 'kept')));
  });
});

describe('an issuer that the file pins', () => {
  const write = (auth: object) =>
    writeFileSync(
      config,
      JSON.stringify({ servers: { tickets: { url: behind.url, auth: { type: 'person', ...auth } } } }),
    );

  it('is the only one that gets anything', async () => {
    write({ issuer: issuer.url });
    expect((await logIn('anna')).code).toBe(0);
    write({ issuer: 'https://elsewhere.example' });
    const other = await home.run(['mcp', 'login', 'tickets', '--config', config]);
    expect([other.code, other.stderr]).toEqual([
      1,
      expect.stringContaining('auth.issuer says https://elsewhere.example/'),
    ]);
    // Nor is a login of another issuer used.
    await using client = await run();
    expect(JSON.stringify(await client.ask('tools/call', call))).toContain('nobody has logged in to tickets');
  });

  it('is asked for where there is a client secret', async () => {
    write({ client_id: 'us', client_secret_env: 'US_SECRET', issuer: 'https://elsewhere.example' });
    const env = { US_SECRET: 'a-secret-of-the-client' };
    const pinned = await home.run(['mcp', 'login', 'tickets', '--config', config], { env });
    expect(pinned.stderr).not.toContain('Pin it');
    write({ client_id: 'us', client_secret_env: 'US_SECRET' });
    behind.documents = {};
    const unpinned = await home.run(['mcp', 'login', 'tickets', '--config', config], { env });
    expect(unpinned.stderr).toContain('Pin it: set auth.issuer');
    expect(unpinned.stderr).not.toContain('a-secret-of-the-client');
  });
});
