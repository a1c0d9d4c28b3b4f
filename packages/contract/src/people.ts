import type { RouteOutput } from './http/route.ts';
import type { Routes } from './http/routes.ts';

/** A user for whom agents acted, with what was decided. */
export type PersonJson = RouteOutput<Routes['listPeople']>['items'][number];

/**
 * People with those of the next page. Whoever comes again has older entries there: the numbers add up, the rest is as
 * it was last. How many agents there are is then the least that it can be, because pages do not name them all.
 */
export function addPeople(known: readonly PersonJson[], next: readonly PersonJson[]): readonly PersonJson[] {
  const all = new Map(known.map((person) => [keyOfPerson(person), person]));
  for (const person of next) {
    const key = keyOfPerson(person);
    const newer = all.get(key);
    all.set(key, newer === undefined ? person : together(newer, person));
  }
  return [...all.values()];
}

/** What distinguishes people. */
export function keyOfPerson({ user: { issuer, sub } }: PersonJson): string {
  return JSON.stringify([issuer, sub]);
}

function together(newer: PersonJson, older: PersonJson): PersonJson {
  const named = new Map([...newer.agents, ...older.agents].map((agent) => [JSON.stringify(agent), agent]));
  return {
    ...newer,
    allow: newer.allow + older.allow,
    deny: newer.deny + older.deny,
    pending: newer.pending + older.pending,
    agents: [...named.values()].slice(0, mostAgents),
    agent_count: Math.max(newer.agent_count, older.agent_count, named.size),
  };
}

/** As many as the gateway names. */
const mostAgents = 5;
