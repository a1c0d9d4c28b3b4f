import { describe, expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import type { DomainEvent } from '../store.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { EventFilter } from './event-filter.ts';
import { eventsFor } from './event-filter.ts';

const bound = (orgId: string, teamId: string | null = null): Principal => ({ ...operator, orgId, teamId });
const of = (agent: string): DomainEvent => ({ type: 'agent', at: 1, agent: agentId(agent), change: 'registered' });
const policy: DomainEvent = { type: 'policy', at: 1, version: 'v', error: null, document: null };
const all = ['acme/search/bot', 'acme/ops/bot', 'acme//bot', 'umbrella/search/bot', '//bot', '/search/loner'];

const seen = (by: Principal, filter: EventFilter = {}) => all.filter((agent) => eventsFor(by, filter)(of(agent)));

describe('a caller sees', () => {
  test.each([
    ['everything where it is bound to nothing', operator, all],
    ['its org where it is bound to one', bound('acme'), ['acme/search/bot', 'acme/ops/bot', 'acme//bot']],
    [
      'its team where it is bound to one, and no team of that name elsewhere',
      bound('acme', 'search'),
      ['acme/search/bot'],
    ],
    ['nothing of an org that nobody is in', bound('initech'), []],
  ])('%s', (_, by, expected) => {
    expect(seen(by)).toEqual(expected);
  });

  test.each([
    ['an org', operator, { orgId: 'umbrella' }, ['umbrella/search/bot']],
    ['an agent', operator, { agentId: 'loner' }, ['/search/loner']],
    ['both', operator, { orgId: 'acme', agentId: 'loner' }, []],
    ['an org that is not the caller’s', bound('acme'), { orgId: 'umbrella' }, []],
    ['a type that fits', bound('acme', 'ops'), { types: ['policy', 'agent'] }, ['acme/ops/bot']],
    ['types that do not', operator, { types: ['policy', 'ops_change'] }, []],
  ])('only what it asks for by %s', (_, by, filter, expected) => {
    expect(seen(by, filter)).toEqual(expected);
  });

  test.each([
    ['bound to nothing', operator, {}, true],
    ['that asks for it by type', operator, { types: ['policy'] }, true],
    ['that asks for other types', operator, { types: ['agent'] }, false],
    ['that asks for an org', operator, { orgId: 'acme' }, false],
    ['that asks for an agent', operator, { agentId: 'bot' }, false],
    ['bound to an org', bound('acme'), {}, false],
    ['bound to a team', bound('acme', 'search'), { types: ['policy'] }, false],
  ])('what concerns the whole gateway, or not: one %s', (_, by, filter, expected) => {
    expect(eventsFor(by, filter)(policy)).toBe(expected);
  });
});
