import type { Touched, Unread } from '../journal/index.ts';
import { everything, factOf, nameOf } from '../journal/index.ts';
import type { AgentId } from '../kernel/index.ts';
import { agentKey, unquoted } from '../kernel/index.ts';
import type { OpRecord } from '../ops/index.ts';
import { noDelegators } from '../ops/index.ts';
import type { Commit } from '../store.ts';
import type { AnyStep, PackedStep } from './packed-step.ts';
import { packStep, requireOp, unpackStep } from './packed-step.ts';
import { isKnownFact, touchOf } from '../facts.ts';
import { readSumsOfChange, readSumsOfEvent, writeSumsOfChange, writeSumsOfEvent } from './sums-of-steps.ts';

/** What other gateways are told of a batch, beside its place in the log. */
type Told = Pick<Commit, 'steps' | 'touched'>;

/** The steps of a batch as text, for other gateways. */
export function commitText({ steps, touched }: Told): string {
  const places = new Map(touched.agents.map((agent, place) => [agent, place]));
  return JSON.stringify({ steps: steps.map((step) => written(packStep(step, places))), touched });
}

/** The facts of a batch as text, for a start. It needs none that a later one of the same batch replaces. */
export function factsText({ steps, touched }: Told): string {
  return commitText({ steps: steps.filter((step, at) => !isReplaced(steps, at, step)), touched });
}

/** How far the decision is from the event that a new operation is known. */
const nearby = 4;

/** A new operation is mostly decided at once. Then the state after the decision says all. */
export function isReplaced(steps: Commit['steps'], at: number, arrival: Commit['steps'][number]): boolean {
  if (!('event' in arrival) || arrival.event.type !== 'ops_change') return false;
  const { op, agent } = arrival.event;
  if (op.state !== 'pending' || op.digest !== '') return false;
  for (let next = at + 1; next <= at + nearby; next++) {
    const step = steps[next];
    if (step === undefined || !('event' in step) || step.event.type !== 'ops_change') continue;
    return step.event.op.opId === op.opId && agentKey(step.event.agent) === agentKey(agent);
  }
  return false;
}

function written(step: AnyStep | PackedStep): unknown {
  if (isPacked(step)) return step;
  return 'change' in step ? { change: writeSumsOfChange(step.change) } : { event: writeSumsOfEvent(step.event) };
}

/**
 * Reads what `commitText` wrote, by this release or by another one. It never throws: the commit is made, whether or not
 * it can be read here. What cannot be read is told.
 */
export function parseCommit(text: string): Told & Pick<Commit, 'unread'> {
  try {
    const { steps, touched } = JSON.parse(text) as { readonly steps: readonly unknown[]; readonly touched: unknown };
    return readSteps([...steps], touchedIn(touched));
  } catch {
    // Nothing of it is quoted: a commit may hold secrets.
    return { steps: [], touched: everything, unread: [{ touched: null, why: 'its text is not that of a commit' }] };
  }
}

/** One by one, so that nothing keeps the others from being read. */
function readSteps(texts: readonly unknown[], touched: Touched): ReturnType<typeof parseCommit> {
  const agents = touched.agents.map(agentIdOf);
  const steps: AnyStep[] = [];
  const unread: Unread[] = [];
  for (const [at, text] of texts.entries()) {
    try {
      steps.push(readStep(text as AnyStep | PackedStep, agents));
    } catch (error) {
      unread.push({ touched, why: `step ${at + 1} of ${texts.length}: ${unquoted(error)}` });
    }
  }
  return { steps, touched, unread };
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
  const { agents, orgs, everything: all } = value as Touched;
  if (typeof all !== 'boolean' || ![...agents, ...orgs].every((name) => typeof name === 'string')) {
    throw new TypeError('it does not say whom it touches');
  }
  return { agents, orgs, everything: all };
}

/** Operations in commits of earlier releases lack these members. */
const laterMembers = { via: null, delegators: noDelegators } as const;

function withLaterMembers(step: AnyStep): AnyStep {
  if ('event' in step) {
    const { event } = step;
    if (event.type !== 'ops_change' || isWhole(event.op)) return step;
    return { event: { ...event, op: { ...laterMembers, ...event.op } } };
  }
  const { change } = step;
  if (change.kind !== 'op_asked' || isWhole(change.op)) return step;
  return { change: { ...change, op: { ...laterMembers, ...change.op } } };
}

function isWhole(op: OpRecord): boolean {
  return Object.keys(laterMembers).every((member) => member in op);
}

function agentIdOf(key: string): AgentId {
  const [orgId = '', teamId = '', agentId = ''] = key.split('/');
  return { orgId, teamId, agentId };
}
