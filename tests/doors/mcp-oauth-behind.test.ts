import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import type { TokenRequest } from '../harness/token-issuer.ts';
import { TokenIssuer, send } from '../harness/token-issuer.ts';
import { GuardedServer } from './guarded-server.ts';
import type { Listening } from './mcp-processes.ts';
import { serveFile } from './mcp-processes.ts';
import { McpVisitor } from './mcp-visitor.ts';
import { McpWorld } from './mcp-world.ts';
import { RawMcpClient } from './raw-mcp-client.ts';

const secret = 'a secret of the client, with & and +';
let world: McpWorld;
let issuer: TokenIssuer;
let behind: GuardedServer;
let proxy: Listening;
let base: string;
let home: string;

const client = { client_id: 'reeve', client_secret_env: 'TICKETS_SECRET' };

beforeAll(async () => {
  world = await McpWorld.start();
  issuer = await TokenIssuer.start();
  behind = await GuardedServer.start();
  home = mkdtempSync(join(tmpdir(), 'reeve-oauth-'));
  const { url } = behind;
  const servers = {
    machine: {
      url,
      auth: { type: 'client_credentials', token_url: `${issuer.url}/machine`, ...client, scope: 'a b', resource: url },
    },
    exchanged: {
      url,
      auth: {
        type: 'token_exchange',
        token_url: `${issuer.url}/exchange`,
        ...client,
        audience: 'tickets',
        scope: 'read',
      },
    },
    wider: { url, auth: { type: 'token_exchange', token_url: `${issuer.url}/exchange`, ...client, scope: 'write' } },
    enterprise: {
      url,
      auth: {
        type: 'enterprise',
        idp_token_url: `${issuer.url}/idp`,
        token_url: `${issuer.url}/token`,
        ...client,
        audience: 'https://as.tickets.example',
        resource: 'https://tickets.example/mcp',
      },
    },
    person: { url, auth: { type: 'person' } },
  };
  const agents = [{ match: { sub: '**' }, agent: '-/-/shared' }];
  const oauth = { issuer: issuer.url, audience: 'mcp', agents };
  const env = { HOME: home, REEVE_API_KEY: bootstrapKey, TICKETS_SECRET: secret };
  proxy = serveFile(world, { oauth, servers }, [], env);
  base = await proxy.address();
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await behind[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});
beforeEach(() => {
  behind.heard.length = 0;
  issuer.requests.length = 0;
  issuer.answer = undefined;
  behind.refusal = () => undefined;
});

const tokenOf = (sub: string, more: object = {}) => issuer.sign({ sub, aud: 'mcp', ...more }, { typ: 'at+jwt' });
const idTokenOf = (sub: string, more: object = {}) => issuer.sign({ sub, aud: 'the client', ...more }, { typ: 'JWT' });
const at = (server: string) => new McpVisitor(base, server);
const asked = (path: string) => issuer.requests.filter((request) => request.path === path);
const basic = `Basic ${Buffer.from(`reeve:${encodeURIComponent(secret).replaceAll('%20', '+')}`).toString('base64')}`;

describe('client_credentials', () => {
  it('gets a token once, for whoever calls, and sends it to the server', async () => {
    const texts = await Promise.all([at('machine').text(world.agent.token), at('machine').text(await tokenOf('anna'))]);
    expect(texts.map((text) => text.includes('done'))).toEqual([true, true]);
    expect(new Set(behind.tokens()).size).toBe(1);
    expect(behind.tokens()[0]).toMatch(/^access-\d+$/);
    const [request, ...more] = asked('/machine');
    expect(more).toEqual([]);
    expect(request?.parameters).toEqual({ grant_type: 'client_credentials', scope: 'a b', resource: behind.url });
    expect(request?.authorization).toBe(basic);
  });

  it('gets another one if the server does not take it, once, and says what to do if that does not help', async () => {
    const one = at('machine');
    await one.text(world.agent.token);
    const [former] = behind.tokens();
    behind.refusal = (token) => (token === former ? { status: 401 } : undefined);
    expect(await (await one.call(world.agent.token)).text()).toContain('done');
    behind.heard.length = 0;
    behind.refusal = (_token, method) => (method === 'tools/call' ? { status: 401 } : undefined);
    const answer = await (await one.call(world.agent.token)).text();
    expect(answer).toContain('does not accept the credentials of the proxy (HTTP 401); check auth of the server');
    expect(behind.tokens()).toHaveLength(2);
  });

  it('sends the secret in the body where the endpoint wants it there', async () => {
    await using other = await TokenIssuer.start();
    other.answer = ({ authorization }, response) =>
      authorization === undefined
        ? send(response, 200, { access_token: 'by-post', token_type: 'bearer' })
        : send(response, 401, { error: 'invalid_client' });
    const auth = { type: 'client_credentials', token_url: `${other.url}/token`, ...client };
    const env = { HOME: home, REEVE_API_KEY: bootstrapKey, TICKETS_SECRET: secret };
    await using started = serveFile(world, { servers: { s: { url: behind.url, auth } } }, [], env);
    await new McpVisitor(await started.address(), 's').text(world.agent.token);
    expect(behind.tokens()).toEqual(['by-post']);
    expect(other.requests.at(-1)?.parameters).toMatchObject({ client_id: 'reeve', client_secret: secret });
  });
});

describe('token_exchange', () => {
  it('gives the caller’s token for one of the server, by RFC 8693', async () => {
    const token = await tokenOf('anna');
    expect(await at('exchanged').text(token)).toContain('done');
    const [request, ...more] = asked('/exchange');
    expect(more).toEqual([]);
    expect(request?.parameters).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      audience: 'tickets',
      scope: 'read',
    });
    expect(behind.tokens()).not.toContain(token);
  });

  it('keeps users, servers, scopes and tokens apart', async () => {
    const [anna, again, berta] = await Promise.all([
      tokenOf('anna', { jti: '1' }),
      tokenOf('anna', { jti: '2' }),
      tokenOf('berta'),
    ]);
    for (const [server, token] of [
      ['exchanged', anna],
      ['exchanged', anna],
      ['exchanged', again],
      ['exchanged', berta],
      ['wider', anna],
    ] as const) {
      await at(server).text(token);
    }
    const [first, second, ...others] = behind.tokens();
    expect(first).toBe(second);
    expect(new Set([first, ...others]).size).toBe(4);
    expect(asked('/exchange').map(({ parameters }) => [parameters['subject_token'], parameters['scope']])).toEqual([
      [anna, 'read'],
      [again, 'read'],
      [berta, 'read'],
      [anna, 'write'],
    ]);
  });

  it('without a token of the caller is denied, and the server hears nothing', async () => {
    const answer = await at('exchanged').text(world.agent.token);
    expect(answer).toContain('Denied by policy: the caller must come with an access token of their own');
    expect([behind.heard, asked('/exchange')]).toEqual([[], []]);
  });

  it('denies a call in the form of a result, where there is no session', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'visitor', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: {}, _meta: meta } };
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' };
    const answer = (await (await at('exchanged').send(body, world.agent.token, headers)).json()) as {
      result: { isError: boolean; content: { text: string }[]; _meta: Record<string, unknown> };
    };
    expect(answer.result.isError).toBe(true);
    expect(answer.result.content[0]?.text).toMatch(/^Denied by policy/);
    expect(answer.result._meta['reeve.dev/decision']).toMatchObject({ decision: 'deny', policy_rule: 'auth' });
    expect(behind.heard).toEqual([]);
    const token = await tokenOf('carla');
    expect(await (await at('exchanged').send(body, token, headers)).text()).toContain('done');
    expect(asked('/exchange')).toHaveLength(1);
  });
});

