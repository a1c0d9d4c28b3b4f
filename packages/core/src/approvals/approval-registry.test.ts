import { beforeEach, describe, expect, test } from 'vitest';
import { agentKey } from '../kernel/ids.ts';
import { approve, person } from '../testkit/approvals.ts';
import { agentId, useTool } from '../testkit/requests.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import type { Approval } from './approval.ts';
import { ApprovalRegistry } from './approval-registry.ts';
import type { StandingGrant } from './grant.ts';

const id = agentId('acme/search/bot');
const key = agentKey(id);
let world: TestGovernance;
let registry: ApprovalRegistry;
/** `open` waits for a verdict. The agent of `told` is still to be told the outcome. */
let open: Approval;
let told: Approval;
let grant: StandingGrant;

beforeEach(async () => {
  world = await testGovernance();
  await world.policies('name: p\nrules: [{ name: ask, effect: require_approval }]\n');
  const bot = await world.register(id);
  const { approvalId } = await world.check(bot, { traceId: 't', spanId: 's', runId: 'r', action: useTool('shell') });
  const found = world.gov.approvals.find(approvalId);
  told = await approve(world, approvalId, person('alice'), { grant: { reach: 'run' } });
  const given = await world.store.approvals.grant(told.grantId ?? '');
  if (found === undefined || given === undefined) throw new Error('there is no such approval');
  open = found;
  grant = given;
  const { reader, settings } = world.gov.approvals;
  registry = new ApprovalRegistry({ reader, settings, clock: world.clock });
});

describe('an approval in memory', () => {
  test('counts as open until it is decided, for its agent and in all', () => {
    const counts = () => [
      registry.openCount,
      registry.openCountOf(key),
      registry.openCountOf(agentKey(agentId('acme/search/x'))),
    ];
    expect(counts()).toEqual([0, 0, 0]);
    registry.place(open);
    registry.place({ ...open, id: 'apr_2', opId: 'u:s' });
    registry.place({ ...open, id: 'apr_3', agent: agentId('acme/search/x') });
    registry.place(open);
    expect(counts()).toEqual([3, 2, 1]);
    registry.place(told);
    expect(counts()).toEqual([2, 1, 1]);
    registry.drop('apr_2');
    registry.drop('apr_2');
    expect(counts()).toEqual([1, 0, 1]);
    registry.drop('apr_3');
    expect(counts()).toEqual([0, 0, 0]);
  });

  test('is found by its operation and by its message for as long as its agent is to be told', () => {
    const found = () =>
      [registry.find(open.id), registry.ofOp(id, 't:s'), registry.ofSignal(id, 1)].map((each) => each?.state);
    registry.place(open);
    expect(found()).toEqual(['open', 'open', undefined]);
    registry.place(told);
    expect(found()).toEqual(['approved', 'approved', 'approved']);
    registry.place({ ...told, signalSequence: null, notices: ['decided'] });
    expect(found()).toEqual(['approved', undefined, undefined]);
    registry.place({ ...told, signalSequence: null });
    expect(found()).toEqual([undefined, undefined, undefined]);
  });

  test('is found by no other operation, message or agent', () => {
    registry.place(told);
    registry.place({ ...told, id: 'apr_2', opId: 'u:s', signalSequence: 2 });
    expect([registry.ofOp(id, 't:s')?.id, registry.ofOp(id, 'u:s')?.id, registry.ofOp(id, 'v:s')]).toEqual([
      told.id,
      'apr_2',
      undefined,
    ]);
    expect([1, 2, 3].map((sequence) => registry.ofSignal(id, sequence)?.id)).toEqual([told.id, 'apr_2', undefined]);
    const other = agentId('acme/search/x');
    expect([registry.ofOp(other, 't:s'), registry.ofSignal(other, 1)]).toEqual([undefined, undefined]);
  });

  test.each(['rejected', 'expired', 'cancelled'] as const)('that was %s is not that of a later operation', (state) => {
    registry.place({ ...told, state });
    expect([registry.ofOp(id, 't:s'), registry.ofSignal(id, 1)?.state]).toEqual([undefined, state]);
  });

  test('has the rest of its time after a restart, also where the clock is then set back', () => {
    world.clock.advance(200_000);
    registry.place(open);
    world.clock.setWallClock(-86_400_000);
    world.clock.advance(99_999);
    expect(registry.isDue(open)).toBe(false);
    world.clock.advance(1);
    expect(registry.isDue(open)).toBe(true);
  });

  test('gives way to a later one of the same operation, and does not take that along when it goes', () => {
    registry.place(told);
    registry.place({ ...open, id: 'apr_later' });
    expect(registry.ofOp(id, 't:s')?.id).toBe('apr_later');
    registry.drop(told.id);
    expect(registry.ofOp(id, 't:s')?.id).toBe('apr_later');
  });

  test('is due by either clock, however often it is put in place', () => {
    const due = () => [...registry.due()].map((each) => each.id);
    registry.place(open);
    world.clock.advance(299_999);
    world.clock.setWallClock(-86_400_000);
    registry.place(open);
    expect([registry.isDue(open), due()]).toEqual([false, []]);
    world.clock.advance(1);
    expect([registry.isDue(open), due()]).toEqual([true, [open.id]]);
    registry.drop(open.id);
    expect([registry.isDue(open), due()]).toEqual([false, []]);
    world.clock.setWallClock(86_400_000);
    expect(registry.isDue(open)).toBe(true);
  });
});

describe('a grant in memory', () => {
  const other = () => ({ ...grant, id: 'grt_other' });

  test('goes alone when it is revoked', () => {
    registry.placeGrant(grant);
    registry.placeGrant(other());
    registry.placeGrant({ ...grant, revokedAt: 1 });
    expect([registry.findGrant(grant.id), registry.findGrant('grt_other')]).toEqual([undefined, other()]);
    registry.dropGrant(other());
    expect(registry.findGrant('grt_other')).toBeUndefined();
  });

  test('is found by its id, whatever it covers', () => {
    const elsewhere = { ...other(), coverDigest: 'another' };
    registry.placeGrant(grant);
    registry.placeGrant(elsewhere);
    expect([registry.findGrant(grant.id), registry.findGrant('grt_other')]).toEqual([grant, elsewhere]);
  });

  test('is put in the place of what it was', () => {
    registry.placeGrant(grant);
    registry.placeGrant({ ...grant, uses: 1 });
    expect(registry.findGrant(grant.id)?.uses).toBe(1);
    registry.dropGrant(grant);
    expect(registry.findGrant(grant.id)).toBeUndefined();
  });

  test('is let go of once it has expired, and others are not', () => {
    registry.placeGrant(grant);
    registry.placeGrant({ ...other(), expiresAt: grant.expiresAt + 1 });
    world.clock.advance(grant.expiresAt - world.clock.now() - 1);
    registry.forgetExpiredGrants();
    expect(registry.findGrant(grant.id)).toEqual(grant);
    world.clock.advance(1);
    registry.forgetExpiredGrants();
    expect(registry.findGrant(grant.id)).toBeUndefined();
    expect(registry.findGrant('grt_other')?.id).toBe('grt_other');
  });
});
