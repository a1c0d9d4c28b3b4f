import { expect, test } from 'vitest';
import { from, testAccounts } from '../testkit/test-accounts.ts';
import { changeAccounts, drainOutbox, somebody } from './change-accounts.ts';

test('entries that a process owed when it ended are recorded later, once', async () => {
  const world = await testAccounts();
  const { accounts, clock } = world;
  const [mark] = await world.audit();
  await accounts.store.transaction([], (rows) =>
    rows.saveOutboxEntry({ id: 'o1', at: clock.now(), draft: draft('AccountLocked') }),
  );
  await world.run(drainOutbox(accounts));
  expect(await world.audit()).toEqual([mark]);
  clock.advance(60_001);
  await world.run(Promise.all([drainOutbox(accounts), drainOutbox(accounts)]));
  clock.advance(60_001);
  await world.run(drainOutbox(accounts));
  expect((await world.audit()).map((entry) => entry.event_type)).toEqual(['SigningKeyRotated', 'AccountLocked']);
});

test('what is thrown leaves nothing behind and owes nothing', async () => {
  const world = await testAccounts();
  const { accounts, clock } = world;
  const work = changeAccounts(accounts, null, [], async (rows, audit) => {
    await rows.saveAttempts({ emailHash: 'h', count: 1, lockedUntil: null, updatedAt: clock.now() });
    await audit('LoginFailed', { actor: somebody, from });
    throw new Error('no');
  });
  await expect(world.run(work)).rejects.toThrow('no');
  expect(await accounts.store.read((rows) => rows.attempts('h'))).toBeUndefined();
  expect(await accounts.store.read((rows) => rows.outboxEntries(clock.now() + 1, 10))).toEqual([]);
  expect(await world.audit()).toHaveLength(1);
});

function draft(eventType: string): string {
  return JSON.stringify({
    at: 0,
    eventType,
    lineage: { agent_id: '', depth: 0, org_id: null, parent_agent_id: null, root_agent_id: '', team_id: '' },
    actor: somebody,
    opId: null,
    traceId: null,
    spanId: null,
    decision: null,
    reason: null,
    policyRule: null,
    policyVersion: null,
    payload: '{}',
  });
}
