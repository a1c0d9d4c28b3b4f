import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Problem, RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { makeKey } from '../harness/credentials.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';
import { TokenIssuer } from '../harness/token-issuer.ts';

type People = RouteOutput<Routes['listPeople']>;

const policy = `
name: p
rules:
  - {name: staff, effect: allow, tools: [search], users: ["*@acme.com"]}
  - {name: pay, effect: require_approval, tools: [pay]}
`;

let issuer: TokenIssuer;
let gateway: TestGateway;
let folder: string;

beforeAll(async () => {
  issuer = await TokenIssuer.start();
  folder = mkdtempSync(join(tmpdir(), 'reeve-people-'));
  const file = join(folder, 'subjects.yaml');
  writeFileSync(file, issuer.subjects);
  gateway = await TestGateway.start({ policies: { 'p.yaml': policy }, env: { SVC_SUBJECTS: file } });
  const bot = await gateway.register({ agentId: 'bot' });
  const clerk = await gateway.register({ teamId: 'desk', agentId: 'clerk' });
  const other = await gateway.register({ orgId: 'umbrella', agentId: 'bot' });
  const ann = await issuer.sign({ sub: 'u-1', email: 'Ann@acme.com', groups: ['staff'] });
  const eve = await issuer.sign({ sub: 'u-2', email: 'eve@elsewhere.com' });
  await gateway.check(bot, { subjectToken: eve });
  const once = { subjectToken: ann, traceId: 'asked', spanId: 'again' };
  await gateway.check(bot, once);
  await gateway.check(clerk, { subjectToken: ann });
  await gateway.check(bot, { subjectToken: ann, context: toolCall('pay') });
  await gateway.check(bot, once);
  await gateway.check(bot, {});
  await gateway.check(bot, { subjectToken: 'made.up.token' });
  await gateway.check(other, { subjectToken: await issuer.sign({ sub: 'zoe' }) });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

async function people(query = '', bearer = bootstrapKey): Promise<People> {
  const { status, body } = await gateway.api.get<People>(`/api/v1/people${query}`, bearer);
  expect(status).toBe(200);
  return body;
}
const subs = ({ items }: People) => items.map(({ user }) => user.sub);

describe('people', () => {
  test('are told with what was decided for them, and by whom, and nothing else of their tokens', async () => {
    const { items, ...rest } = await people('?org_id=acme');
    const agent = (team_id: string, agent_id: string) => ({ org_id: 'acme', team_id, agent_id });
    expect(rest).toEqual({ next_cursor: null, since: null });
    expect(items).toEqual([
      {
        user: { issuer: issuer.url, sub: 'u-1', email: 'ann@acme.com' },
        last_at: expect.any(String) as string,
        ...{ allow: 2, deny: 0, pending: 1 },
        agents: [agent('core', 'bot'), agent('desk', 'clerk')],
        agent_count: 2,
      },
      {
        user: { issuer: issuer.url, sub: 'u-2', email: 'eve@elsewhere.com' },
        last_at: expect.any(String) as string,
        ...{ allow: 0, deny: 1, pending: 0 },
        agents: [agent('core', 'bot')],
        agent_count: 1,
      },
    ]);
    expect(subs(await people())).toEqual(['zoe', 'u-1', 'u-2']);
  });

  test('are found by email or subject, team and time, page by page', async () => {
    expect(subs(await people('?user=ANN@acme.com'))).toEqual(['u-1']);
    expect(subs(await people('?user=zoe&org_id=acme'))).toEqual([]);
    const [ann] = (await people('?org_id=acme&team_id=desk')).items;
    expect(ann).toMatchObject({ user: { sub: 'u-1' }, allow: 1, pending: 0, agent_count: 1 });
    const last = ann?.last_at ?? '';
    expect(subs(await people(`?org_id=acme&team_id=desk&to=${last}`))).toEqual([]);
    expect(subs(await people(`?org_id=acme&team_id=desk&from=${last}`))).toEqual(['u-1']);
    const first = await people('?per_page=2');
    expect(subs(first)).toEqual(['zoe', 'u-1']);
    const second = await people(`?per_page=2&cursor=${first.next_cursor}`);
    expect([subs(second), second.next_cursor]).toEqual([['u-2'], null]);
    for (const cursor of ['x', Buffer.from('v1:1').toString('base64url')]) {
      const { status, body } = await gateway.api.get<Problem>(`/api/v1/people?cursor=${cursor}`, bootstrapKey);
      expect([status, body.code]).toEqual([422, 'validation_failed']);
    }
  });

  test('of others are not told to who is bound', async () => {
    const { key: acme } = await makeKey(gateway, { scopes: ['read'], org_id: 'acme' });
    const { key: desk } = await makeKey(gateway, { scopes: ['read'], org_id: 'acme', team_id: 'desk' });
    expect(subs(await people('', acme))).toEqual(['u-1', 'u-2']);
    expect(subs(await people('?org_id=umbrella', acme))).toEqual([]);
    expect(subs(await people('?user=zoe', acme))).toEqual([]);
    expect((await people('', desk)).items).toMatchObject([{ allow: 1, pending: 0, agents: [{ agent_id: 'clerk' }] }]);
    expect((await people('?team_id=core', desk)).items).toEqual([]);
  });

  test('are listed by the command', async () => {
    using home = new TestHome();
    const env = { REEVE_API_URL: gateway.http, REEVE_API_KEY: bootstrapKey };
    const shown = await home.run(['people', '--org', 'acme', '--from', '1h'], { env });
    expect(shown.stdout).toMatch(/ann@acme\.com .* 2 +0 +1 +acme\/core\/bot acme\/desk\/clerk/);
    const data = await home.run(['people', '--user', 'zoe', '--all', '--output', 'json'], { env });
    expect(JSON.parse(data.stdout)).toMatchObject({ items: [{ user: { sub: 'zoe' } }], next_cursor: null });
  });
});
