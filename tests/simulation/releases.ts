import type { Batch, Touched } from '@reeve/core';
import type { Random } from './random.ts';

/**
 * Gateways are updated one by one, so several releases run side by side. An older one knows nothing of delegations. A newer
 * one writes members and kinds of facts that the present one does not know.
 */
export type Release = 'older' | 'present' | 'newer';

type Told = NonNullable<Batch['told']>;
type Step = Told['steps'][number];

/** What a newer release says beside what every release understands. */
const laterMember = { saidByLaterRelease: { text: 'x', count: 1 } };
/** Kinds that a newer release never writes in another form: caps and rates count by operations of known agents. */
const lasting = /^(?:op_|ops_|rates_|balances_|event_ids_|agent_saved|agent_removed)/;

/** A commit as a newer release writes it. Some facts have a form that others do not know, and some are new. */
export function asWritten(release: Release, batch: Batch, random: Random): Batch {
  const { told } = batch;
  if (release !== 'newer' || told === undefined || told.steps.length === 0) return batch;
  const steps = told.steps.map((step) => {
    const kind = kindOf(step);
    if (kind !== undefined && !lasting.test(kind) && random.chance(0.04)) return inOtherForm(step);
    return random.chance(0.3) ? withLaterMember(step) : step;
  });
  if (random.chance(0.01))
    steps.push({ change: { kind: 'thing_of_later_release', ...laterMember } } as unknown as Step);
  return { ...batch, told: { ...told, steps } };
}

/** What other gateways are told of a commit, as far as a release knows its kinds. */
export function asReadBy(release: Release, told: Told): Told {
  if (release === 'present') return told;
  const steps = told.steps.flatMap((step) => {
    const kind = kindOf(step) ?? '';
    if (release === 'older') return [kind.startsWith('delegation_') ? inOtherForm(step) : step];
    return kind === 'thing_of_later_release' ? [] : [asBefore(step, kind)];
  });
  return { ...told, steps };
}

/** Whether a release does not know the kind of a fact. */
export function isUnknownTo(release: Release, told: Told): boolean {
  return asReadBy(release, told).steps.some((step) => (kindOf(step) ?? '').includes(otherForm));
}

const otherForm = '_of_later_release';

function kindOf(step: Step): string | undefined {
  return 'change' in step ? step.change.kind : undefined;
}

function inOtherForm(step: Step): Step {
  if (!('change' in step)) return step;
  return { change: { ...step.change, kind: `${step.change.kind}${otherForm}` } } as unknown as Step;
}

function asBefore(step: Step, kind: string): Step {
  if (!('change' in step) || !kind.endsWith(otherForm)) return step;
  return { change: { ...step.change, kind: kind.slice(0, -otherForm.length) } } as unknown as Step;
}

function withLaterMember(step: Step): Step {
  return 'change' in step
    ? { change: { ...step.change, ...laterMember } }
    : { event: { ...step.event, ...laterMember } };
}

/** Whose state a gateway could not read in full since its start. */
export class OutOfReach {
  readonly #touched: Touched[] = [];

  add(touched: Touched): void {
    this.#touched.push(touched);
  }

  /** A gateway that could read everything is whole. */
  get isNobody(): boolean {
    return this.#touched.length === 0;
  }

  /** By the name of an agent. */
  has(agent: string): boolean {
    const org = agent.slice(0, agent.indexOf('/'));
    return this.#touched.some(({ agents, orgs, everything }) => {
      return everything || orgs.includes(org) || agents.includes(agent);
    });
  }
}
