import { describe, expect, test } from 'vitest';
import { agentId } from '../testkit/requests.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { loadPolicies } from './load-policies.ts';

const good = { file: 'good.yaml', text: 'name: good\ndefault: allow' };
const bad = { file: 'bad.yaml', text: 'name: bad\nnmae: x' };
const message =
  'bad.yaml:2:1: unknown key "nmae" in a policy document; known: scope, name, mode, default, hints, rules, rates, budget, pricing';

async function load(test: TestGovernance, ...sources: { file: string; text: string }[]) {
  return await test.settle(loadPolicies(test.gov, sources, {}));
}

test('policies come in force all at once, on record and with one event', async () => {
  const test = await testGovernance();
  const other = { file: 'other.yaml', text: 'name: other' };
  expect(await load(test, good, other)).toEqual([]);
  const { version, documents } = test.gov.policies;
  expect(documents.map((document) => document.name)).toEqual(['good', 'other']);
  expect(await test.audit()).toMatchObject([
    {
      event_type: 'PolicyReloaded',
      actor: { kind: 'system' },
      policy_version: version,
      lineage: { org_id: null },
      payload: { documents: ['good', 'other'], previous_version: 'none' },
    },
  ]);
  expect(test.events).toMatchObject([{ type: 'policy', version, error: null }]);
});

describe('a source with a problem', () => {
  test('holds back all of them: what was in force stays in force', async () => {
    const test = await testGovernance();
    await load(test, good);
    const before = test.gov.policies;
    const bot = await test.register(agentId('acme/search/bot'));
    const problems = await load(test, { file: 'good.yaml', text: 'name: good\ndefault: deny' }, bad);
    expect(problems).toMatchObject([{ file: 'bad.yaml', line: 2, column: 1 }]);
    expect(test.gov.policies).toBe(before);
    expect(await test.check(bot)).toMatchObject({ decision: 'allow' });
  });

  test('is on record and in an event, with its place', async () => {
    const test = await testGovernance();
    await load(test, good);
    const { version } = test.gov.policies;
    await load(test, good, bad);
    expect((await test.audit()).at(-1)).toMatchObject({
      event_type: 'PolicyReloadFailed',
      reason: message,
      payload: { problems: [message] },
    });
    expect(test.events.at(-1)).toMatchObject({ type: 'policy', version, error: message });
  });
});

test('a reload replaces all that was', async () => {
  const test = await testGovernance();
  await load(test, good);
  const { version } = test.gov.policies;
  await load(test, { file: 'new.yaml', text: 'name: new' });
  expect(test.gov.policies.documents.map((document) => document.name)).toEqual(['new']);
  expect(test.gov.policies.version).not.toBe(version);
  expect((await test.audit()).at(-1)?.payload['previous_version']).toBe(version);
});

test('where the store fails, what was in force stays in force', async () => {
  const test = await testGovernance();
  await load(test, good);
  const before = test.gov.policies;
  test.failure = new Error('the disk is full');
  const loading = load(test, { file: 'new.yaml', text: 'name: new' });
  await expect(loading).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(test.gov.policies).toBe(before);
});

test('a decision names the version it was made under', async () => {
  const test = await testGovernance();
  await load(test, good);
  const bot = await test.register(agentId('acme/search/bot'));
  await test.check(bot);
  expect((await test.audit()).at(-1)?.policy_version).toBe(test.gov.policies.version);
});

test('files of comments only leave no policy loaded', async () => {
  const test = await testGovernance();
  expect(await load(test, { file: 'a.yaml', text: '# later' })).toEqual([]);
  const bot = await test.register(agentId('acme/search/bot'));
  expect(await test.check(bot)).toMatchObject({ decision: 'deny', reason: 'no policy loaded' });
});
