import type { Batch, Touched } from '@reeve/core';
import { commitText, MemoryStore } from '@reeve/core';
import type { Random } from './random.ts';

/**
 * Gateways are updated one by one, so several releases run side by side. An older one knows nothing of delegations. A newer
 * one writes members and kinds of facts that the present one does not know.
 */
export type Release = 'older' | 'present' | 'newer';

type Told = NonNullable<Batch['told']>;
type Step = Told['steps'][number];

const laterKind = 'thing_of_later_release';
/** Kinds that a newer release never writes in another form: caps, rates and runs count by operations of known agents. */
const lasting = /^(?:op_|ops_|rates_|runs_|balances_|event_ids_|agent_saved|agent_removed)/;

/** Which kinds a newer release has changed, as a share of all, and how likely it writes a fact of them so. */
export interface LaterForms {
  readonly kinds: number;
  /** Draws the kinds. */
  readonly salt: number;
  readonly chance: number;
  /** Writes facts of these kinds so for now, and something new in each commit. */
  readonly always?: RegExp;
}

function drawForm(kind: string, random: Random, { kinds, salt, chance, always }: LaterForms): boolean {
  if (lasting.test(kind)) return false;
  if (always !== undefined) return always.test(kind);
  let drawn = salt;
  for (let at = 0; at < kind.length; at++) drawn = (drawn * 31 + kind.charCodeAt(at)) % 1_000_003;
  return drawn % 1000 < kinds * 1000 && random.chance(chance);
}

/** A commit as a newer release writes it. Some facts have a form that others do not know, and some are new. */
export function asWritten(release: Release, batch: Batch, random: Random, forms: LaterForms): Batch {
  const { told } = batch;
  if (release !== 'newer' || told === undefined || told.steps.length === 0) return batch;
  const steps = told.steps.map((step) => {
    const kind = kindOf(step);
    return kind !== undefined && drawForm(kind, random, forms) ? inOtherForm(step) : step;
  });
  if (forms.always !== undefined || random.chance(0.01)) steps.push({ change: { kind: laterKind } } as unknown as Step);
  return { ...batch, told: { ...told, steps } };
}

/** What other gateways are told of a commit, as far as a release knows its kinds. */
export function asReadBy(release: Release, told: Told): Told {
  if (release === 'present') return told;
  const steps = told.steps.flatMap((step) => {
    const kind = kindOf(step) ?? '';
    if (release === 'older') return [kind.startsWith('delegation_') ? inOtherForm(step) : step];
    return kind === laterKind ? [] : [asBefore(step, kind)];
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
  if (!('change' in step) || step.change.kind.endsWith(otherForm)) return step;
  return { change: { ...step.change, kind: `${step.change.kind}${otherForm}` } } as unknown as Step;
}

function asBefore(step: Step, kind: string): Step {
  if (!('change' in step) || !kind.endsWith(otherForm)) return step;
  return { change: { ...step.change, kind: kind.slice(0, -otherForm.length) } } as unknown as Step;
}

/** The rows of facts in the text of a commit. */
const rowsAt = 6;

/** The text of a commit. This release writes it, and then it gets the names that a newer one would have written. */
export function textOfRelease(told: Told): string {
  const known = told.steps.filter((step) => kindOf(step) !== laterKind);
  const steps = known.map((step) => asBefore(step, kindOf(step) ?? ''));
  const text = commitText({ ...told, steps });
  if (!told.steps.some((step) => kindOf(step)?.endsWith(otherForm) === true)) return text;
  const list = JSON.parse(text) as unknown[];
  const rows = list[rowsAt] as unknown[][];
  for (const [at, step] of known.entries()) {
    const [kind, row] = [kindOf(step), rows[at]];
    if (row !== undefined && kind?.endsWith(otherForm) === true) row[0] = kind;
  }
  if (known.length < told.steps.length) rows.push([laterKind, 'x']);
  return JSON.stringify(list);
}

/** A store that keeps the facts of every release as it wrote them. */
export class StoreOfReleases extends MemoryStore {
  protected override textOf(told: Told): string {
    return textOfRelease(told);
  }
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
