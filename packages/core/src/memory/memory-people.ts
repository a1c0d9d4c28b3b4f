import type { PeoplePage, PeopleQuery, SeenPerson, SealedEntry, UserRunsPage, UserRunsQuery } from '../audit/index.ts';
import { mostAgentsOfPerson } from '../audit/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { AgentId } from '../kernel/index.ts';
import { emailKey, fitsQuery, searchedOf } from '../logs/index.ts';

/** A person whose entries are being counted, newest first. */
interface Counted extends Omit<SeenPerson, 'agents' | 'agentCount'> {
  readonly counts: Record<keyof SeenPerson['counts'], number>;
  readonly agents: Map<string, AgentId>;
}

/** The people of these entries, which come newest first and fit the query but for its team. */
export function peopleOf(entries: Iterable<SealedEntry>, query: PeopleQuery): PeoplePage {
  const known = new Map<string, Counted>();
  let lookedAt = 0;
  let oldest: PeoplePage['oldest'] = null;
  for (const entry of entries) {
    if (query.teamId === undefined || entry.draft.lineage.team_id === query.teamId) count(known, entry);
    lookedAt += 1;
    if (lookedAt < query.most) continue;
    oldest = { seq: entry.seq, at: entry.draft.at };
    break;
  }
  const rest = [...known.values()].filter(({ lastSeq }) => lastSeq < (query.lastBefore ?? Number.POSITIVE_INFINITY));
  const people = rest.slice(0, query.limit).map(personOf);
  return { people, next: rest.length > query.limit ? (people.at(-1)?.lastSeq ?? null) : null, oldest };
}

/** The runs of these entries, which come newest first and fit the query but for its user and team. */
export function runsOf(entries: Iterable<SealedEntry>, query: UserRunsQuery): UserRunsPage {
  const lastAts = new Map<string, number>();
  let lookedAt = 0;
  let next: number | null = null;
  for (const entry of entries) {
    const { run, at } = entry.draft;
    if (run !== undefined && fitsQuery(searchedOf(entry), query)) lastAts.set(run, Math.max(at, lastAts.get(run) ?? 0));
    lookedAt += 1;
    if (lookedAt < query.most) continue;
    next = entry.seq;
    break;
  }
  return { runs: [...lastAts].map(([run, lastAt]) => ({ run, lastAt })), next };
}

function count(known: Map<string, Counted>, { seq, draft: { user, decision, run, lineage, at } }: SealedEntry): void {
  // An answer that is given again has no run.
  if (user === undefined || decision === null || run === undefined) return;
  const { issuer, sub } = user;
  const key = JSON.stringify([issuer, sub]);
  const person = known.get(key) ?? {
    ...{ issuer, sub, email: emailKey(user.email) ?? '', lastAt: at, lastSeq: seq },
    counts: { allow: 0, deny: 0, pending: 0 },
    agents: new Map(),
  };
  known.set(key, person);
  person.counts[decision] += 1;
  const agent = { orgId: lineage.org_id ?? '', teamId: lineage.team_id, agentId: lineage.agent_id };
  person.agents.set(agentKey(agent), person.agents.get(agentKey(agent)) ?? agent);
}

function personOf({ agents, ...person }: Counted): SeenPerson {
  return { ...person, agents: [...agents.values()].slice(0, mostAgentsOfPerson), agentCount: agents.size };
}
