import { nothingElse } from './build-call.ts';
import { sourceOf } from './canaries.ts';
import { valueOf } from './caller.ts';
import { brief } from './compare-answers.ts';
import { lastingState } from './lasting-state.ts';
import type { Operation } from './operations.ts';
import type { Names } from './parameter-slots.ts';
import type { Probe } from './probe.ts';
import { ask } from './probe.ts';

/** Everything that the other tenant sees of itself, by operation. */
export type Snapshot = ReadonlyMap<string, string>;

const observerName = 'admin of the other org';

export async function takeSnapshot(probe: Probe, operations: readonly Operation[]): Promise<Snapshot> {
  const { b } = probe.canaries;
  const { id: observerId, key: bearer } = b.keys.org.admin;
  const seen = new Map<string, string>();
  for (const agent of Object.values(b.agents)) {
    const { orgId: org, teamId: team, agentId } = agent.id;
    const { opId: op, runId: run, controlId: control, approvalId: approval, grantId: grant, name: text } = agent;
    const policy = team === b.teams.one ? b.policies.one : b.policies.both;
    const source = sourceOf(org, team);
    const key = b.keys.org.spare.id;
    const invite = b.invites.org;
    const records = { key, op, run, control, approval, grant, invite, policy };
    const own: Names = { org, team, agent: agentId, ...records, source, text };
    for (const operation of operations.filter(({ method, tenancy }) => method === 'GET' && tenancy === 'own')) {
      const query = operation.query.some(({ name }) => name === 'per_page') ? { per_page: '1000' } : {};
      const answer = await ask(probe, operation, { bearer, own }, { ...nothingElse, query });
      // A stream of events is not a state.
      if (answer.type === 'text/event-stream') continue;
      const value = valueOf(answer);
      const shown = value === undefined ? answer.text : lastingState(value, observerId);
      seen.set(`${operation.name}\n${agentId}`, `${answer.status} ${shown}`);
    }
  }
  return seen;
}

/** Notes every change of the other tenant. */
export function noteChanges({ notebook }: Probe, before: Snapshot, after: Snapshot): void {
  for (const [key, text] of after) {
    const [operation = ''] = key.split('\n');
    const earlier = before.get(key) ?? '';
    if (earlier === text) continue;
    const start = firstDifference(earlier, text);
    const what = `changed while only another tenant was at work: ${brief(earlier.slice(start))} became ${brief(text.slice(start))}`;
    notebook.find(operation, observerName, what);
  }
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return Math.max(0, at - 40);
}
