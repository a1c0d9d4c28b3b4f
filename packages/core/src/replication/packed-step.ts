import type { DecisionEvent } from '../decision/index.ts';
import type { AgentId } from '../kernel/index.ts';
import type { OpRecord } from '../ops/index.ts';
import { bareRecord, noDelegators, opStates } from '../ops/index.ts';
import { noLabels } from '../runs/index.ts';
import type { AnyStep } from './facts-of-commit.ts';

/**
 * In the first form of a commit, steps that say that an operation is known, has moved, or was decided are lists of their
 * values, without names and with the agent by its place among the touched ones.
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

/** The step that 0.1.0 has packed. */
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
    owedLabels: noLabels,
    rewrite: null,
    control: null,
    stale: false,
    floor: false,
    resultDuty: null,
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
