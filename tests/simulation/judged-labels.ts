import { Broken } from './broken.ts';
import type { GivenLabel, JudgedEntry } from './judged-entry.ts';
import { opName } from './judged-entry.ts';
import { quietMs, runOf } from './judged-runs.ts';
import { guarded, labelling } from './policies.ts';

/** Whose labels count for an operation. */
interface Bearers {
  readonly run: string;
  /** The agent and everybody above it. */
  readonly agents: readonly string[];
}

/** What an operation gives once it is approved. */
interface Owed extends Bearers {
  readonly labels: readonly GivenLabel[];
}

/** What the log says of labels. They only grow, until they are cleared or their run is forgotten. */
export class JudgedLabels {
  readonly #borne = new Map<string, Set<string>>();
  readonly #owed = new Map<string, Owed>();
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
    const borne = this.#in(bearers);
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
    const expected = decision === 'deny' ? [] : labelling.filter((rule) => rule.tool === tool);
    const [given, due] = [labels.map(textOf), expected.map(({ label, of }) => `${label} of ${of}`)];
    if (given.join() !== due.join()) {
      throw new Broken(`entry ${seq}: ${tool} gives [${given.join()}] and should give [${due.join()}]`);
    }
    if (decision === 'allow') this.#give(bearers, labels);
    const op = opName(agent, opId ?? '');
    if (decision === 'pending') this.#owed.set(op, { ...bearers, labels });
    else this.#owed.delete(op);
  }

  /** An operation has moved. One that was approved gives what it owes. */
  move({ seq, agent, opId, payload }: JudgedEntry): void {
    const op = opName(agent, opId ?? '');
    const owed = this.#owed.get(op);
    this.#owed.delete(op);
    const given = owed === undefined || payload.to !== 'running' ? [] : this.#give(owed, owed.labels);
    const told = (payload.labels ?? []).map(nameOf);
    if (told.join() !== given.join()) {
      throw new Broken(`entry ${seq}: ${op} is said to give [${told.join()}]; new are [${given.join()}]`);
    }
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
  #give({ run, agents }: Bearers, labels: readonly GivenLabel[]): readonly string[] {
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

  /** What counts for an operation, in the order of names. */
  #in({ run, agents }: Bearers): readonly string[] {
    const names = [`run ${run}`, ...agents.map((agent) => `agent ${agent}`)];
    return [...new Set(names.flatMap((name) => [...(this.#borne.get(name) ?? [])]))].toSorted();
  }
}

function givenIn({ payload: { labels = [] } }: JudgedEntry): readonly GivenLabel[] {
  return labels.filter((label) => typeof label !== 'string');
}

function nameOf(label: string | GivenLabel): string {
  return typeof label === 'string' ? label : label.name;
}

function textOf({ name, of }: GivenLabel): string {
  return `${name} of ${of}`;
}
