import { ingest } from '../testkit/registered-ops.ts';
import { expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { moveOp } from './move-op.ts';
import { findOp, readOp } from './find-ops.ts';

const names = ['acme/search/bot', 'acme/ads/bot', 'umbrella/search/bot', '//bot'] as const;

/** Each agent has an operation "t:s", and the first one has "t:own", too. */
async function world(): Promise<TestGovernance> {
  const test = await testGovernance();
  await test.policies('default: allow');
  for (const name of names) {
    const agent = await test.register(agentId(name));
    await test.check(agent, { traceId: 't', spanId: 's' });
    if (name === names[0]) await test.check(agent, { traceId: 't', spanId: 'own' });
  }
  return test;
}

const bound = (orgId: string, teamId: string | null = null): Principal => ({ ...operator, orgId, teamId });

function ownerOf(test: TestGovernance, by: Principal, id: string): string {
  return findOp(test.gov, by, id).owner.key;
}

test('an id that one agent has means its operation', async () => {
  const test = await world();
  expect(ownerOf(test, operator, 't:own')).toBe('acme/search/bot');
});

test('an id that several have is ambiguous, and the refusal names them in full', async () => {
  const test = await world();
  expect(() => findOp(test.gov, operator, 't:s')).toThrow(
    expect.objectContaining({
      code: 'ambiguous_op',
      message: '4 agents have an operation "t:s"; say whose as org/team/agent/t:s',
      facts: {
        candidates: ['acme/search/bot/t:s', 'acme/ads/bot/t:s', 'umbrella/search/bot/t:s', '-/-/bot/t:s'],
      },
    }),
  );
});

test('the refusal names no more than twenty', async () => {
  const test = await world();
  for (let at = 0; at < 20; at++) {
    await test.check(await test.register(agentId(`acme/many/bot${at}`)), { traceId: 't', spanId: 's' });
  }
  const named = { code: 'ambiguous_op', facts: { candidates: expect.toSatisfy((ids: string[]) => ids.length === 20) } };
  expect(() => findOp(test.gov, operator, 't:s')).toThrow(expect.objectContaining(named));
});

test('each candidate is an id that means exactly that operation', async () => {
  const test = await world();
  expect(ownerOf(test, operator, 'acme/ads/bot/t:s')).toBe('acme/ads/bot');
  expect(ownerOf(test, operator, '-/-/bot/t:s')).toBe('//bot');
});

test('what another tenant has neither makes an id ambiguous nor is found', async () => {
  const test = await world();
  expect(ownerOf(test, bound('umbrella'), 't:s')).toBe('umbrella/search/bot');
  expect(ownerOf(test, bound('acme', 'ads'), 't:s')).toBe('acme/ads/bot');
  expect(() => findOp(test.gov, bound('acme'), 't:s')).toThrow(
    expect.objectContaining({
      code: 'ambiguous_op',
      facts: { candidates: ['acme/search/bot/t:s', 'acme/ads/bot/t:s'] },
    }),
  );
  for (const id of ['t:own', 'acme/search/bot/t:own', 'acme/ads/bot/t:s', '-/-/bot/t:s']) {
    const missing = expect.objectContaining({ code: 'op_not_found', message: `there is no operation "${id}"` });
    expect(() => findOp(test.gov, bound('umbrella'), id)).toThrow(missing);
  }
});

test.each([
  '',
  't',
  ':',
  't:s:x',
  'no:such',
  '/',
  'acme/search/bot',
  'acme/search/bot/',
  'acme/search/bot/no:such',
  'acme/search/nobody/t:s',
  'search/bot/t:s',
  'x/acme/search/bot/t:s',
  'acme/search/bot/t:s/x',
  'acme/search/-/t:s',
  'toString',
  '__proto__',
])('there is no operation %j', async (id) => {
  const test = await world();
  expect(() => findOp(test.gov, operator, id)).toThrow(expect.objectContaining({ code: 'op_not_found' }));
});

test('an operation that is gone leaves its id to the others that have it', async () => {
  const test = await world();
  const ads = test.known(agentId('acme/ads/bot'));
  const gone = findOp(test.gov, operator, 'acme/ads/bot/t:s');
  const undo = test.gov.ops.forget(gone);
  expect(ownerOf(test, bound('acme'), 't:s')).toBe('acme/search/bot');
  undo();
  expect(() => findOp(test.gov, bound('acme'), 't:s')).toThrow(expect.objectContaining({ code: 'ambiguous_op' }));
  test.gov.ops.forget(gone);
  test.gov.ops.forget(findOp(test.gov, bound('acme'), 't:s'));
  expect(() => findOp(test.gov, bound('acme'), 't:s')).toThrow(expect.objectContaining({ code: 'op_not_found' }));
  expect(ingest(test.gov, ads, 't:s').created).toBe(true);
  expect(ownerOf(test, bound('acme'), 't:s')).toBe('acme/ads/bot');
});

test('after a restart ids mean what they meant', async () => {
  const test = await world();
  const again = await test.crash();
  expect(findOp(again.gov, operator, 't:own').owner.key).toBe('acme/search/bot');
  expect(() => findOp(again.gov, operator, 't:s')).toThrow(expect.objectContaining({ code: 'ambiguous_op' }));
});

test('reading needs the scope "read"', async () => {
  const test = await world();
  const refusal = expect.objectContaining({ code: 'insufficient_scope' });
  await expect(readOp(test.gov, { ...operator, scopes: [] }, 't:own')).rejects.toThrow(refusal);
});

test('what is read is durable: a change that fails is never shown', async () => {
  const test = await world();
  const op = findOp(test.gov, operator, 't:own');
  moveOp(test.gov, op, 'pause', { actor: operator.actor, reason: '' });
  expect(await test.settle(readOp(test.gov, operator, 't:own'))).toMatchObject({ state: 'paused' });
  moveOp(test.gov, op, 'terminate', { actor: operator.actor, reason: '' });
  test.failure = new Error('the disk is full');
  await expect(test.settle(readOp(test.gov, operator, 't:own'))).rejects.toMatchObject({ code: 'store_unavailable' });
  test.failure = undefined;
  expect(await test.settle(readOp(test.gov, operator, 't:own'))).toMatchObject({ state: 'paused' });
});
