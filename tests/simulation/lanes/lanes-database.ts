import type { Checkpoint } from './checkpoints.ts';
import { checkpointOf, entriesBetween } from './checkpoints.ts';
import type { CommonState } from './common-state.ts';
import { commonAfter, emptyCommon } from './common-state.ts';
import type { AnyCommit, CommonCommit, CommonFact, LaneCommit, LaneFact } from './lane-facts.ts';
import { noHash, sealed } from './sealed.ts';
import type { Rules } from './lane-rules.ts';
import type { LaneState } from './lane-state.ts';
import { accountOf, applyToLane, copyOfLane, emptyLane, see } from './lane-state.ts';

/** A lane, as the database keeps it. */
interface KeptLane {
  /** The row of its head: version, moment, and what it has of the global cap. */
  readonly head: LaneState;
  readonly commits: LaneCommit[];
  /** The rows of its operations, as of some commit. Commits before it are no longer read. */
  saved: LaneState;
}

/** What is free of the global cap on one day, and when that last changed. */
interface Pool {
  free: number;
  moment: number;
  /** Whether anybody has taken a share since shares became void. */
  isTaken: boolean;
}

/** Where a gateway stands that commits to a lane. */
export interface Standing {
  readonly lane: number;
  readonly version: number;
  readonly common: number;
}

/** What a gateway has missed. A lane that it cannot follow from where it stands comes as its saved rows. */
export interface Missed {
  readonly common: readonly CommonCommit[];
  readonly saved: LaneState | undefined;
  readonly commits: readonly LaneCommit[];
}

/** What a settlement takes from what is free. It is a commit of its own. */
export interface Overrun {
  readonly day: number;
  readonly amount: number;
}

/**
 * One PostgreSQL with all logs. Each of them has a row with its head, and each method is one transaction: what it compares
 * is locked until it is done.
 */
export class LanesDatabase {
  readonly rules: Rules;
  readonly common: CommonCommit[] = [];
  readonly lanes = new Map<number, KeptLane>();
  readonly checkpoints: Checkpoint[] = [];
  readonly pools = new Map<number, Pool>();
  state: CommonState = emptyCommon;
  #commonMoment = 0;
  readonly #ordered: AnyCommit[] = [];
  readonly #onWritten: (commit: AnyCommit) => void;

  constructor(rules: Rules, onWritten: (commit: AnyCommit) => void) {
    this.rules = rules;
    this.#onWritten = onWritten;
  }

  /** Returns whether it was on top of everything in the common log. */
  commitCommon(version: number, fact: CommonFact): boolean {
    if (version !== this.state.version) return false;
    this.#appendCommon(fact);
    return true;
  }

  /** Commits of different lanes touch different rows. The version of the common log is compared and not moved. */
  commitLane(standing: Standing, facts: readonly LaneFact[], overrun?: Overrun): LaneCommit | undefined {
    if (!this.isNewest(standing)) return undefined;
    if (overrun === undefined) return this.#append(standing.lane, facts, 0);
    const pool = this.poolOf(overrun.day);
    pool.free -= overrun.amount;
    // Whoever holds a share now could use more than there is.
    if (pool.free < 0 && pool.isTaken && this.rules.overdraftVoids) this.#appendCommon({ kind: 'overdrawn' });
    const commit = this.#append(standing.lane, facts, pool.moment);
    pool.moment = commit?.moment ?? 0;
    return commit;
  }

