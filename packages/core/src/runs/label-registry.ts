import type { Undo } from '../journal/index.ts';
import { nothingToApply } from '../journal/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import type { Label, LabelBearer, LabelOwner } from './label.ts';
import { bearersOf, runBearer } from './label.ts';
import type { IdleRuns } from './idle-runs.ts';
import type { InRun, RunPlace } from './run.ts';
import { nameOfPlace } from './run.ts';

type Team = Pick<RunPlace, 'orgId' | 'teamId'>;

/** What somebody bears, oldest first by the clocks that gave it, so that rows in any order tell the same. */
export interface Borne {
  readonly bearer: LabelBearer;
  readonly labels: readonly Label[];
}

const nothing: readonly Label[] = [];

/** How many agents of a team may bear labels. They stay after the agent has left: it returns with them. */
const mostLabelledAgents = 10_000;

/** Which labels runs and agents bear. They only grow, until somebody clears them. */
export class LabelRegistry {
  readonly #borne: Readonly<Record<LabelOwner, Map<string, Borne>>> = { run: new Map(), agent: new Map() };
  /** How many runs and agents of a team bear labels. */
  readonly #teams = new Map<string, Record<LabelOwner, number>>();

  #newestAt: EpochMs = 0;
  readonly #idle: Pick<IdleRuns, 'mayMark' | 'hasMarkedFewEnough'>;

  /** `idle` knows for how many runs there is room. */
  constructor(idle: Pick<IdleRuns, 'mayMark' | 'hasMarkedFewEnough'>) {
    this.#idle = idle;
  }

  get isEmpty(): boolean {
    return this.#borne.run.size + this.#borne.agent.size === 0;
  }

  /** No label was given later than this. */
  get newestAt(): EpochMs {
    return this.#newestAt;
  }

  /** The labels that count in a run: its own first, then those of its agents. */
  in(op: InRun): readonly Label[] {
    if (this.isEmpty) return nothing;
    if (this.#borne.agent.size === 0) return this.of(runBearer(op));
    let found = nothing;
    for (const bearer of bearersOf(op)) {
      const own = this.of(bearer);
      // Mostly one of them bears labels. Whoever reads the same list again remembers what it made of it.
      if (own.length > 0) found = found.length === 0 ? own : [...found, ...own];
    }
    return found;
  }

  of(bearer: LabelBearer): readonly Label[] {
    const borne = this.#borne[bearer.of];
    // Every check asks for those of its agent, and few agents bear any.
    return borne.size === 0 ? nothing : (borne.get(nameOfPlace(bearer.place))?.labels ?? nothing);
  }

  /** Whether there is room for a run, or an agent, that bears no label yet. */
  mayLabel({ of, place }: LabelBearer): boolean {
    return of === 'run' ? this.#idle.mayMark(place.orgId) : this.#agentsOf(place) < mostLabelledAgents;
  }

  /** Whether no more bear labels than may. */
  isWithinBounds({ of, place }: LabelBearer): boolean {
    return of === 'run' ? this.#idle.hasMarkedFewEnough(place.orgId) : this.#agentsOf(place) <= mostLabelledAgents;
  }

  #agentsOf(team: Team): number {
    return this.#teams.get(teamName(team))?.agent ?? 0;
  }

  /** Whether anything in a team bears labels. */
  hasTeam(team: Team): boolean {
    return this.#teams.has(teamName(team));
  }

  /** Adds those that are not borne yet. */
  give(bearer: LabelBearer, labels: readonly Label[]): Undo {
    const borne = this.of(bearer);
    const added = labels.filter(({ name }) => borne.every((known) => known.name !== name));
    if (added.length === 0) return nothingToApply();
    this.#put(bearer, inOrder([...borne, ...added]));
    for (const { since } of added) this.#newestAt = Math.max(this.#newestAt, since);
    return () => this.#put(bearer, without(this.of(bearer), new Set(added.map(({ name }) => name))));
  }

  /** Takes these away, or all. */
  clear(bearer: LabelBearer, names?: readonly string[]): Undo {
    const borne = this.of(bearer);
    const rest = names === undefined ? nothing : without(borne, new Set(names));
    if (rest.length === borne.length) return nothingToApply();
    this.#put(bearer, rest);
    return () => {
      const since = this.of(bearer);
      const known = new Set(borne.map(({ name }) => name));
      this.#put(bearer, inOrder([...borne, ...since.filter(({ name }) => !known.has(name))]));
    };
  }

  #put(bearer: LabelBearer, labels: readonly Label[]): void {
    const name = nameOfPlace(bearer.place);
    const borne = this.#borne[bearer.of];
    const was = borne.has(name);
    if (labels.length > 0) borne.set(name, { bearer, labels });
    else borne.delete(name);
    const is = labels.length > 0;
    if (was === is) return;
    const team = teamName(bearer.place);
    const counts = this.#teams.get(team) ?? { run: 0, agent: 0 };
    counts[bearer.of] += is ? 1 : -1;
    if (counts.run + counts.agent > 0) this.#teams.set(team, counts);
    else this.#teams.delete(team);
  }
}

function teamName({ orgId, teamId }: Team): string {
  return `${orgId}/${teamId}`;
}

function inOrder(labels: readonly Label[]): readonly Label[] {
  return labels.toSorted((a, b) => a.since - b.since || (a.name < b.name ? -1 : 1));
}

function without(labels: readonly Label[], names: ReadonlySet<string>): readonly Label[] {
  return labels.filter(({ name }) => !names.has(name));
}
