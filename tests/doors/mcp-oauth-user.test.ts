import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bootstrapKey } from '../harness/gateway.ts';
import { TokenIssuer } from '../harness/token-issuer.ts';
import { GuardedServer } from './guarded-server.ts';
import { serveFile } from './mcp-processes.ts';
import { McpVisitor } from './mcp-visitor.ts';
import { McpWorld } from './mcp-world.ts';

const policy = `
name: test
rules:
  - { name: staff, effect: allow, users: ['*@acme.example'] }
  - { name: nobody, effect: allow, tools: [echo], when: '!has(user.sub)' }
`;

let folder: string;
let known: TokenIssuer;
let unknown: TokenIssuer;
let behind: GuardedServer;
let world: McpWorld;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-user-'));
  [known, unknown, behind] = [await TokenIssuer.start(), await TokenIssuer.start(), await GuardedServer.start()];
  const file = join(folder, 'subjects.yaml');
  writeFileSync(file, `- {issuer: "${known.url}", audience: mcp, jwks_uri: "${known.jwksUri}"}\n`);
  world = await McpWorld.start(policy, { SVC_SUBJECTS: file });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await behind[Symbol.asyncDispose]();
  await known[Symbol.asyncDispose]();
  await unknown[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** What the client reads, and the user of the decision. */
async function called(issuer: TokenIssuer, email: string): Promise<[string, unknown]> {
  const oauth = { issuer: issuer.url, audience: 'mcp', agents: [{ match: { sub: '**' }, agent: '-/-/helper' }] };
  const env = { HOME: folder, REEVE_API_KEY: bootstrapKey };
  await using proxy = serveFile(world, { oauth, servers: { tickets: { url: behind.url } } }, [], env);
  const token = await issuer.sign({ sub: email, email, aud: 'mcp' });
  const text = await new McpVisitor(await proxy.address(), 'tickets').text(token);
  return [text, world.decisions().at(-1)?.payload['user']];
}

describe('a call of a person', () => {
  it('is judged for the caller where the gateway knows the issuer', async () => {
    const [text, user] = await called(known, 'anna@acme.example');
    expect(text).toContain('done');
    expect(user).toEqual({ issuer: known.url, sub: 'anna@acme.example', email: 'anna@acme.example' });
    const [denied] = await called(known, 'eve@elsewhere.example');
    expect(denied).toContain('Denied by policy');
  });

  it('is judged for the agent alone where the gateway does not know the issuer', async () => {
    const [text, user] = await called(unknown, 'anna@acme.example');
    expect(text).toContain('done');
    expect(user ?? null).toBeNull();
  });
});
