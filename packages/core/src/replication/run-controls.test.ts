import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkAction } from '../decision/check-action.ts';
import { controlScope, registerAgent } from '../testkit/commands.ts';
import type { LoggedEntry } from '../testkit/logged-entry.ts';
import { agentId, checkOf, operator, registration } from '../testkit/requests.ts';
import { Cluster, ticks } from '../testkit/shared-cluster.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';

const agents = ['acme/red/one', 'umbrella/red/two'].map(agentId);
const tokens = agents.map((_, nth) => `token of agent number ${nth}, long enough`);

type Deed = { readonly at: number; readonly agent: number; readonly kind: string; readonly op: number };

function deed({ gov }: TestGovernance, { agent, kind, op }: Deed): Promise<unknown> {
  const id = agents[agent];
  const token = tokens[agent];
  if (id === undefined || token === undefined) throw new Error('there is no such agent');
  if (kind === 'register') return registerAgent(gov, operator, registration(id, { token }));
  if (kind === 'check') {
    return checkAction(gov, checkOf({ agentId: id, token, traceId: `t${op}`, spanId: 's', runId: 'run' }));
  }
  const action = kind as 'pause' | 'terminate' | 'resume';
  // Two out of three concern one org, the others everybody.
  const scope = op % 3 === 0 ? { runId: 'run' } : { runId: 'run', orgId: id.orgId };
  return controlScope(gov, operator, { action, scope, reason: '', dryRun: false, idempotencyKey: null });
}

/** Reads the log by itself: between the beginning and the end of a control, no check in its run is allowed. */
function requireRefusals(entries: readonly LoggedEntry[]): void {
  const holding = new Map<unknown, { readonly org: unknown; readonly action: unknown }>();
  for (const { event_type: type, payload, decision, lineage, reason } of entries) {
    if (type === 'RunHeld') {
      // Of one credential, one control holds for the same reach.
      for (const [id, { org }] of holding) if (org === payload['org_id']) holding.delete(id);
      holding.set(payload['control_id'], { org: payload['org_id'], action: payload['action'] });
    } else if (type === 'RunReleased') expect(holding.delete(payload['control_id'])).toBe(true);
    if (decision === null || payload['replay'] === true) continue;
    const over = [...holding.values()].filter(({ org }) => org === null || org === lineage.org_id);
    const isTerminated = over.some(({ action }) => action === 'terminate');
    const expected = isTerminated ? 'run is terminated' : 'run is paused';
    if (over.length > 0) expect({ decision, reason }).toEqual({ decision: 'deny', reason: expected });
    else expect({ decision, reason }).not.toMatchObject({ reason: expect.stringMatching(/^run is/) as string });
  }
}

const kinds = ['check', 'check', 'check', 'check', 'pause', 'terminate', 'resume', 'resume'];
const moves = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      at: fc.nat(2),
      agent: fc.nat(agents.length - 1),
      op: fc.nat(40),
      kind: fc.constantFrom(...kinds),
    }),
  },
  { weight: 3, arbitrary: fc.record({ turn: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ work: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ follow: fc.nat(2) }) },
);

test('a control of a run holds at all gateways, from its entry in the log to its end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(moves, { minLength: 20, maxLength: 100 }), async (plan) => {
      const cluster = new Cluster('name: all\ndefault: allow\n');
      await cluster.start(3);
      const first = agents.map((_, agent) => deed(cluster.at(agent), { at: 0, agent, op: 0, kind: 'register' }));
      await cluster.settle();
      await Promise.all(first);
      const answers: Promise<unknown>[] = [];
      for (const move of plan) {
        if ('turn' in move) cluster.at(move.turn).turn();
        else if ('work' in move) cluster.log.work(Math.min(move.work, Math.max(0, cluster.log.waiting - 1)));
        else if ('follow' in move) cluster.at(move.follow).gov.journal.followReady();
        else answers.push(deed(cluster.at(move.at), move));
        await ticks();
      }
      await cluster.settle();
      await Promise.all(answers);
      const holding = cluster.members.map(({ gov }) =>
        [...gov.control.runs.all()].sort((a, b) => (a.controlId < b.controlId ? -1 : 1)),
      );
      for (const each of holding) expect(each).toEqual(holding[0]);
      const stored = (await cluster.at(0).store.load()).runControls;
      expect(stored.toSorted((a, b) => (a.controlId < b.controlId ? -1 : 1))).toEqual(holding[0]);
      requireRefusals(await cluster.at(0).audit());
    }),
    { numRuns: 40 },
  );
});
