import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Governance } from '../governance.ts';
import { agentKey } from '../kernel/ids.ts';
import { elsewhere, here } from '../testkit/applying.ts';
import { expectInverses } from '../testkit/expect-inverses.ts';
import { agentId } from '../testkit/requests.ts';
import { sampleApproval, sampleGrant } from '../testkit/store-approval-conformance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import type { Approval } from './approval.ts';
import { approvalStates } from './approval.ts';
import { approvalFacts } from './approvals-facts.ts';
import type { ApprovalsChange } from './approvals-slice.ts';
import type { StandingGrant } from './grant.ts';

const agents = [agentId('acme/search/bot'), agentId('globex/web/bot')] as const;
const approvals = ['apr_1', 'apr_2', 'apr_3', 'apr_4'];
const grants = ['grt_1', 'grt_2', 'grt_3'];

const someApproval = fc
  .record({
    number: fc.nat(approvals.length - 1),
    state: fc.constantFrom(...approvalStates),
    isTold: fc.boolean(),
    notices: fc.constantFrom<Approval['notices']>([], ['decided']),
  })
  .map(({ number, state, isTold, notices }): ApprovalsChange => {
    const approval: Approval = {
      ...sampleApproval,
      id: approvals[number] ?? '',
      agent: agents[number % 2 === 0 ? 0 : 1],
      opId: number < 3 ? 'op' : 'other',
      state,
      notices,
      signalSequence: isTold && state !== 'open' ? number + 5 : null,
    };
    return { kind: 'approval_saved', approval };
  });

const someGrant = fc
  .record({ number: fc.nat(grants.length - 1), uses: fc.nat(3), revokedAt: fc.constantFrom(null, 7) })
  .map(({ number, ...members }): ApprovalsChange => {
    const grant: StandingGrant = {
      ...sampleGrant,
      ...members,
      id: grants[number] ?? '',
      agent: agents[number % 2 === 0 ? 0 : 1],
    };
    return { kind: 'grant_saved', grant };
  });

test('whatever becomes of approvals and grants and is taken back leaves all as it was, and what agents are told', async () => {
  const shown = (gov: Governance) => ({
    known: approvals.map((id) => gov.approvals.find(id)),
    due: [...gov.approvals.due()].map(({ id }) => id).sort(),
    open: [gov.approvals.openCount, ...agents.map((agent) => gov.approvals.openCountOf(agentKey(agent)))],
    ofOps: agents.flatMap((agent) => ['op', 'other'].map((opId) => gov.approvals.ofOp(agent, opId)?.id)),
    ofSignals: agents.flatMap((agent) => [5, 6, 7, 8].map((sequence) => gov.approvals.ofSignal(agent, sequence)?.id)),
    grants: grants.map((id) => gov.approvals.findGrant(id)),
    messages: agents.map((agent) => {
      const outbox = gov.control.outbox(agent);
      return [outbox.lastSequence, ...[...outbox.queued()].map(({ message }) => message)];
    }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(someApproval, someGrant)), fc.nat(3), async (facts, hours) => {
      const { gov, clock } = await testGovernance();
      clock.advance(hours * 3_600_000);
      expectInverses(gov, facts, () => shown(gov));
    }),
  );
});

test('an approval that is taken back waits no longer than before, if the wall clock was set back meanwhile', async () => {
  const { gov, clock } = await testGovernance();
  const open: Approval = { ...sampleApproval, requestedAt: clock.now(), expiresAt: clock.now() + 1000 };
  approvalFacts.approval_saved.apply(gov, { kind: 'approval_saved', approval: open }, elsewhere);
  clock.advance(600);
  clock.setWallClock(-600);
  const decided: Approval = { ...open, state: 'rejected', signalSequence: 1 };
  approvalFacts.approval_saved.apply(gov, { kind: 'approval_saved', approval: decided }, here)();
  clock.advance(400);
  expect(gov.approvals.isDue(open)).toBe(true);
});
