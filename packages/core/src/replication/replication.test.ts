import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Action } from '../action/action.ts';
import { action } from '../action/action.ts';
import { checkAction } from '../decision/check-action.ts';
import type { Governance } from '../governance.ts';
import type { AgentId } from '../kernel/ids.ts';
import { agentKey } from '../kernel/ids.ts';
import { saveUses } from '../tenancy/save-uses.ts';
import { recordOf } from '../ops/op.ts';
import { approveAction, completeAction, controlOp, deregisterAgent, rejectAction } from '../testkit/commands.ts';
import { registerAgent, resumeAgent, suspendAgent } from '../testkit/commands.ts';
import type { LoggedEntry } from '../testkit/logged-entry.ts';
import { person } from '../testkit/approvals.ts';
import { agentId, checkOf, operator, registration, useTool } from '../testkit/requests.ts';
import { Cluster, ticks } from '../testkit/shared-cluster.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';
import { ownWork } from '../journal/warrant.ts';

const policy = `
name: caps
default: allow
rules:
  - { name: ask, effect: require_approval, tools: [ask] }
  - { name: no, effect: deny, tools: [no] }
pricing: { m: { input_per_mtok_usd: 1, output_per_mtok_usd: 1 } }
budget:
  daily_limit_usd: 20
  org_daily_limit_usd: 12
  team_daily_limit_usd: 9
  agent_daily_limit_usd: 6
`;

const agents = ['acme/red/one', 'acme/red/two', 'acme/blue/three', 'umbrella/red/four'].map(agentId);
const capOf = { global: 20e6, org: 12e6, team: 9e6, agent: 6e6 };