describe('enterprise', () => {
  it('has the identity provider vouch for the person, and the server’s own take its word', async () => {
    const [token, idToken] = [await tokenOf('anna'), await idTokenOf('anna')];
    expect(await at('enterprise').text(token, { 'x-reeve-id-token': idToken })).toContain('done');
    expect(asked('/idp').map(({ parameters }) => parameters)).toEqual([
      {
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        requested_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
        subject_token: idToken,
        subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
        audience: 'https://as.tickets.example',
        resource: 'https://tickets.example/mcp',
      },
    ]);
    const [granted] = asked('/token');
    expect(granted?.parameters['grant_type']).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    expect(granted?.parameters['assertion']).toMatch(/^assertion-/);
    expect(behind.tokens()[0]).toMatch(/^access-/);
    expect(JSON.stringify(behind.heard)).not.toContain('eyJ');
  });

  it('without an ID token is denied', async () => {
    const answer = await at('enterprise').text(await tokenOf('anna'));
    expect(answer).toContain('Denied by policy: the ID token of the caller is missing');
    expect([behind.heard, issuer.requests]).toEqual([[], []]);
  });

  it('refuses the ID token of another person, of another issuer, and what is none', async () => {
    await using foreign = await TokenIssuer.start();
    const token = await tokenOf('anna');
    const given = [
      [await idTokenOf('berta'), 'x-reeve-id-token: it names another person'],
      [
        await foreign.sign({ sub: 'anna', aud: 'x' }, { typ: 'JWT' }),
        'x-reeve-id-token: the signature of the token is wrong',
      ],
      [
        await foreign.sign({ sub: 'anna', iss: issuer.url }, { typ: 'JWT' }),
        'x-reeve-id-token: the signature of the token is wrong',
      ],
      [await tokenOf('anna'), 'x-reeve-id-token: the token is of another type'],
      ['nonsense', 'x-reeve-id-token: the token is malformed'],
    ] as const;
    for (const [idToken, message] of given) {
      const answer = await at('enterprise').open(token, { 'x-reeve-id-token': idToken });
      expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining(message)]);
    }
    expect([behind.heard, issuer.requests]).toEqual([[], []]);
  });

  it('takes nothing but an ID-JAG from the identity provider', async () => {
    issuer.answer = ({ path }, response) =>
      send(response, 200, {
        access_token: `from${path.replace('/', '-')}`,
        token_type: 'Bearer',
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      });
    const answer = await at('enterprise').text(await tokenOf('dora'), { 'x-reeve-id-token': await idTokenOf('dora') });
    expect(answer).toContain('gave something else than an ID-JAG');
    expect(asked('/token')).toEqual([]);
  });
});

