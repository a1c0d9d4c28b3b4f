import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JWTPayload } from 'jose';
import { UnsecuredJWT } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { enroll, isKnownToken } from '../../packages/cli/src/agent-identity/register-agent.ts';
import { sharedTokenOf } from '../../packages/cli/src/mcp/shared-agent-token.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { TokenIssuer } from '../harness/token-issuer.ts';
import { GuardedServer } from './guarded-server.ts';
import type { Listening } from './mcp-processes.ts';
import { serveFile } from './mcp-processes.ts';
import { McpVisitor } from './mcp-visitor.ts';
import { McpWorld } from './mcp-world.ts';

let world: McpWorld;
let issuer: TokenIssuer;
let behind: GuardedServer;
let proxy: Listening;
let base: string;
let home: string;
const taken = { orgId: 'acme', teamId: 'dev', agentId: 'taken' };

beforeAll(async () => {
  world = await McpWorld.start();
  issuer = await TokenIssuer.start();
  behind = await GuardedServer.start();
  home = mkdtempSync(join(tmpdir(), 'reeve-oauth-'));
  await world.gateway.register(taken);
  const agents = [
    { match: { groups: 'contractors' }, agent: 'acme/dev/contractor' },
    { match: { email: '*@acme.example', groups: 'dev*' }, agent: 'acme/dev/helper' },
    { match: { 'realm.role': 'ops' }, agent: 'acme/dev/operator' },
    { match: { 'https://acme.example/team': 'taken' }, agent: 'acme/dev/taken' },
  ];
  const oauth = { issuer: issuer.url, scopes: ['mcp:use', 'mcp:call'], agents };
  const servers = { tickets: { url: behind.url }, other: { url: behind.url } };
  proxy = serveFile(world, { oauth, servers }, [], { HOME: home, REEVE_API_KEY: bootstrapKey });
  base = await proxy.address();
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await behind[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

const anna = (): JWTPayload => ({
  sub: 'anna',
  aud: `${base}/mcp/tickets`,
  email: 'anna@acme.example',
  groups: ['sales', 'developers'],
  scope: 'openid mcp:call mcp:use',
});
const visitor = (server = 'tickets') => new McpVisitor(base, server);
const errorOf = async (answer: Response) => ((await answer.json()) as { error: { message: string } }).error.message;

describe('the protected resource', () => {
  it('describes each server by RFC 9728, to anybody', async () => {
    const answer = await fetch(`${base}/.well-known/oauth-protected-resource/mcp/tickets`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await answer.json()).toEqual({
      resource: `${base}/mcp/tickets`,
      authorization_servers: [issuer.url],
      scopes_supported: ['mcp:use', 'mcp:call'],
      bearer_methods_supported: ['header'],
    });
    expect((await fetch(`${base}/.well-known/oauth-protected-resource/mcp/none`)).status).toBe(404);
  });

  it.each([undefined, 'rva_of-nobody-at-all-0123456789012345', 'not a token'])(
    'answers 401 with where it is described, to %j',
    async (token) => {
      const answer = await visitor().open(token);
      expect(answer.status).toBe(401);
      const challenge = answer.headers.get('www-authenticate') ?? '';
      expect(challenge).toMatch(/^Bearer /);
      expect(challenge).toContain(`resource_metadata="${base}/.well-known/oauth-protected-resource/mcp/tickets"`);
    },
  );

  it('lets a caller in whose token is for this server, and answers 403 with the scopes that are needed', async () => {
    expect((await visitor().open(await issuer.sign(anna(), { typ: 'at+jwt' }))).status).toBe(200);
    const answer = await visitor().open(await issuer.sign({ ...anna(), scope: 'mcp:use' }));
    expect(answer.status).toBe(403);
    const challenge = answer.headers.get('www-authenticate') ?? '';
    expect(challenge).toContain('error="insufficient_scope"');
    expect(challenge).toContain('scope="mcp:use mcp:call"');
    // Other providers write them as a list.
    expect(
      (await visitor().open(await issuer.sign({ ...anna(), scope: undefined, scp: ['mcp:use', 'mcp:call'] }))).status,
    ).toBe(200);
  });

  it('takes the tokens of agents as before', async () => {
    expect((await visitor().open(world.agent.token)).status).toBe(200);
  });
});

describe('a token that proves nothing', () => {
  const refused = async (token: string, server?: string) => {
    const answer = await visitor(server).open(token);
    expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
    return [answer.status, await errorOf(answer)];
  };

  it('for another server, or for another audience, is refused', async () => {
    const token = await issuer.sign(anna());
    expect(await refused(token, 'other')).toEqual([401, 'the token is meant for another audience']);
    const foreign = await issuer.sign({ ...anna(), aud: 'https://mcp.evil.example/mcp/tickets' });
    expect(await refused(foreign)).toEqual([401, 'the token is meant for another audience']);
    // Whatever the request says of the host, the audience stays.
    const answer = await fetch(visitor().url, {
      headers: { authorization: `Bearer ${foreign}`, host: 'mcp.evil.example' },
    });
    expect(answer.status).not.toBe(200);
  });

  it('of another issuer is refused, also if that signs well, or claims to be this one', async () => {
    await using foreign = await TokenIssuer.start();
    expect(await refused(await foreign.sign(anna()))).toEqual([401, 'the token is nobody’s']);
    const forged = await foreign.sign({ ...anna(), iss: issuer.url });
    expect(await refused(forged)).toEqual([401, 'the signature of the token is wrong']);
  });

  it.each([
    ['expired', 'the token has expired', { exp: 1 }, {}],
    ['not valid yet', 'the token is not valid yet', { nbf: 4_000_000_000 }, {}],
    ['without an end', 'the claim exp is missing or wrong', { exp: undefined }, {}],
    ['without a subject', 'the claim sub is missing or wrong', { sub: undefined }, {}],
    ['of nobody', 'the token names nobody', { sub: '' }, {}],
    ['of a logout', 'the token is of another type', {}, { typ: 'logout+jwt' }],
    ['that is an ID-JAG', 'the token is of another type', {}, { typ: 'oauth-id-jag+jwt' }],
    ['bound to a key', 'the token is bound to a key', { cnf: { jkt: 'x' } }, {}],
  ])('%s is refused', async (_what, message, claims, header) => {
    expect(await refused(await issuer.sign({ ...anna(), ...claims }, header))).toEqual([401, message]);
  });

  it('without a signature, or with that of a stranger, is refused', async () => {
    const none = new UnsecuredJWT({ ...anna(), iss: issuer.url, exp: 4_000_000_000 }).encode();
    expect((await refused(none))[0]).toBe(401);
    await using stranger = await TokenIssuer.start();
    expect(await refused(await stranger.sign({ ...anna(), iss: issuer.url }))).toEqual([
      401,
      'the signature of the token is wrong',
    ]);
  });

  it('that is longer than 16 KiB is refused', async () => {
    const long = await issuer.sign({ ...anna(), pad: 'x'.repeat(16_000) });
    expect((await visitor().open(long)).status).toBe(401);
  });

  it('is in no log', () => {
    expect(proxy.stderr).not.toMatch(/eyJ/);
  });
});

describe('as which agent a caller acts', () => {
  it('is said by the first entry that matches, with all its claims', async () => {
    const act = async (claims: JWTPayload) => {
      const before = world.decisions().length;
      const one = visitor();
      const token = await issuer.sign({ ...anna(), ...claims });
      const answer = await one.open(token);
      if (answer.status !== 200) return [answer.status, await errorOf(answer)];
      await (await one.call(token)).text();
      const [decision] = world.decisions().slice(before);
      return decision?.lineage.agent_id;
    };
    expect(await act({})).toBe('helper');
    expect(await act({ groups: ['developers', 'contractors'] })).toBe('contractor');
    expect(await act({ email: 'x@other.example', realm: { role: ['ops'] } })).toBe('operator');
    const nobody = [403, 'no entry of oauth.agents is for this caller'];
    expect(await act({ groups: ['sales'] })).toEqual(nobody);
    expect(await act({ email: undefined })).toEqual(nobody);
    expect(await act({ email_verified: false })).toEqual(nobody);
  });

  it('is registered once, with the key of the proxy, and kept in a file of 0600', async () => {
    const file = join(home, '.reeve', 'agents.yaml');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toContain('acme/dev/helper');
    await visitor().open(await issuer.sign({ ...anna(), sub: 'berta' }));
    const registered = world.gateway
      .audit()
      .filter(({ event_type: type, lineage }) => type === 'AgentRegistered' && lineage.agent_id === 'helper');
    expect(registered).toHaveLength(1);
  });

  it('never has its live token replaced: the answer says where to put it', async () => {
    const before = world.gateway.audit().length;
    const answer = await visitor().open(
      await issuer.sign({ ...anna(), groups: [], 'https://acme.example/team': 'taken' }),
    );
    expect(answer.status).toBe(403);
    expect(await errorOf(answer)).toBe(
      "the agent acme/dev/taken is registered, and this proxy has no token of it: put its token into ~/.reeve/agents.yaml on the proxy's machine",
    );
    const registered = world.gateway
      .audit()
      .slice(before)
      .filter(({ event_type: type }) => type === 'AgentRegistered');
    expect(registered).toEqual([]);
  });
});

describe('replicas that share a key', () => {
  it('act as the same agent for people, each with a home of its own, whichever comes first', async () => {
    const homes = Array.from({ length: 3 }, () => mkdtempSync(join(tmpdir(), 'reeve-replica-')));
    const keyFile = join(homes[0] ?? '', 'session.key');
    writeFileSync(keyFile, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 });
    const agents = [{ match: { email: '**' }, agent: 'acme/dev/shared' }];
    const file = {
      oauth: { issuer: issuer.url, audience: 'replicas', agents },
      servers: { tickets: { url: behind.url } },
    };
    const replicas = homes.map((own) =>
      serveFile(world, file, ['--session-key-file', keyFile], { HOME: own, REEVE_API_KEY: bootstrapKey }),
    );
    const token = await issuer.sign({ ...anna(), aud: 'replicas' });
    const visitors = await Promise.all(replicas.map(async (each) => new McpVisitor(await each.address(), 'tickets')));
    const [first, ...others] = visitors;
    const together = await Promise.all(others.map((each) => each.open(token)));
    expect(together.map(({ status }) => status)).toEqual([200, 200]);
    expect((await first?.open(token))?.status).toBe(200);
    // Nobody has cut off the others.
    const calls = await Promise.all(visitors.map((each) => each.call(token)));
    expect(calls.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const each of replicas) await each[Symbol.asyncDispose]();
    for (const each of homes) rmSync(each, { recursive: true, force: true });
  });

  /** The token that the agent has, if it is made of this key. */
  async function tokenOf(agent: string, key: string): Promise<string | undefined> {
    const id = { orgId: 'acme', teamId: 'dev', agentId: agent };
    const gateway = { addresses: [world.gateway.grpc], tls: undefined };
    const { metadata = {} } = await enroll(bootstrapKey, id, gateway, { onlyIfNew: true, tellMetadata: true });
    const token = sharedTokenOf(Buffer.from(key, 'base64url'), id, metadata)?.token ?? '';
    return (await isKnownToken(gateway, token)) ? token : undefined;
  }

  /** Lets a person come to a replica with these keys and this home. */
  async function come(agent: string, keys: readonly string[], home: string): Promise<number> {
    const keyFile = join(home, 'session.key');
    writeFileSync(keyFile, `${keys.join('\n')}\n`, { mode: 0o600 });
    const agents = [{ match: { email: '**' }, agent: `acme/dev/${agent}` }];
    const file = {
      oauth: { issuer: issuer.url, audience: 'replicas', agents },
      servers: { tickets: { url: behind.url } },
    };
    const env = { HOME: home, REEVE_API_KEY: bootstrapKey };
    await using replica = serveFile(world, file, ['--session-key-file', keyFile], env);
    const token = await issuer.sign({ ...anna(), aud: 'replicas' });
    return (await new McpVisitor(await replica.address(), 'tickets').open(token)).status;
  }
  const newKey = () => randomBytes(32).toString('base64url');
  let own: string;
  beforeEach(() => {
    own = mkdtempSync(join(tmpdir(), 'reeve-replica-'));
  });
  afterEach(() => rmSync(own, { recursive: true, force: true }));

  it('never give an agent a token again that was taken away from it', async () => {
    const key = newKey();
    expect(await come('leaked', [key], own)).toBe(200);
    const first = (await tokenOf('leaked', key)) ?? '';
    expect(await come('leaked', [key], own)).toBe(200);
    expect(await tokenOf('leaked', key)).toBe(first);
    const leaked = { id: { orgId: 'acme', teamId: 'dev', agentId: 'leaked' }, token: first };
    await world.gateway.deregister(leaked, 'its token leaked');
    expect(await come('leaked', [key], own)).toBe(200);
    const second = await tokenOf('leaked', key);
    expect([undefined, first]).not.toContain(second);
    expect(await come('leaked', [key], own)).toBe(200);
    expect(await tokenOf('leaked', key)).toBe(second);
    await expect(world.gateway.identify(first)).rejects.toThrow();
  });

  it('go on with an agent when their key changes, and when the former key is gone, which nothing outlives', async () => {
    const [before, after] = [newKey(), newKey()];
    expect(await come('rekeyed', [before], own)).toBe(200);
    const first = (await tokenOf('rekeyed', before)) ?? '';
    expect(await come('rekeyed', [before, after], own)).toBe(200);
    expect(await tokenOf('rekeyed', before)).toBe(first);
    expect(await come('rekeyed', [after, before], own)).toBe(200);
    await expect(world.gateway.identify(first)).rejects.toThrow();
    const second = await tokenOf('rekeyed', after);
    expect(await come('rekeyed', [after], own)).toBe(200);
    expect(await tokenOf('rekeyed', after)).toBe(second);
    expect(await come('rekeyed', [before], own)).toBe(403);
  });
});

describe('a session', () => {
  it('belongs to issuer, subject and agent: nobody else has it, not even with the agent’s own token', async () => {
    const one = visitor();
    await one.open(await issuer.sign(anna()));
    expect((await one.call(await issuer.sign({ ...anna(), jti: 'next' }))).status).toBe(200);
    expect((await one.call(await issuer.sign({ ...anna(), sub: 'berta' }))).status).toBe(404);
    expect((await one.call(await issuer.sign({ ...anna(), groups: ['contractors'] }))).status).toBe(404);
    const file = parse(readFileSync(join(home, '.reeve', 'agents.yaml'), 'utf8')) as {
      agents: Record<string, Record<string, { token: string }>>;
    };
    const kept = file.agents[world.gateway.grpc]?.['acme/dev/helper']?.token;
    expect(kept).toBeDefined();
    expect((await one.call(kept)).status).toBe(404);
    // Whoever tried did not end it either.
    expect((await one.call(await issuer.sign(anna()))).status).toBe(200);
  });

  it('ends a stream with the token that opened it, once that is accepted no more', async () => {
    behind.hasStreams = true;
    const one = visitor();
    await one.open(await issuer.sign(anna()));
    const short = await issuer.sign({ ...anna(), exp: Math.floor(Date.now() / 1000) - 57 });
    const headers = {
      authorization: `Bearer ${short}`,
      accept: 'text/event-stream',
      'mcp-session-id': one.session ?? '',
    };
    const stream = await fetch(one.url, { headers });
    expect(stream.status).toBe(200);
    await stream.text();
    // Until then a client that comes again with its token would be let in, and put out again at once.
    expect((await one.call(short)).status).toBe(401);
  });

  it('passes no token and no header of its own on to a server', () => {
    const headers = behind.heard.map((heard) => JSON.stringify(heard.headers));
    expect(headers.length).toBeGreaterThan(0);
    expect(headers.filter((text) => /eyJ|authorization|x-reeve/.test(text))).toEqual([]);
  });
});

it('goes on with new keys of the issuer, and says so if they cannot be had', async () => {
  await using rotating = await TokenIssuer.start();
  const oauth = { issuer: rotating.url, audience: 'mcp', agents: [{ match: { sub: '**' }, agent: '-/-/rotated' }] };
  await using started = serveFile(world, { oauth, servers: { tickets: { url: behind.url } } }, [], {
    HOME: home,
    REEVE_API_KEY: bootstrapKey,
  });
  const one = new McpVisitor(await started.address(), 'tickets');
  const claims = { sub: 'anna', aud: ['others', 'mcp'] };
  rotating.behaviour = (response) => void response.writeHead(302, { location: rotating.jwksUri }).end();
  const redirected = await one.open(await rotating.sign(claims));
  expect([redirected.status, await errorOf(redirected)]).toEqual([
    503,
    `the access token cannot be verified: ${rotating.url} redirects, which is not followed`,
  ]);
  rotating.behaviour = (response) => void response.writeHead(200).end(Buffer.alloc(2 * 1024 * 1024, 32));
  const huge = await one.open(await rotating.sign(claims));
  expect([huge.status, await errorOf(huge)]).toEqual([
    503,
    `the access token cannot be verified: ${rotating.url} sends more than 1 MiB`,
  ]);
  rotating.behaviour = 'well';
  expect((await one.open(await rotating.sign(claims))).status).toBe(200);
});

it('takes the keys from where the file says, and asks for no document then', async () => {
  await using bare = await TokenIssuer.start();
  bare.document = { jwks_uri: undefined };
  const agents = [{ match: { sub: '**' }, agent: '-/-/bare' }];
  const oauth = { issuer: bare.url, audience: 'mcp', jwks_uri: bare.jwksUri, agents };
  const env = { HOME: home, REEVE_API_KEY: bootstrapKey };
  await using started = serveFile(world, { oauth, servers: { tickets: { url: behind.url } } }, [], env);
  const one = new McpVisitor(await started.address(), 'tickets');
  expect((await one.open(await bare.sign({ sub: 'anna', aud: 'mcp' }))).status).toBe(200);
  expect(bare.asked).toBe(1);
});

it('takes no document of another issuer', async () => {
  await using mixed = await TokenIssuer.start();
  mixed.document = { issuer: issuer.url };
  const oauth = { issuer: mixed.url, audience: 'mcp', agents: [{ match: { sub: '**' }, agent: '-/-/mixed' }] };
  await using started = serveFile(world, { oauth, servers: { tickets: { url: behind.url } } });
  const answer = await new McpVisitor(await started.address(), 'tickets').open(
    await mixed.sign({ sub: 'anna', aud: 'mcp' }),
  );
  expect([answer.status, await errorOf(answer)]).toEqual([
    503,
    `the access token cannot be verified: ${mixed.url}/.well-known/oauth-authorization-server names another issuer than ${mixed.url}/`,
  ]);
});
