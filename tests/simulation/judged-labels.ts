import type { Governance } from '@reeve/core';
import { Broken } from './broken.ts';
import type { GivenLabel, JudgedEntry } from './judged-entry.ts';
import { opName } from './judged-entry.ts';
import type { Labelling } from './flow-rules.ts';
import { guarded, labelling } from './flow-rules.ts';
import { quietMs, runOf } from './judged-runs.ts';

/** Whose labels count for an operation. */
interface Bearers {
  readonly run: string;
  /** The agent and everybody above it. */
  readonly agents: readonly string[];
}

/** An operation that may still give labels, or is forbidden by them. */
export interface Labelled extends Bearers {
  readonly tool: string;
  /** What counted when it was decided. */
  readonly seen: readonly string[];
  /** What it gives once it is approved. */
  readonly owed: readonly GivenLabel[];
}

/** What the log says of labels. They only grow, until they are cleared or their run is forgotten. */
export class JudgedLabels {
  readonly #borne = new Map<string, Set<string>>();
  /** Operations that were allowed or wait, from then on. */
  readonly #ops = new Map<string, Labelled>();
  /** When something was last decided in a run. */
  readonly #lastAt = new Map<string, number>();
  #newest = 0;

  /** Entries are written at this time, by any clock. */
  moveTo(now: number): void {
    this.#newest = Math.max(this.#newest, now);
  }

  /** A first check. What conditions saw, what was answered and what it gives must follow from the entries before it. */
  decide(entry: JudgedEntry, delegators: readonly string[]): void {
    const { seq, agent, opId, decision, policyRule, payload, at } = entry;
    this.moveTo(at);
    const bearers = { run: runOf(agent, payload.run_id, delegators), agents: [agent, ...delegators] };
    this.#lastAt.set(bearers.run, Math.max(at, this.#lastAt.get(bearers.run) ?? 0));
    const borne = this.borneIn(bearers);
    const told = payload.run?.labels;
    if (told !== undefined && told.join() !== borne.join()) {
      throw new Broken(`entry ${seq}: a condition saw the labels [${told.join()}]; there were [${borne.join()}]`);
    }
    const tool = payload.action?.tool ?? '';
    for (const { tool: forbidden, label } of guarded) {
      const isForbidden = tool === forbidden && borne.includes(label);
      if (isForbidden && decision !== 'deny') throw new Broken(`entry ${seq}: ${tool} is allowed in spite of ${label}`);
      if (!isForbidden && policyRule === `caps/no-${label}`) {
        throw new Broken(`entry ${seq}: ${tool} is denied for ${label}, which nobody bears`);
      }
    }
    const labels = givenIn(entry);
    const isDue = ({ tool: marked, seen }: Labelling) =>
      marked === tool && (seen === undefined || borne.includes(seen));
    const expected = decision === 'deny' ? [] : labelling.filter(isDue);
    const [given, due] = [labels.map(textOf), expected.map(({ label, of }) => `${label} of ${of}`)];
    if (given.join() !== due.join()) {
      throw new Broken(`entry ${seq}: ${tool} gives [${given.join()}] and should give [${due.join()}]`);
    }
    if (decision === 'allow') this.give(bearers, labels);
    const op = opName(agent, opId ?? '');
    const owed = decision === 'pending' ? labels : [];
    if (decision === 'deny') this.#ops.delete(op);
    else this.#ops.set(op, { ...bearers, tool, seen: borne, owed });
  }

  /** An operation since it was allowed or asked about. */
  find(op: string): Labelled | undefined {
    return this.#ops.get(op);
  }

  /** An operation that waited has moved. One that was approved gives what it owes, unless labels have come meanwhile. */
  move(entry: JudgedEntry): void {
    const { seq, agent, opId, payload, reason } = entry;
    const op = opName(agent, opId ?? '');
    const known = this.#ops.get(op);
    if (known === undefined) return requireGiven(entry, []);
    const { tool, seen } = known;
    const isOvertaken =
      guarded.some((rule) => rule.tool === tool && rule.by === 'run.labels') &&
      this.borneIn(known).some((name) => !seen.includes(name));
    const isApproved = payload.to === 'running';
    if (isApproved && isOvertaken) throw new Broken(`entry ${seq}: ${op} is approved, and labels have come meanwhile`);
    if (reason.includes('has got labels') && !isOvertaken) {
      throw new Broken(`entry ${seq}: ${op} ends for labels that have not come, or that nobody looks at`);
    }
    requireGiven(entry, isApproved ? this.give(known, known.owed) : []);
  }