describe('a person', () => {
  it('must have logged in, and is not used for callers with a name of their own', async () => {
    expect(await at('person').text(world.agent.token)).toContain(
      String.raw`nobody has logged in to person: run \"reeve mcp login person --config FILE\"`,
    );
    expect(await at('person').text(await tokenOf('anna'))).toContain(
      'Denied by policy: person is used as the person who logged in on the proxy',
    );
    expect(behind.heard).toEqual([]);
  });
});

describe('a token endpoint that does harm', () => {
  const cases: [string, (request: TokenRequest, response: ServerResponse) => void, string][] = [
    [
      'redirects',
      (_, response) => void response.writeHead(307, { location: behind.url }).end(),
      'redirects, which is not followed',
    ],
    [
      'sends more than it should',
      (_, response) => void response.end(Buffer.alloc(2 * 1024 * 1024, 32)),
      'sends more than 1 MiB',
    ],
    [
      'gives a token that breaks out of its header',
      (_, response) => send(response, 200, { access_token: 'a\r\nx: y', token_type: 'bearer' }),
      'gave a token that no header can hold',
    ],
    [
      'gives a token of another kind',
      (_, response) => send(response, 200, { access_token: 'a', token_type: 'dpop' }),
      'gave a token that is bound to a key',
    ],
    [
      'repeats what it was sent',
      ({ parameters }, response) =>
        send(response, 400, { error: 'invalid_grant', error_description: JSON.stringify(parameters) }),
      'answers invalid_grant; check auth of the server',
    ],
    [
      'has a secret in its error',
      (_, response) => send(response, 400, { error: secret }),
      'gave no token that can be read',
    ],
    [
      'refuses the client',
      (_, response) => send(response, 401, { error: 'invalid_client' }),
      'does not accept the client; check client_id and the variable TICKETS_SECRET',
    ],
  ];
  it.each(cases)('%s', async (_what, answer, message) => {
    issuer.answer = answer;
    const token = await tokenOf('anna', { jti: _what });
    const text = await at('exchanged').text(token);
    expect(text).toContain(message);
    expect(text).not.toContain(token);
    expect(text).not.toContain(secret);
    expect(behind.heard).toEqual([]);
    expect(proxy.stderr).not.toMatch(/eyJ|a secret of/);
  });
});

