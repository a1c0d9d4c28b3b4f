import { expect, test } from 'vitest';
import { checkAction } from '../decision/check-action.ts';
import { ask, expire } from '../testkit/approvals.ts';
import { controlOp } from '../testkit/commands.ts';
import { control } from '../testkit/controls.ts';
import { agentId, checkOf, operator, useTool } from '../testkit/requests.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { twoGateways } from '../testkit/two-gateways.ts';
import { expireApprovals } from './settle-approval.ts';

test('an approval is cancelled whose operation was ended by a gateway that does not know whom it asked', async () => {
  const { one, two, settled, register, follow } = await twoGateways(
    'name: p\ndefault: allow\nrules: [{ name: ask, effect: require_approval, tools: [x] }]\n',
  );
  const { id, token } = await register('acme/red/bot');
  const asked = checkOf({ agentId: id, token, traceId: 'a', spanId: 's', action: useTool('x') });
  const { approvalId } = await settled(checkAction(one.gov, asked));
  await follow();
  // As if the approval had come in a form that the second gateway does not know.
  two.gov.directory.outOfService.add({ agents: ['acme/red/bot'], orgs: [], everything: false });
  two.gov.approvals.drop(approvalId);

  const [op] = two.gov.ops.withId('a:s');
  if (op === undefined) throw new Error('there is no operation');
  await settled(controlOp(two.gov, operator, op, 'terminate', 'stop it'));
  await follow();
  expect(one.gov.approvals.find(approvalId)).toMatchObject({ state: 'open' });

  expect(await settled(expireApprovals(one.gov, 50))).toBe(1);
  expect(one.gov.approvals.find(approvalId)).toBeUndefined();
  const entries = await one.audit();
  expect(entries.at(-1)).toMatchObject({
    event_type: 'ApprovalCancelled',
    actor: { kind: 'system' },
    reason: 'its operation has ended: stop it',
    payload: { approval_id: approvalId },
  });
  expect(await settled(expireApprovals(one.gov, 50))).toBe(0);
});

test('an approval that falls due after its operation has ended is cancelled, and others expire all the same', async () => {
  const test = await testGovernance();
  const agent = await test.register(agentId('acme/red/bot'));
  const [first, second] = [await ask(test, agent, 'a'), await ask(test, agent, 'b')];
  const approval = test.gov.approvals.find(first);
  await control(test, agent, 'a:s', 'terminate', 'stop it');
  if (approval !== undefined) test.gov.approvals.place(approval);
  test.clock.advance(86_400_000);
  expect(await expire(test)).toBe(2);
  expect(test.gov.approvals.openCount).toBe(0);
  const ends = (await test.audit()).filter(({ event_type }) => /^Approval(Cancelled|Expired)$/.test(event_type));
  expect(ends.map(({ payload }) => (payload as { approval_id: string }).approval_id)).toEqual([first, second, first]);
});