  /** Somebody has cleared labels of a run, or of an agent and its own run. */
  clear({ seq, payload }: JudgedEntry): void {
    const { org_id: org = '', team_id: team = '', run_id: run, agent_id: agent = '', labels = [] } = payload;
    const anybody = `${org}/${team}/${agent}`;
    const bearers =
      run === undefined ? [`agent ${anybody}`, `run ${runOf(anybody, '', [])}`] : [`run ${runOf(anybody, run, [])}`];
    for (const name of labels.map(nameOf)) {
      const cleared = bearers.filter((bearer) => this.#borne.get(bearer)?.delete(name));
      if (cleared.length === 0)
        throw new Broken(`entry ${seq}: ${name} is cleared, which ${bearers.join(' and ')} lack`);
    }
  }

  /** A check takes up the id of a forgotten run. One that bears labels is forgotten for its age alone. */
  begin({ seq, agent, payload, at }: JudgedEntry, delegators: readonly string[]): void {
    this.moveTo(at);
    const run = runOf(agent, payload.run_id, delegators);
    const isLabelled = (this.#borne.get(`run ${run}`)?.size ?? 0) > 0;
    if (isLabelled && this.#newest - (this.#lastAt.get(run) ?? 0) <= quietMs) {
      throw new Broken(`entry ${seq}: ${run} bears labels, and was forgotten soon after something happened in it`);
    }
    this.#borne.delete(`run ${run}`);
  }

  /** Gives what somebody lacks. Returns the names of that. */
  give({ run, agents }: Bearers, labels: readonly GivenLabel[]): readonly string[] {
    const added = new Set<string>();
    for (const { name, of } of labels) {
      for (const bearer of of === 'run' ? [`run ${run}`] : agents.map((agent) => `agent ${agent}`)) {
        const borne = this.#borne.get(bearer) ?? new Set();
        if (!borne.has(name)) added.add(name);
        this.#borne.set(bearer, borne.add(name));
      }
    }
    return [...added];
  }

  /** A gateway knows the labels of its agents, and of the runs that it remembers, as the log tells of them. */
  requireKnown({ directory, runs }: Pick<Governance, 'directory' | 'runs'>, gateway: string): void {
    for (const { key, record } of directory.all()) {
      this.#requireBorne(gateway, `agent ${key}`, runs.labels.of({ of: 'agent', place: { ...record.id, runId: '' } }));
    }
    for (const { place } of runs.all()) {
      const name = runOf(`${place.orgId}/${place.teamId}/${place.agentId}`, place.runId, []);
      this.#requireBorne(gateway, `run ${name}`, runs.labels.of({ of: 'run', place }));
    }
  }

  #requireBorne(gateway: string, bearer: string, known: readonly { readonly name: string }[]): void {
    const [is, told] = [known.map(({ name }) => name), [...(this.#borne.get(bearer) ?? [])]];
    if (is.toSorted().join() === told.toSorted().join()) return;
    throw new Broken(`${gateway}: ${bearer} bears [${is.join()}]; by the log it bears [${told.join()}]`);
  }

  /** What counts for an operation, in the order of names. */
  borneIn({ run, agents }: Bearers): readonly string[] {
    const names = [`run ${run}`, ...agents.map((agent) => `agent ${agent}`)];
    return [...new Set(names.flatMap((name) => [...(this.#borne.get(name) ?? [])]))].toSorted();
  }
}

/** A move names those of the labels that it gives that are new to somebody. */
export function requireGiven({ seq, agent, opId, payload }: JudgedEntry, given: readonly string[]): void {
  const told = (payload.labels ?? []).map(nameOf);
  if (told.join() === given.join()) return;
  throw new Broken(`entry ${seq}: ${agent} ${opId ?? ''} is said to give [${told.join()}]; new are [${given.join()}]`);
}

function givenIn({ payload: { labels = [] } }: JudgedEntry): readonly GivenLabel[] {
  return labels.filter((label) => typeof label !== 'string');
}

export function nameOf(label: string | GivenLabel): string {
  return typeof label === 'string' ? label : label.name;
}

function textOf({ name, of }: GivenLabel): string {
  return `${name} of ${of}`;
}
