import { Decision } from '@reeve/contract';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';
import type { Pair } from './pair.ts';
import { startPair } from './pair.ts';

const policy = `
name: p
default: allow
rules:
  - { name: mail, effect: allow, tools: [read-mail], labels: [mail.read] }
  - { name: no-post, effect: deny, tools: [post], when: '"mail.read" in run.labels' }
`;

let pair: Pair;
beforeAll(async () => {
  pair = await startPair({}, { 'p.yaml': policy });
});
afterAll(() => pair[Symbol.asyncDispose]());

const inRun = (runId: string, tool: string) => ({ runId, context: toolCall(tool) });

test('of a call that labels and one that the label forbids, at two gateways at once, both are allowed in that order alone', async () => {
  const { one, two } = pair;
  const agents = await Promise.all(['a', 'b'].map((agentId) => one.register({ agentId })));
  const seqOf = async (opId: string) => {
    const { body } = await two.api.get<RouteOutput<Routes['listLogs']>>(`/api/v1/logs?op_id=${opId}`, bootstrapKey);
    return body.items[0]?.seq ?? 0;
  };
  const allowed: [string, string][] = [];
  for (let round = 0; round < 40; round++) {
    const [here, there] = round % 2 === 0 ? [one, two] : [two, one];
    const [reader, sender] = agents;
    if (reader === undefined || sender === undefined) throw new Error('there are two agents');
    const [mail, post] = await Promise.all([
      here.check(reader, inRun(`race-${round}`, 'read-mail')),
      there.check(sender, inRun(`race-${round}`, 'post')),
    ]);
    expect(mail.decision).toBe(Decision.ALLOW);
    if (post.decision === Decision.ALLOW) allowed.push([post.opId, mail.opId]);
  }
  for (const [post, mail] of allowed) expect(await seqOf(post)).toBeLessThan(await seqOf(mail));
}, 240_000);

test('labels count at every gateway once the call that gave them is answered, and so does clearing them', async () => {
  const { one, two, options } = pair;
  const agent = await one.register({ agentId: 'helper' });
  for (const [at, other] of [
    [one, two],
    [two, one],
  ] as const) {
    const labelled = await at.check(agent, inRun('r', 'read-mail'));
    const denied = await other.check(agent, inRun('r', 'post'));
    expect(denied).toMatchObject({ decision: Decision.DENY, policyRule: 'p/no-post' });
    expect(denied.reason).toContain(labelled.opId);
    const where = { org_id: 'acme', team_id: 'core', run_id: 'r', reason: 'looked at' };
    expect((await other.api.post('/api/v1/runs/labels/clear', bootstrapKey, where)).status).toBe(200);
    expect((await at.check(agent, inRun('r', 'post'))).decision).toBe(Decision.ALLOW);
  }
  await one.check(agent, inRun('kept', 'read-mail'));
  await one.kill();
  await using third = await TestGateway.start(options);
  expect((await third.check(agent, inRun('kept', 'post'))).decision).toBe(Decision.DENY);
}, 240_000);
