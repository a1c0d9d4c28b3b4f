import { shownOf } from '../events/index.ts';
import { isKnownFact, touchOf } from '../facts.ts';
import type { Touched } from '../journal/index.ts';
import { factOf, nameOf } from '../journal/index.ts';
import type { AgentId } from '../kernel/index.ts';
import type { OpRecord } from '../ops/index.ts';
import { noLabels } from '../runs/index.ts';
import { noDelegators, offFloor } from '../ops/index.ts';
import type { AnyStep, ReadFacts, WrittenFacts } from './facts-of-commit.ts';
import { agentIdOf, readSteps, textsIn } from './facts-of-commit.ts';
import type { PackedStep } from './packed-step.ts';
import { requireOp, unpackStep } from './packed-step.ts';
import { readSumsOfChange, readSumsOfEvent, writeSumsOfChange, writeSumsOfEvent } from './sums-of-steps.ts';

/**
 * The first form of the facts of a commit: an object with all names. Gateways of 0.1.0 read no other, so it is written
 * while one of them is there, and it is read from what they have written.
 */
export function namedText({ steps, touched }: WrittenFacts): string {
  return JSON.stringify({ steps: steps.flatMap(apart).map(named), touched });
}

/** 0.1.0 counts an event for each step. */
function apart(step: AnyStep): readonly AnyStep[] {
  return 'change' in step ? [step] : shownOf(step.event).map((event) => ({ event }));
}

function named(step: AnyStep): unknown {
  return 'change' in step ? { change: writeSumsOfChange(step.change) } : { event: writeSumsOfEvent(step.event) };
}

/** Throws if nothing of it can be read. */
export function readNamedFacts(written: unknown): ReadFacts {
  const { steps, touched } = written as { readonly steps: readonly unknown[]; readonly touched: unknown };
  const whom = touchedIn(touched);
  const agents = whom.agents.map(agentIdOf);
  return readSteps([...steps], whom, (step) => readStep(step as AnyStep | PackedStep, agents));
}

function readStep(step: AnyStep | PackedStep, agents: readonly AgentId[]): AnyStep {
  if (isPacked(step)) return unpackStep(step, agents);
  const read = readNamed(step);
  const fact = factOf(read);
  // Whatever cannot say whom it touches is not a step.
  touchOf(fact);
  if ('op' in fact && nameOf(fact) !== 'op_saved') requireOp(fact.op as OpRecord);
  return read;
}

function readNamed(step: AnyStep): AnyStep {
  if ('event' in step) {
    if (!isKnownFact(step.event)) throw new Error('it is an event that this release does not know');
    return withLaterMembers({ event: readSumsOfEvent(step.event) });
  }
  if (!isKnownFact(step.change)) throw new Error('it is a change that this release does not know');
  return withLaterMembers({ change: readSumsOfChange(step.change) });
}

function isPacked(step: AnyStep | PackedStep): step is PackedStep {
  return Array.isArray(step);
}

function touchedIn(value: unknown): Touched {
  const { agents, orgs, everything } = value as Touched;
  if (typeof everything !== 'boolean') throw new TypeError('it does not say whom it touches');
  return { agents: textsIn(agents), orgs: textsIn(orgs), everything };
}

/** Operations in commits of earlier releases lack these members. */
const laterMembers = {
  via: null,
  delegators: noDelegators,
  floor: false,
  resultDuty: null,
  owedLabels: noLabels,
  rewrite: null,
} as const;

function withLaterMembers(step: AnyStep): AnyStep {
  if ('event' in step) {
    const { event } = step;
    return event.type === 'ops_change' ? { event: { ...event, op: whole(event.op) } } : step;
  }
  const { change } = step;
  if (change.kind === 'op_asked') return { change: { ...change, op: whole(change.op) } };
  if (change.kind === 'op_saved') return { change: { ...change, op: { ...laterMembers, ...change.op } } };
  return change.kind === 'receipt_saved'
    ? { change: { ...change, receipt: { ...offFloor, ...change.receipt } } }
    : step;
}

function whole(op: OpRecord): OpRecord {
  return { ...laterMembers, ...op, control: op.control === null ? null : { ...offFloor, ...op.control } };
}
