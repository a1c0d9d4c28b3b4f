import { ChunkedSet } from '../kernel/index.ts';
import type { MutableRun } from './run.ts';
import { idleSlot } from './run.ts';

/** How many runs are remembered in all. Orgs have equal shares of them. */
const mostRuns = 200_000;
/** However many orgs there are, each has this much. */
const leastShare = 1000;
/** An org whose share has become smaller gives up no more than this for one new run. */
const mostAtOnce = 2;

interface OrgRuns {
  size: number;
  /** Those without anything under way, longest quiet first. */
  readonly teams: Map<string, ChunkedSet<MutableRun>>;
  /** The same of labelled runs, of all teams. They make no room. */
  readonly labelled: ChunkedSet<MutableRun>;
  /** How many runs bear labels, idle or not. */
  marked: number;
}

/**
 * Which runs can be forgotten, so that whoever invents new ones fills no memory. An org that has its share gives up a run of
 * its own for each new one, first of the team that begins it. Runs with operations under way stay: there are no more of them
 * than operations. Labelled runs stay, too, until they were quiet for too long: an org labels no more runs than its share.
 */
export class IdleRuns {
  readonly #orgs = new Map<string, OrgRuns>();
  readonly #mostRuns: number;
  readonly #leastShare: number;

  constructor(most = mostRuns, least = leastShare) {
    this.#mostRuns = most;
    this.#leastShare = least;
  }

  /** A run is known. */
  note({ place: { orgId } }: MutableRun): void {
    const org = this.#orgs.get(orgId) ?? { size: 0, teams: new Map(), labelled: new ChunkedSet(idleSlot), marked: 0 };
    org.size++;
    this.#orgs.set(orgId, org);
  }

  /** A run is no longer known. */
  drop(run: MutableRun): void {
    this.#remove(run);
    const { orgId } = run.place;
    const org = this.#orgs.get(orgId);
    if (org !== undefined && run.isLabelled) org.marked--;
    if (org !== undefined && --org.size === 0) this.#orgs.delete(orgId);
  }

  /** A known run bears labels from now on, or no more. */
  mark(run: MutableRun, isLabelled: boolean): void {
    if (run.isLabelled === isLabelled) return;
    this.#remove(run);
    run.isLabelled = isLabelled;
    const org = this.#orgs.get(run.place.orgId);
    if (org !== undefined) org.marked += isLabelled ? 1 : -1;
  }

  /** Whether an org may label one run more. */
  mayMark(orgId: string): boolean {
    return (this.#orgs.get(orgId)?.marked ?? 0) < this.#share;
  }

  /** Whether an org has not labelled more runs than it may. */
  hasMarkedFewEnough(orgId: string): boolean {
    return (this.#orgs.get(orgId)?.marked ?? 0) <= this.#share;
  }

  /** Something has happened in a run. `isTouched`: it is the last in line from now on. */
  place(run: MutableRun, isTouched: boolean): void {
    if (run.underWay === 0 && run.idlePart !== undefined && !isTouched) return;
    this.#remove(run);
    if (run.underWay > 0) return;
    const { orgId, teamId } = run.place;
    const org = this.#orgs.get(orgId);
    if (run.isLabelled) {
      org?.labelled.add(run);
      return;
    }
    const idle = org?.teams.get(teamId) ?? new ChunkedSet(idleSlot);
    org?.teams.set(teamId, idle);
    idle.add(run);
  }

  #remove(run: MutableRun): void {
    if (run.idlePart === undefined) return;
    const { orgId, teamId } = run.place;
    const org = this.#orgs.get(orgId);
    if (run.isLabelled) {
      org?.labelled.delete(run);
      return;
    }
    const idle = org?.teams.get(teamId);
    idle?.delete(run);
    if (idle?.size === 0) org?.teams.delete(teamId);
  }

  /** Which runs an org must forget for one more, of this team. */
  beyondRoom(orgId: string, teamId: string): readonly MutableRun[] {
    const org = this.#orgs.get(orgId);
    if (org === undefined) return noRuns;
    const share = this.#share;
    if (org.size < share) return noRuns;
    const own = org.teams.get(teamId);
    const idle = own ?? [...org.teams.values()].reduce((one, other) => (other.size > one.size ? other : one), none);
    const found: MutableRun[] = [];
    for (const run of idle) {
      // If the oldest is not durable yet, none is.
      if (found.length >= Math.min(mostAtOnce, org.size + 1 - share) || run.unsettled.length > 0) break;
      found.push(run);
    }
    return found;
  }

  get #share(): number {
    return Math.max(this.#leastShare, Math.floor(this.#mostRuns / Math.max(1, this.#orgs.size)));
  }

  /** The runs that were quiet for too long, and those of orgs beyond their share. Undefined where a team has no more. */
  *toForget(isLapsed: (run: MutableRun) => boolean): Generator<MutableRun | undefined> {
    for (const { size, teams, labelled } of this.#orgs.values()) {
      for (const run of labelled) {
        if (run.unsettled.length > 0 || !isLapsed(run)) break;
        yield run;
      }
      let excess = size - this.#share;
      for (const idle of teams.values()) {
        for (const run of idle) {
          if (run.unsettled.length > 0 || (excess <= 0 && !isLapsed(run))) break;
          excess--;
          yield run;
        }
        yield undefined;
      }
    }
  }
}

const none = new ChunkedSet(idleSlot);
const noRuns: readonly MutableRun[] = [];
