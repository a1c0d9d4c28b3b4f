import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isPausedBySuspension } from '../control/held-ops.ts';
import { checkAction } from '../decision/check-action.ts';
import { controlScope, liftSuspension, registerAgent, suspendScope } from '../testkit/commands.ts';
import type { LoggedEntry } from '../testkit/logged-entry.ts';
import { agentId, checkOf, operator, registration } from '../testkit/requests.ts';
import { Cluster, ticks } from '../testkit/shared-cluster.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';

const agents = ['acme/red/one', 'acme/blue/two', 'umbrella/red/three'].map(agentId);
const tokens = agents.map((_, nth) => `token of agent number ${nth}, long enough`);

interface Deed {
  readonly at: number;
  readonly agent: number;
  readonly kind: string;
  readonly op: number;
}

function deed({ gov }: TestGovernance, { agent, kind, op }: Deed): Promise<unknown> {
  const id = agents[agent];
  const token = tokens[agent];
  if (id === undefined || token === undefined) throw new Error('there is no such agent');
  if (kind === 'register') return registerAgent(gov, operator, registration(id, { token }));
  if (kind === 'check') return checkAction(gov, checkOf({ agentId: id, token, traceId: `t${op}`, spanId: 's' }));
  if (kind === 'suspend') {
    const scopes = [{}, { orgId: id.orgId }, { orgId: id.orgId, teamId: id.teamId }];
    return suspendScope(gov, operator, scopes[op % 3] ?? {});
  }
  if (kind === 'lift') {
    const inForce = [...gov.directory.suspensions.inForce()];
    const one = inForce[op % Math.max(1, inForce.length)];
    // Another gateway may have lifted it.
    return one === undefined ? Promise.resolve() : liftSuspension(gov, operator, one.id).catch(() => undefined);
  }
  const action = kind === 'pause' ? 'pause' : 'resume';
  const scope = { orgId: id.orgId };
  return controlScope(gov, operator, { action, scope, reason: '', dryRun: false, idempotencyKey: null });
}

/** Reads the log by itself: between the beginning and the end of a suspension, nothing in its scope begins or runs on. */
function requireStandstill(entries: readonly LoggedEntry[]): void {
  const inForce = new Map<unknown, { readonly org: unknown; readonly team: unknown }>();
  for (const { event_type: type, payload, decision, lineage } of entries) {
    if (type === 'ScopeSuspended') {
      inForce.set(payload['suspension_id'], { org: payload['org_id'], team: payload['team_id'] });
    } else if (type === 'ScopeResumed') expect(inForce.delete(payload['suspension_id'])).toBe(true);
    const isHeld = [...inForce.values()].some(
      ({ org, team }) => (org === null || org === lineage.org_id) && (team === null || team === lineage.team_id),
    );
    if (payload['trigger'] === 'resume') expect(isHeld).toBe(false);
    if (decision !== null && payload['replay'] !== true) expect(decision).toBe(isHeld ? 'deny' : 'allow');
  }
}

const kinds = ['check', 'check', 'check', 'check', 'suspend', 'lift', 'lift', 'pause', 'resume'];
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

test('a suspension of a scope holds at all gateways, from its entry in the log to its end', async () => {
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
      await cluster.settle();
      const stored = (await cluster.at(0).store.load()).suspensions;
      const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
      for (const { gov } of cluster.members) {
        expect([...gov.directory.suspensions.all()].sort(byId)).toEqual(stored.toSorted(byId));
        for (const agent of gov.directory.all()) {
          const isHeld = gov.directory.suspensions.over(agent.record.id) !== undefined;
          for (const op of gov.ops.of(agent)) {
            if (isHeld) expect(op.state).not.toBe('running');
            else expect(isPausedBySuspension(op)).toBe(false);
          }
        }
      }
      requireStandstill(await cluster.at(0).audit());
    }),
    { numRuns: 60 },
  );
});
