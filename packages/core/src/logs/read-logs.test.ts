import { beforeAll, describe, expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import { agentId, operator } from '../testkit/requests.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import type { LogFilter } from './logs.ts';
import { latestLogs, oldestLogs } from './logs.ts';

const store = new MemoryStore();
const everyone = { limit: 100 };
const impersonations = { eventType: 'A2AImpersonationAttempted', limit: 100 };

/** Two orgs with one agent each, and one agent without an org. The agent of acme has impersonated that of umbrella. */
beforeAll(async () => {
  const test = await testGovernance({ store });
  const acme = await test.register(agentId('acme/search/bot'));
  const umbrella = await test.register(agentId('umbrella/search/bot'));
  const loose = await test.register(agentId('//bot'));
  for (const agent of [acme, umbrella, loose]) await test.check(agent);
  await test.check({ ...umbrella, token: acme.token });
  await test.check({ id: agentId('acme/search/ghost'), token: 'made-up' });
});

async function orgsSeen(by: Principal, filter: LogFilter): Promise<(string | null)[]> {
  const { entries } = await latestLogs(store, by, filter);
  const oldest = await oldestLogs(store, by, filter);
  expect(oldest.entries.toReversed()).toEqual(entries);
  return entries.map((entry) => (JSON.parse(entry.canonical) as { lineage: { org_id: string | null } }).lineage.org_id);
}

function bound(orgId: string, members: Partial<Principal> = {}): Principal {
  return { ...operator, orgId, ...members };
}

describe('the log', () => {
  test('shows everything to whoever is bound to nothing', async () => {
    expect(new Set(await orgsSeen(operator, everyone))).toEqual(new Set(['acme', 'umbrella', null]));
  });

  test('shows a tenant its own entries only', async () => {
    expect(new Set(await orgsSeen(bound('acme'), everyone))).toEqual(new Set(['acme']));
    expect(new Set(await orgsSeen(bound('umbrella'), everyone))).toEqual(new Set(['umbrella']));
    expect(await orgsSeen(bound('initech'), everyone)).toEqual([]);
  });

  test("is empty where a tenant asks for another's", async () => {
    expect(await orgsSeen(bound('acme'), { ...everyone, orgId: 'umbrella' })).toEqual([]);
    expect(await orgsSeen(bound('acme', { teamId: 'search' }), { ...everyone, teamId: 'other' })).toEqual([]);
  });

  test('never gives an entry without an org to an org', async () => {
    expect(await orgsSeen(operator, { ...everyone, orgId: '' })).toEqual([]);
  });

  test('shows an impersonation to admins of either org, by its type', async () => {
    expect(await orgsSeen(bound('acme'), impersonations)).toEqual(['acme']);
    expect(await orgsSeen(bound('umbrella'), impersonations)).toEqual(['acme']);
    expect(await orgsSeen(bound('initech'), impersonations)).toEqual([]);
  });

  test.each<[string, Principal, LogFilter]>([
    ['who is no admin', bound('umbrella', { scopes: ['write'] }), impersonations],
    ['of a team only', bound('umbrella', { teamId: 'search' }), impersonations],
    ['who asks by org', bound('umbrella'), { ...impersonations, orgId: 'umbrella' }],
    ['who asks for everything', bound('umbrella'), { ...everyone, decision: 'deny' }],
  ])('does not show it to one of the claimed org %s', async (_, by, filter) => {
    expect(await orgsSeen(by, filter)).not.toContain('acme');
  });

  test('needs the scope "read"', () => {
    expect(() => latestLogs(store, { ...operator, scopes: [] }, everyone)).toThrow(
      expect.objectContaining({ code: 'insufficient_scope' }),
    );
  });
});
