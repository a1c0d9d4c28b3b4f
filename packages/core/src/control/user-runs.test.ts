import { beforeEach, expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { noLineage } from '../audit/entry.ts';
import { MemoryStore } from '../memory/index.ts';
import { agentId, operator } from '../testkit/requests.ts';
import { sampleDraft } from '../testkit/store-samples.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import type { UserRunsSearch } from './user-runs.ts';
import { findUserRuns } from './user-runs.ts';

const user = { issuer: 'https://id.example.com', sub: 'u-1', email: '' };
const acme: Principal = { ...operator, orgId: 'acme' };

let store: MemoryStore;
let world: TestGovernance;
beforeEach(async () => {
  store = new MemoryStore();
  world = await testGovernance({ store });
  await world.policies('default: allow');
});

/** Somebody's agent acts in a run, which is remembered. */
async function remember(org: string): Promise<void> {
  const agent = await world.register(agentId(`${org}/core/bot`));
  await world.check(agent, { runId: 'r' });
}

/** The log says that the user's agents acted in so many runs of an org. */
function act(org: string, count: number): void {
  const lineage = { ...noLineage, org_id: org };
  for (let at = 0; at < count; at++) {
    world.gov.journal.record(sampleDraft({ at: world.clock.now(), lineage, user, run: `${org} ${at}` }));
  }
  world.turn();
}

function find(by: Principal, search: Partial<UserRunsSearch> = {}) {
  const all = { before: Number.MAX_SAFE_INTEGER, hasLeft: () => false, entriesPerStep: 2, ...search };
  return findUserRuns(world.gov, store, by, { user: user.sub }, all);
}

test('one search takes a bounded number of steps, and the next one goes on', async () => {
  await remember('acme');
  act('acme', 9);
  const first = await find(operator, { mostSteps: 3 });
  expect([...first.runs.keys()]).toEqual(['acme 8', 'acme 7', 'acme 6', 'acme 5', 'acme 4', 'acme 3']);
  const second = await find(operator, { mostSteps: 3, before: first.next ?? 0 });
  expect([[...second.runs.keys()], second.next]).toEqual([['acme 2', 'acme 1', 'acme 0'], null]);
});

test('a search ends once nobody waits for it', async () => {
  await remember('acme');
  act('acme', 9);
  let looks = 0;
  const { runs, next } = await find(operator, { hasLeft: () => ++looks > 2 });
  expect(runs.size).toBe(4);
  expect(next).not.toBeNull();
});

test('what a person does in another org costs a tenant no step', async () => {
  await remember('umbrella');
  world.clock.advance(60_000);
  await remember('acme');
  act('acme', 1);
  const before = await stepsOf(acme);
  act('umbrella', 50);
  expect(await stepsOf(acme)).toBe(before);
  expect([...(await find(acme)).runs.keys()]).toEqual(['acme 0']);
});

test('how long ago another org began a run costs a tenant no step', async () => {
  await remember('acme');
  act('acme', 50);
  world.clock.advance(60_000);
  await remember('umbrella');
  const umbrella: Principal = { ...operator, orgId: 'umbrella' };
  act('umbrella', 1);
  expect(await stepsOf(umbrella)).toBeLessThan(5);
});

async function stepsOf(by: Principal): Promise<number> {
  let steps = 0;
  await find(by, { hasLeft: () => ++steps > 100, mostSteps: 100 });
  return steps;
}