/** Everything that must be alike at all gateways. */
function stateOf(gov: Governance) {
  const known = [...gov.directory.all()].sort((a, b) => (a.key < b.key ? -1 : 1));
  return {
    agents: known.map(({ record, blocked, coverage }) => ({ record, blocked, usage: coverage?.usage })),
    ops: known.flatMap((agent) =>
      [...gov.ops.of(agent)]
        .map(recordOf)
        .sort((a, b) => (a.opId < b.opId ? -1 : 1))
        .map((op) => ({ ...op, approval: gov.approvals.ofOp(op.agent, op.opId) })),
    ),
    counts: (['pending', 'running', 'paused', 'completing', 'terminated'] as const).map((state) =>
      gov.ops.count(state),
    ),
    balances: gov.ledger
      .all()
      .filter(({ reserved, spent }) => reserved !== 0 || spent.month !== 0)
      .map(({ of, reserved, spent, noticed }) => ({ of, reserved, spent, noticed }))
      .sort((a, b) => (JSON.stringify(a.of) < JSON.stringify(b.of) ? -1 : 1)),
    messages: known.map(({ key }) =>
      [...(gov.control.find(key)?.queued() ?? [])].map(({ message, receipt }) => ({ message, receipt })),
    ),
    sequences: known.map(({ record: { id } }) => gov.control.outbox(id).lastSequence),
    runs: [...gov.runs.all()]
      .map(({ name, checks, denied, spentMicros, costMicros, agents, underWay }) => ({
        ...{ name, checks, denied, spentMicros, costMicros, underWay },
        agents: agents.toSorted((a, b) => (a.agentId < b.agentId ? -1 : 1)),
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    runControls: [...gov.control.runs.all()].sort((a, b) => (a.controlId < b.controlId ? -1 : 1)),
  };
}

/** Adds up the log by itself: at no entry may settled and reserved amounts pass a cap. */
function requireCaps(entries: readonly LoggedEntry[]): void {
  const totals = new Map<string, number>();
  const reserved = new Map<string, number>();
  const add = (id: AgentId, amount: number) => {
    for (const [, name] of tiersOf(id)) totals.set(name, (totals.get(name) ?? 0) + amount);
    for (const [tier, name] of tiersOf(id))
      expect(totals.get(name), `${name} is within its cap`).toBeLessThanOrEqual(capOf[tier]);
  };
  for (const { lineage, op_id, payload, event_type, decision } of entries) {
    if (op_id === null) continue;
    const id = { orgId: lineage.org_id ?? '', teamId: lineage.team_id, agentId: lineage.agent_id };
    const name = `${agentKey(id)} ${op_id}`;
    const held = reserved.get(name) ?? 0;
    if ((decision === 'allow' || decision === 'pending') && payload['replay'] !== true) {
      const cost = Number(payload['cost_micros'] ?? 0);
      reserved.set(name, cost);
      add(id, cost);
    } else if (event_type === 'OpStateChanged' && payload['trigger'] === 'complete') {
      reserved.delete(name);
      add(id, Number(payload['cost_micros'] ?? 0) - held);
    } else if (event_type === 'OpStateChanged' && payload['trigger'] === 'terminate') {
      reserved.delete(name);
      add(id, -held);
    }
  }
}

function tiersOf({ orgId, teamId, agentId: agent }: AgentId) {
  return [
    ['global', 'global'],
    ['org', orgId],
    ['team', `${orgId}/${teamId}`],
    ['agent', `${orgId}/${teamId}/${agent}`],
  ] as const;
}

const tokens = agents.map((_, nth) => `token of agent number ${nth}, long enough`);

type Deed = {
  readonly at: number;
  readonly agent: number;
  readonly op: number;
  readonly kind: string;
  readonly cost: number;
};

/** Does something at one of the gateways. A refusal is as good an answer as any. */
function deed({ gov }: TestGovernance, { agent, op, kind, cost }: Deed): Promise<unknown> {
  const id = agents[agent];
  const token = tokens[agent];
  if (id === undefined || token === undefined) throw new Error('there is no such agent');
  const opId = `t${op}:s`;
  const known = () => {
    const owner = gov.directory.find(id);
    return owner && gov.ops.find(owner, opId);
  };
  const check = (asked: Action, estimate: number | null = cost * 1e6) =>
    checkAction(
      gov,
      checkOf({
        agentId: id,
        token,
        traceId: `t${op}`,
        spanId: 's',
        action: asked,
        estimatedCostMicros: estimate,
        runId: 'run',
        via: cost === 1 ? { door: 'model', name: 'openai' } : null,
      }),
    );
  switch (kind) {
    case 'check':
      return check(useTool('search'));
    case 'ask':
      return check(useTool('ask'));
    case 'deny':
      return check(useTool('no'));
    case 'think':
      return check(action('llm_call', { model: 'm', promptTokens: 1e6, maxOutputTokens: cost * 1e5 }), null);
    case 'complete':
    case 'call off':
      return completeAction(gov, {
        agentId: id,
        token,
        opId,
        // What an action really cost always counts, and may pass a cap. Here none costs more than was reserved.
        actualCostMicros: cost > 2 ? 0 : null,
        usage: cost === 1 ? { inputTokens: 900_001, outputTokens: 3, cachedInputTokens: null } : null,
        outcome: kind === 'complete' ? 'succeeded' : 'cancelled',
        detail: '',
      });
    case 'pause':
    case 'resume':
    case 'terminate': {
      const op = known();
      return op === undefined ? Promise.resolve() : controlOp(gov, operator, op, kind, '');
    }
    case 'suspend':
      return suspendAgent(gov, operator, id, 'why not');
    case 'lift':
      return resumeAgent(gov, operator, id, '');
    case 'approve':
    case 'reject': {
      const approval = gov.approvals.ofOp(id, opId);
      if (approval === undefined) return Promise.resolve();
      return kind === 'approve'
        ? approveAction(gov, person('alice'), approval.id, { reason: '', grant: null })
        : rejectAction(gov, person('alice'), approval.id, '');
    }
    case 'save':
      return gov.journal.turn(ownWork, () => saveUses(gov, 1));
    case 'leave':
      return deregisterAgent(gov, { agentId: id, token, reason: '' });
    default:
      return registerAgent(gov, operator, registration(id, { token }));
  }
}

const often = 'check check check think ask ask deny complete complete complete pause'.split(' ');
const rarely = 'resume terminate suspend lift approve approve reject leave save register register'.split(' ');

const deeds = fc.record({
  at: fc.nat(2),
  agent: fc.nat(agents.length - 1),
  op: fc.nat(5),
  kind: fc.constantFrom(...often, 'call off', ...rarely),
  cost: fc.constantFrom(0, 1, 2, 4),
});
/** What happens next: a deed, the end of a turn, work of the store, or a message from another gateway. */
const moves = fc.oneof(
  { weight: 5, arbitrary: deeds },
  { weight: 3, arbitrary: fc.record({ turn: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ work: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ follow: fc.nat(2) }) },
);

describe('several gateways on one log', () => {
  test('are alike in the end, hold every cap at every entry, and answer everybody, whatever the order of things', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(moves, { minLength: 20, maxLength: 120 }), async (plan) => {
        const cluster = new Cluster(policy);
        await cluster.start(3);
        const from = cluster.members.map(({ events }) => events.length);
        const first = agents.map((_, agent) =>
          deed(cluster.at(agent), { at: 0, agent, op: 0, kind: 'register', cost: 0 }),
        );
        await cluster.settle();
        await Promise.all(first);
        const answers: Promise<unknown>[] = [];
        for (const move of plan) {
          if ('turn' in move) cluster.at(move.turn).turn();
          else if ('work' in move) cluster.log.work(Math.min(move.work, Math.max(0, cluster.log.waiting - 1)));
          else if ('follow' in move) cluster.at(move.follow).gov.journal.followReady();
          else answers.push(deed(cluster.at(move.at), move).catch((error: unknown) => error));
          await ticks();
        }
        await cluster.settle();
        const given = await Promise.all(answers);
        const saving = cluster.members.map(({ gov }) => gov.journal.turn(ownWork, () => saveUses(gov, 100)));
        await cluster.settle();
        await Promise.all(saving);
        for (const answer of given) {
          if (answer instanceof Error) expect(answer.name, String(answer.stack)).toBe('ReeveError');
          expect(answer).not.toMatchObject({ code: 'store_unavailable' });
        }
        const [one, ...others] = cluster.members.map(({ gov }) => stateOf(gov));
        for (const other of others) expect(other).toEqual(one);
        const entries = await cluster.at(0).audit();
        requireCaps(entries);
        const seen = cluster.members.map(({ events }, nth) => events.slice(from[nth]));
        for (const each of seen) expect(each).toEqual(seen[0]);
      }),
      { numRuns: 60 },
    );
  });
});
