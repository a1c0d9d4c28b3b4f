import type { DecisionEvent } from '../decision/index.ts';
import type { Step } from '../journal/index.ts';
import type { AgentId } from '../kernel/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { OpRecord } from '../ops/index.ts';
import { bareRecord, noDelegators, opStates } from '../ops/index.ts';
import type { Change, DomainEvent } from '../store.ts';

/**
 * Nearly every step says that an operation is known, has moved, or was decided. Such steps travel as lists of their
 * values, without names and with the agent by its place among the touched ones: a fifth of the text, so a fifth of the
 * work at every gateway that writes, carries or reads it.
 */
export type PackedStep = PackedArrival | PackedMove | PackedDecision;

type PackedArrival = readonly [kind: 'new', agent: number, at: number, opId: string];

type PackedMove = readonly [
  kind: 'op',
  agent: number,
  at: number,
  opId: string,
  state: OpRecord['state'],
  registeredAt: number,
  updatedAt: number,
  actionType: OpRecord['actionType'],
  resource: string,
  summary: string,
  runId: string,
  reason: string,
  costMicros: number,
  reservedMicros: number,
  policyRule: string,
  digest: string,
  booked: string | null,
  rare?: RareMembers,
];

/** What most operations lack, and all of older versions: agents that ask by themselves, and calls of no model. */
type RareMembers = Partial<Pick<OpRecord, 'delegators' | 'via' | 'usage'>>;

type PackedDecision = readonly [
  kind: 'check',
  agent: number,
  at: number,
  opId: string,
  decision: DecisionEvent['decision'],
  reason: string,
  policyRule: string,
];

export type AnyStep = Step<Change, DomainEvent>;

/** The step as it travels. A rare one stays as it is. */
export function packStep(step: AnyStep, places: ReadonlyMap<string, number>): AnyStep | PackedStep {
  if (!('event' in step)) return step;
  const { event } = step;
  if (event.type !== 'decision' && event.type !== 'ops_change') return step;
  const place = places.get(agentKey(event.agent));
  if (place === undefined) return step;
  if (event.type === 'decision') {
    const { at, opId, decision, reason, policyRule } = event;
    return ['check', place, at, opId, decision, reason, policyRule];
  }
  const { at, op, booked } = event;
  if (op.control !== null || op.stale) return step;
  if (booked === undefined && isArrival(op, at)) return ['new', place, at, op.opId];
  const packed = [
    'op',
    place,
    at,
    op.opId,
    op.state,
    op.registeredAt,
    op.updatedAt,
    op.actionType,
    op.resource,
    op.summary,
    op.runId,
    op.reason,
    op.costMicros,
    op.reservedMicros,
    op.policyRule,
    op.digest,
    booked ?? null,
  ] as const;
  const { delegators, via, usage } = op;
  if (delegators.length === 0 && via === null && usage === null) return packed;
  return [
    ...packed,
    {
      ...(delegators.length === 0 ? {} : { delegators }),
      ...(via === null ? {} : { via }),
      ...(usage === null ? {} : { usage }),
    },
  ];
}

/** What `packStep` was given. */
export function unpackStep(packed: PackedStep, agents: readonly AgentId[]): AnyStep {
  const agent = agents[packed[1]];
  if (agent === undefined) throw new Error(`a step of a commit names agent ${packed[1]} of ${agents.length}`);
  if (packed[0] === 'check') {
    const [, , at, opId, decision, reason, policyRule] = packed;
    return { event: { type: 'decision', at, agent, decision, reason, policyRule, opId } };
  }
  if (packed[0] === 'new') {
    const [, , at, opId] = packed;
    return { event: { type: 'ops_change', at, agent, op: bareRecord(agent, opId, at) } };
  }
  if (packed[0] !== 'op') throw new Error('it is a step that this release does not know');
  const [, , at, opId, state, registeredAt, updatedAt, actionType, resource, summary, runId, reason] = packed;
  const [, , , , , , , , , , , , costMicros, reservedMicros, policyRule, digest, booked, rare] = packed;
  const op: OpRecord = {
    opId,
    agent,
    state,
    registeredAt,
    updatedAt,
    actionType,
    resource,
    summary,
    runId,
    delegators: rare?.delegators ?? noDelegators,
    via: rare?.via ?? null,
    reason,
    costMicros,
    reservedMicros,
    usage: rare?.usage ?? null,
    policyRule,
    digest,
    control: null,
    stale: false,
  };
  requireOp(op);
  if (booked === null) return { event: { type: 'ops_change', at, agent, op } };
  return { event: { type: 'ops_change', at, agent, op, booked } };
}

/** A damaged record must not come to memory: it would count, or never end. */
export function requireOp({ state, costMicros, reservedMicros, opId, digest }: OpRecord): void {
  const isWhole = opStates.includes(state) && [opId, digest].every((text) => typeof text === 'string');
  if (!isWhole || ![costMicros, reservedMicros].every(Number.isSafeInteger)) throw new Error('it is no operation');
}

function isArrival(op: OpRecord, at: number): boolean {
  if (op.digest !== '' || op.state !== 'pending') return false;
  const fresh = bareRecord(op.agent, op.opId, at);
  for (const member in fresh) if (op[member as keyof OpRecord] !== fresh[member as keyof OpRecord]) return false;
  return true;
}
