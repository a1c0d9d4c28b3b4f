import { expect, test } from 'vitest';
import type { PersonJson } from './people.ts';
import { addPeople } from './people.ts';

const agent = (agent_id: string) => ({ org_id: 'acme', team_id: 'core', agent_id });

const person = (sub: string, members: Partial<PersonJson> = {}): PersonJson => ({
  user: { issuer: 'https://id.example.com', sub, email: '' },
  last_at: '2026-11-15T08:00:00.000Z',
  ...{ allow: 1, deny: 2, pending: 3 },
  agents: [agent('bot')],
  agent_count: 1,
  ...members,
});

test('whoever comes again is told once, with the sum, and as seen last', () => {
  const older = person('ann', {
    last_at: '2026-11-01T08:00:00.000Z',
    agents: [agent('old'), agent('bot')],
    agent_count: 2,
  });
  expect(addPeople([person('ann'), person('eve')], [older, person('zoe')])).toEqual([
    person('ann', { allow: 2, deny: 4, pending: 6, agents: [agent('bot'), agent('old')], agent_count: 2 }),
    person('eve'),
    person('zoe'),
  ]);
});

test('the same subject of another issuer is another person', () => {
  const other = { ...person('ann'), user: { issuer: 'https://b.example', sub: 'ann', email: '' } };
  expect(addPeople([person('ann')], [other])).toHaveLength(2);
});
