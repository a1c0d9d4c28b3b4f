import type { Touched } from '../journal/index.ts';
import type { AgentId } from '../kernel/index.ts';
import type { Commit } from '../store.ts';
import type { AnyStep, PackedStep } from './packed-step.ts';
import { packStep, unpackStep } from './packed-step.ts';

/** What other gateways are told of a batch, beside its place in the log. */
type Told = Pick<Commit, 'steps' | 'touched'>;

/** As it travels. */
interface ToldText {
  readonly steps: readonly (Commit['steps'][number] | PackedStep)[];
  readonly touched: Touched;
}

/** A member that JSON has no number for. No name of ours begins with it. */
const big = '$big';

/** The steps of a batch as text, for other gateways. */
export function commitText({ steps, touched }: Told): string {
  const places = new Map(touched.agents.map((agent, place) => [agent, place]));
  const told: ToldText = { steps: steps.map((step) => packStep(step, places)), touched };
  try {
    return JSON.stringify(told);
  } catch (error) {
    // A replacer visits every value, and nearly no commit holds a big number.
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(told, (_, value: unknown) =>
      typeof value === 'bigint' ? { [big]: value.toString() } : value,
    );
  }
}

/** Reads what `commitText` wrote, by this release or by another one. */
export function parseCommit(text: string): Told {
  // Reviving visits every value as well.
  const told = JSON.parse(text, text.includes(`{"${big}":"`) ? revive : undefined) as Partial<ToldText>;
  const { steps = [], touched = everything } = told;
  const agents = touched.agents.map(agentIdOf);
  return { steps: steps.map((step) => (isPacked(step) ? unpackStep(step, agents) : withVia(step))), touched };
}

/** Unknown is as much as everything. */
const everything: Touched = { agents: [], orgs: [], everything: true };

function isPacked(step: ToldText['steps'][number]): step is PackedStep {
  return Array.isArray(step);
}

/** Operations in commits of a release without doors lack this member. */
function withVia(step: AnyStep): AnyStep {
  if ('event' in step) {
    const { event } = step;
    if (event.type !== 'ops_change' || event.op.via !== undefined) return step;
    return { event: { ...event, op: { ...event.op, via: null } } };
  }
  const { change } = step;
  if (change.kind !== 'op_asked' || change.op.via !== undefined) return step;
  return { change: { ...change, op: { ...change.op, via: null } } };
}

function agentIdOf(key: string): AgentId {
  const [orgId = '', teamId = '', agentId = ''] = key.split('/');
  return { orgId, teamId, agentId };
}

function revive(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !(big in value)) return value;
  const { [big]: digits } = value;
  return typeof digits === 'string' && Object.keys(value).length === 1 ? BigInt(digits) : value;
}
