import { beforeEach, expect, test } from 'vitest';
import type { Condition } from '../policy/condition.ts';
import { delegateAgent } from '../testkit/commands.ts';
import { approve, person } from '../testkit/approvals.ts';
import { agentId, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';

const policy = `
name: p
default: allow
rules:
  - { name: send, effect: require_approval, tools: [send, post], labels: [sent] }
  - { name: no-send, effect: deny, tools: [send], when: secret }
  - { name: read, effect: allow, tools: [read], labels: [secret] }
  - { name: no-read, effect: deny, tools: [read], when: sent }
  - { name: many, effect: allow, tools: [many], labels: [${Array.from({ length: 64 }, (_, at) => `l${at}`).join()}] }
`;

let g: TestGovernance;
let bot: TestAgent;

beforeEach(async () => {
  g = await testGovernance({
    features: {
      compileCondition: (label) =>
        Object.assign((facts: Parameters<Condition>[0]) => facts.run().labels.includes(label), {
          readsLabels: true as const,
        }),
    },
  });
  await g.policies(policy);
  bot = await g.register(agentId('acme/search/bot'));
});

const call = (tool: string, agent = bot, runId = 'r') => g.check(agent, { action: useTool(tool), runId });
const stateOf = (opId: string, agent = bot) => g.gov.ops.get(g.known(agent.id), opId).state;
const why = 'its run has got labels since it asked; ask again';

test('a call whose run has got labels that its rules may read does not run by an approval, and its agent is told', async () => {
  const sending = await call('send');
  expect(sending.decision).toBe('pending');
  expect((await call('read')).decision).toBe('allow');
  g = await g.crash();
  await expect(approve(g, sending.approvalId)).rejects.toMatchObject({
    code: 'already_decided',
    message: expect.stringContaining(why) as string,
    facts: { state: 'rejected' },
  });
  expect(stateOf(sending.opId)).toBe('terminated');
  const entries = await g.audit();
  expect(entries.findLast(({ event_type }) => event_type === 'ApprovalRejected')).toMatchObject({
    reason: `rejected by Reeve: ${why}`,
  });
  expect(entries.some(({ event_type }) => event_type === 'ApprovalGranted')).toBe(false);
  expect((await call('send')).policyRule).toBe('p/no-send');
});

test('labels that find no room keep a call from running, and labels of other runs do not matter', async () => {
  await call('read', bot, 'other');
  const sending = await call('post');
  await call('many');
  expect(await approve(g, sending.approvalId).catch((error: unknown) => error)).toMatchObject({
    message: expect.stringContaining('too many labels') as string,
  });
  const other = await call('send', bot, 'third');
  expect((await approve(g, other.approvalId)).state).toBe('approved');
});

test('where no rule about the call reads labels, they do not matter', async () => {
  const [first, second] = [await call('post'), await call('post')];
  expect((await call('read')).decision).toBe('allow');
  for (const { approvalId, opId } of [first, second]) {
    expect((await approve(g, approvalId)).state).toBe('approved');
    expect(stateOf(opId)).toBe('running');
  }
});

test('labels count at each of several verdicts, and those of rules on a delegator, too', async () => {
  await g.policies(
    `
name: p
default: allow
rules:
  - { name: send, effect: require_approval, tools: [send], approvals: { count: 2 } }
  - { name: read, effect: allow, tools: [read], labels: [secret] }
`,
    `
name: q
scope: agent:acme/search/bot
rules: [{ name: no-send, effect: deny, tools: [send], when: secret }]
`,
  );
  const { agentId: id, token } = await g.settle(delegateAgent(g.gov, bot, 'worker'));
  const worker = { id, token };
  const sending = await call('send', worker);
  await approve(g, sending.approvalId, person('ann'));
  await call('read', worker);
  await expect(approve(g, sending.approvalId, person('bob'))).rejects.toMatchObject({ code: 'already_decided' });
  expect(stateOf(sending.opId, worker)).toBe('terminated');
});
