import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Decision } from '@reeve/contract';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bootstrapKey, toolCall } from '../harness/gateway.ts';
import { TokenIssuer } from '../harness/token-issuer.ts';
import type { Pair } from './pair.ts';
import { startPair } from './pair.ts';

const policy = `
name: p
rules:
  - {name: staff, effect: allow, tools: [search], users: ["*@acme.com"]}
  - {name: pay, effect: require_approval, tools: [pay]}
`;

let issuer: TokenIssuer;
let pair: Pair;
let folder: string;
beforeAll(async () => {
  issuer = await TokenIssuer.start();
  folder = mkdtempSync(join(tmpdir(), 'reeve-subjects-'));
  const file = join(folder, 'subjects.yaml');
  writeFileSync(file, issuer.subjects);
  pair = await startPair({ SVC_SUBJECTS: file }, { 'p.yaml': policy });
});
afterAll(async () => {
  await pair[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

test('an agent that is registered at one gateway acts for a user at the other right away', async () => {
  const { one, two } = pair;
  const subjectToken = await issuer.sign({ sub: 'u-1', email: 'ann@acme.com' });
  for (let round = 0; round < 10; round++) {
    const agent = await one.register({ agentId: `right-away-${round}` });
    expect(await two.check(agent, { subjectToken })).toMatchObject({ decision: Decision.ALLOW, policyRule: 'p/staff' });
  }
});

test('a replay at the other gateway with another subject, or without the one it had, is another request', async () => {
  const { one, two } = pair;
  const agent = await one.register({ agentId: 'replays' });
  const ann = await issuer.sign({ sub: 'u-1', email: 'ann@acme.com' });
  const bob = await issuer.sign({ sub: 'u-2', email: 'bob@acme.com' });
  const reason = 'operation id was used for another request';
  for (let round = 0; round < 5; round++) {
    const same = { traceId: `replay-${round}`, spanId: 's' };
    expect(await one.check(agent, { ...same, subjectToken: ann })).toMatchObject({ decision: Decision.ALLOW });
    expect(await two.check(agent, { ...same, subjectToken: bob })).toMatchObject({ decision: Decision.DENY, reason });
    expect(await two.check(agent, same)).toMatchObject({ decision: Decision.DENY, reason });
    expect(await two.check(agent, { ...same, subjectToken: ann })).toMatchObject({ decision: Decision.ALLOW });
  }
});

test('an approval shows its user, and the log finds the entries of a user, at both gateways', async () => {
  const { one, two } = pair;
  const agent = await one.register({ agentId: 'asks' });
  const subjectToken = await issuer.sign({ sub: 'u-asks', email: 'Asks@acme.com' });
  const { approvalId } = await one.check(agent, { context: toolCall('pay'), subjectToken });
  for (const gateway of [one, two]) {
    const shown = await gateway.api.get<RouteOutput<Routes['getApproval']>>(
      `/api/v1/approvals/${approvalId}`,
      bootstrapKey,
    );
    expect(shown.body.user).toEqual({ issuer: issuer.url, sub: 'u-asks', email: 'Asks@acme.com' });
    for (const user of ['asks@acme.com', 'u-asks']) {
      const logs = await gateway.api.get<RouteOutput<Routes['listLogs']>>(`/api/v1/logs?user=${user}`, bootstrapKey);
      expect(logs.body.items.map(({ event_type: type }) => type)).toEqual(['ApprovalRequested', 'ActionPending']);
    }
    const others = await gateway.api.get<RouteOutput<Routes['listLogs']>>('/api/v1/logs?user=U-ASKS', bootstrapKey);
    expect(others.body.items).toEqual([]);
  }
});