describe('mcp run', () => {
  const running = (name: string, auth: object, env: Readonly<Record<string, string>> = {}) => {
    const config = join(home, `${name}.yaml`);
    writeFileSync(config, JSON.stringify({ servers: { [name]: { url: behind.url, auth } } }));
    return new RawMcpClient(['--server', name, '--config', config], {
      ...world.env,
      HOME: home,
      TICKETS_SECRET: secret,
      ...env,
    });
  };
  const call = { name: 'echo', arguments: {} };

  it('uses the auth of the file', async () => {
    const one = await running('machine', {
      type: 'client_credentials',
      token_url: `${issuer.url}/machine`,
      ...client,
    }).initialize();
    expect(JSON.stringify(await one.ask('tools/call', call))).toContain('done');
    expect(behind.tokens()[0]).toMatch(/^access-/);
    await one.leave();
  });

  it('takes the person’s tokens from files, anew for each call, and denies without', async () => {
    const file = join(home, 'id-token');
    writeFileSync(file, `${await idTokenOf('anna')}\n`);
    const { url } = issuer;
    const auth = {
      type: 'enterprise',
      idp_token_url: `${url}/idp`,
      token_url: `${url}/token`,
      ...client,
      audience: 'a',
      resource: 'r',
    };
    const one = await running('enterprise', auth, { REEVE_ID_TOKEN_FILE: file }).initialize();
    expect(JSON.stringify(await one.ask('tools/call', call))).toContain('done');
    const next = await idTokenOf('anna', { jti: 'next' });
    writeFileSync(file, next);
    expect(JSON.stringify(await one.ask('tools/call', call))).toContain('done');
    expect(asked('/idp').at(-1)?.parameters['subject_token']).toBe(next);
    rmSync(file);
    expect(JSON.stringify(await one.ask('tools/call', call))).toContain(
      'Denied by policy: the ID token of the caller is missing',
    );
    await one.leave();
  });

  it('exchanges the token that REEVE_SUBJECT_TOKEN_FILE names', async () => {
    const file = join(home, 'subject-token');
    const token = await tokenOf('anna');
    writeFileSync(file, token);
    const auth = { type: 'token_exchange', token_url: `${issuer.url}/exchange`, ...client };
    const one = await running('exchanged', auth, { REEVE_SUBJECT_TOKEN_FILE: file }).initialize();
    expect(JSON.stringify(await one.ask('tools/call', call))).toContain('done');
    expect(asked('/exchange')[0]?.parameters['subject_token']).toBe(token);
    await one.leave();
  });
});

describe('a file that is not right', () => {
  const good = { type: 'client_credentials', token_url: 'https://as.example/token', ...client };
  it.each([
    [{ ...good, token_url: 'http://as.example/token' }, 'token_url must be an https address, or http on loopback'],
    [{ ...good, type: 'magic' }, 'type must be one of client_credentials, token_exchange, enterprise, person'],
    [{ ...good, client_secret_env: 'NOT_SET' }, 'names an environment variable that is not set: NOT_SET'],
    [{ ...good, client_secret_env: 'hunter2' }, 'names an environment variable that is not set'],
    [{ ...good, audience: 'x' }, 'auth.audience is not known'],
    [{ type: 'enterprise', ...client }, 'auth.idp_token_url is missing'],
  ])('stops the start: %j', async (auth, message) => {
    const at = new TestHome();
    const config = join(at.path, 'mcp.yaml');
    writeFileSync(config, JSON.stringify({ servers: { s: { url: behind.url, auth } } }));
    const { code, stderr } = await at.run(['mcp', 'serve', '--config', config], { env: { TICKETS_SECRET: secret } });
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).not.toContain('hunter2');
  });
});
