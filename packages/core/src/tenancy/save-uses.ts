import type { Tenancy } from './tenancy.ts';

/** Writes how up to `most` agents used the gateway lately, within a turn of the journal. Returns whether more wait. */
export function saveUses({ directory, journal }: Tenancy, most: number): boolean {
  const { used } = directory;
  for (let written = 0; written < most; ) {
    const agent = used.next();
    if (agent === undefined) return false;
    const { coverage } = agent;
    if (coverage === null || directory.withKey(agent.key) !== agent) {
      // It has left since, and may have registered anew.
      used.delete(agent);
      continue;
    }
    journal.apply({ kind: 'agent_used', use: { id: agent.record.id, usage: coverage.usage } });
    written++;
  }
  return !used.isEmpty;
}