  /**
   * Gives a lane more of the cap, in one transaction with all lanes whose shares it recalls. `false`: at this moment
   * there was no room in all lanes together.
   */
  takeShare(standing: Standing, day: number, need: number, wanted: number): LaneCommit | false | undefined {
    if (!this.isNewest(standing)) return undefined;
    const { lane } = standing;
    const pool = this.poolOf(day);
    const own = this.#unusedOf(lane, day).due;
    const others = [...this.lanes.keys()]
      .filter((other) => other !== lane && this.rules.recallsBeforeDenying)
      .map((other) => ({ other, unused: this.#unusedOf(other, day).all }))
      .filter(({ unused }) => unused > 0)
      .sort((one, other) => other.unused - one.unused);
    const room = pool.free + own + others.reduce((sum, { unused }) => sum + unused, 0);
    if (room < need) return false;
    this.#recall(others, day, pool.free + own, need);
    const amount = Math.max(need, Math.min(wanted, Math.floor((pool.free + own) / 4)));
    const facts: LaneFact[] = own > 0 ? [{ kind: 'share_given_back', day, amount: own }] : [];
    const commit = this.#append(lane, [...facts, { kind: 'share_taken', day, amount }], pool.moment);
    pool.free += own - amount;
    pool.isTaken = true;
    pool.moment = commit?.moment ?? 0;
    return commit;
  }

  /** Takes back as little as is needed, from as few lanes as have it. */
  #recall(others: readonly { other: number; unused: number }[], day: number, free: number, need: number): void {
    const pool = this.poolOf(day);
    let lacking = need - free;
    for (const { other, unused } of others) {
      if (lacking <= 0) return;
      const amount = Math.min(unused, lacking);
      const fact = { kind: 'share_given_back', day, amount } as const;
      if (this.rules.recallsByCommit) pool.moment = this.#append(other, [fact], pool.moment)?.moment ?? 0;
      pool.free += amount;
      lacking -= amount;
    }
  }

  /** What a gateway must follow before it knows everything of a lane. */
  missedBy({ lane, version, common }: Standing): Missed {
    const kept = this.lanes.get(lane);
    const isGone = kept !== undefined && version < kept.saved.version;
    const from = kept === undefined ? 0 : isGone ? kept.saved.version : version;
    return {
      common: this.common.slice(common),
      saved: isGone ? copyOfLane(kept.saved) : undefined,
      commits: kept?.commits.slice(from) ?? [],
    };
  }

  /** A gateway writes the rows of a lane later than their facts. */
  save(lane: number, state: LaneState): void {
    const kept = this.lanes.get(lane);
    if (kept !== undefined && kept.saved.version < state.version) kept.saved = copyOfLane(state);
  }

  /** How many commits each lane has, at one moment. */
  heads(): Map<number, number> {
    return new Map([...this.lanes].map(([lane, { commits }]) => [lane, commits.length]));
  }

  /** Returns whether it is the next one. What it covers has its place among everything from now on. */
  checkpoint(after: number, heads: ReadonlyMap<number, number>, common: number): boolean {
    if (this.rules.comparesCheckpoint && after !== this.checkpoints.length) return false;
    const made = checkpointOf(this, heads, common);
    this.#ordered.push(...entriesBetween(this, this.checkpoints.at(-1), made));
    this.checkpoints.push(made);
    return true;
  }

  /** What a reader of all lanes gets: everything after the nth entry, in an order that never changes. */
  ordered(after: number): readonly AnyCommit[] {
    if (this.rules.showsCheckpointed) return this.#ordered.slice(after);
    const newest = checkpointOf(this, this.heads(), this.state.version);
    return [...this.#ordered, ...entriesBetween(this, this.checkpoints.at(-1), newest)].slice(after);
  }

  isNewest({ lane, version, common }: Standing): boolean {
    const isOnLane = !this.rules.comparesLane || version === this.lanes.get(lane)?.commits.length;
    return isOnLane && (!this.rules.comparesCommon || common === this.state.version);
  }

  poolOf(day: number): Pool {
    const known = this.pools.get(day) ?? { free: this.state.cap, moment: 0, isTaken: false };
    this.pools.set(day, known);
    return known;
  }

  #unusedOf(lane: number, day: number): { due: number; all: number } {
    const head = this.lanes.get(lane)?.head;
    if (head === undefined) return { due: 0, all: 0 };
    see(head, this.state, this.rules);
    const { idle, due } = accountOf(head, day);
    return { due, all: idle + due };
  }

  #append(lane: number, facts: readonly LaneFact[], after: number): LaneCommit | undefined {
    const kept = this.lanes.get(lane);
    if (kept === undefined) return undefined;
    const { head, commits } = kept;
    const moment = 1 + Math.max(head.moment, this.#commonMoment, after);
    const version = commits.length + 1;
    const common = this.state.version;
    const commit = sealed({ lane, version, common, moment, facts }, commits.at(-1)?.hash ?? noHash);
    commits.push(commit);
    follow(head, commit, this.state, this.rules);
    this.#onWritten(commit);
    return commit;
  }

  #appendCommon(fact: CommonFact): void {
    const before = this.state;
    const version = before.version + 1;
    const pools = [...this.pools.values()];
    const moment = 1 + Math.max(this.#commonMoment, ...pools.map((pool) => pool.moment));
    const commit = sealed(
      { lane: 'common' as const, version, common: version, moment, facts: [fact] },
      this.common.at(-1)?.hash ?? noHash,
    );
    this.common.push(commit);
    this.state = commonAfter(before, fact, this.rules);
    this.#commonMoment = moment;
    if (fact.kind === 'lane_opened') this.lanes.set(fact.lane, { head: emptyLane(), commits: [], saved: emptyLane() });
    for (const pool of pools) {
      pool.free += this.state.cap - before.cap;
      if (this.state.epoch > before.epoch) pool.isTaken = false;
    }
    this.#onWritten(commit);
  }
}

/** A lane follows one commit. The same runs in the database's rows and at every gateway. */
export function follow(state: LaneState, commit: LaneCommit, common: CommonState, rules: Rules): void {
  see(state, common, rules);
  for (const fact of commit.facts) applyToLane(state, fact, rules);
  state.version = commit.version;
  state.moment = commit.moment;
}
