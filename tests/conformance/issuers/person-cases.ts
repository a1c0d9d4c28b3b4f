import assert from 'node:assert/strict';
import { Decision } from '@reeve/contract';
import { GuardedServer } from '../../doors/guarded-server.ts';
import { serveFile } from '../../doors/mcp-processes.ts';
import { McpVisitor } from '../../doors/mcp-visitor.ts';
import { bootstrapKey, toolCall } from '../../harness/gateway.ts';
import type { IssuerCase, IssuersWorld } from './issuers-world.ts';

const audience = 'https://reeve.example';
const search = { context: toolCall('search') };

/** What people have agents do, with tokens that they got by signing in. */
export const personCases: readonly IssuerCase[] = [
  { name: 'a person who has signed in is the user of a check, in conditions, in the log and in people', run: isUser },
  { name: 'keys are rotated and withdrawn under load, and no check is lost', run: outlivesRotation },
  {
    name: 'mcp serve is a resource of the provider: discovery, code with PKCE, and the call is for the person',
    run: reachesMcp,
  },
];

async function isUser({ provider, mcp, gateway }: IssuersWorld): Promise<void> {
  const checked = async (name: string) => {
    const subjectToken = await provider.personToken(name, audience, 'openid mcp:read');
    return gateway.check(mcp.agent, { ...search, subjectToken });
  };
  const allowed = await checked('ann');
  assert.deepEqual([allowed.decision, allowed.policyRule], [Decision.ALLOW, 'issuers/staff']);
  assert.deepEqual(mcp.decisions().at(-1)?.payload['user'], {
    issuer: provider.url,
    sub: 'ann',
    email: 'ann@acme.example',
  });
  // She is in no group, and his address is not verified.
  for (const name of ['eve', 'mallory']) assert.equal((await checked(name)).decision, Decision.DENY);
  const { body } = await gateway.api.get<{ items: readonly { user: { sub: string } }[] }>(
    '/api/v1/people',
    bootstrapKey,
  );
  assert.deepEqual(body.items.map(({ user }) => user.sub).toSorted(), ['ann', 'eve', 'mallory']);
}

async function outlivesRotation({ provider, mcp, gateway }: IssuersWorld): Promise<void> {
  const tokens = [await provider.personToken('ann', audience, 'openid mcp:read')];
  const answers: Promise<Decision>[] = [];
  const checkWithAll = () => {
    for (const subjectToken of tokens) {
      answers.push(gateway.check(mcp.agent, { ...search, subjectToken }).then(({ decision }) => decision));
    }
  };
  for (let round = 0; round < 20; round++) checkWithAll();
  await provider.rotateKeys();
  tokens.push(await provider.personToken('ann', audience, 'openid mcp:read'));
  for (let round = 0; round < 20; round++) checkWithAll();
  provider.withdrawKeys();
  for (let round = 0; round < 20; round++) checkWithAll();
  assert.deepEqual(new Set(await Promise.all(answers)), new Set([Decision.ALLOW]));
}

async function reachesMcp({ provider, mcp, folder }: IssuersWorld): Promise<void> {
  await using behind = await GuardedServer.start();
  const agents = [{ match: { sub: '*' }, agent: '-/-/helper' }];
  const oauth = { issuer: provider.url, audience: 'mcp', scopes: ['mcp:read'], agents };
  const env = { HOME: folder, REEVE_API_KEY: bootstrapKey };
  await using proxy = serveFile(mcp, { oauth, servers: { tickets: { url: behind.url } } }, [], env);
  const visitor = new McpVisitor(await proxy.address(), 'tickets');
  const challenged = await visitor.open(undefined);
  const described = /resource_metadata="([^"]+)"/.exec(challenged.headers.get('www-authenticate') ?? '')?.[1] ?? '';
  const metadata = (await (await fetch(described)).json()) as { authorization_servers: readonly string[] };
  assert.deepEqual(metadata.authorization_servers, [provider.url]);
  const token = await provider.personToken('ann', 'urn:audience:mcp', 'openid mcp:read');
  assert.match(await visitor.text(token), /done/);
  assert.deepEqual(mcp.decisions().at(-1)?.payload['user'], {
    issuer: provider.url,
    sub: 'ann',
    email: 'ann@acme.example',
  });
  assert.match(await visitor.text(await provider.personToken('eve', 'urn:audience:mcp', 'openid mcp:read')), /Denied/);
}
