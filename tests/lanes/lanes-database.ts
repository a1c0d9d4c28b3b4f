import type { Commit, Common, CommonFact, LaneFact, Rules, ShareFact } from './lanes-model.ts';
import { commonOf, Lane, Shares } from './lanes-model.ts';

/** What a gateway knew when it decided. */
export interface Knowledge {
  common: number;
  shares: number;
  readonly lanes: number[];
}

/** The logs, as one database keeps them. Each has a head of its own; a commit compares only those that it names. */
export class LanesDatabase {
  readonly #rules: Rules;
  readonly common: CommonFact[] = [];
  readonly shares: Commit<ShareFact>[] = [];
  readonly lanes: Commit<LaneFact>[][];
  readonly faults: string[] = [];

  constructor(rules: Rules, lanes: number) {
    this.#rules = rules;
    this.lanes = Array.from({ length: lanes }, () => []);
  }

  get knowledge(): Knowledge {
    return { common: this.common.length, shares: this.shares.length, lanes: this.lanes.map(({ length }) => length) };
  }

  commonAt(version: number): Common {
    return commonOf(this.common.slice(0, version), this.#rules);
  }

  sharesAt(version: number, epoch: number): Shares {
    const log = this.shares.slice(0, version).map(({ fact }) => fact);
    return new Shares(log, epoch, this.lanes.length);
  }

  /** A lane as it is at a version, for who knows this much of the common log. */
  laneAt(index: number, version: number, common: number): Lane {
    const lane = new Lane(this.#rules);
    for (const commit of (this.lanes[index] ?? []).slice(0, version)) {
      lane.see(this.commonAt(commit.common));
      lane.apply(commit.fact);
    }
    lane.see(this.commonAt(common));
    return lane;
  }

  commitCommon(known: Knowledge, fact: CommonFact): boolean {
    if (known.common !== this.common.length) return false;
    this.common.push(fact);
    return true;
  }

  commitShare(known: Knowledge, fact: ShareFact): boolean {
    if (known.shares !== this.shares.length || !this.#rests(known)) return false;
    this.shares.push({ common: known.common, fact });
    return true;
  }

  /** Lanes do not wait for one another, and not for the log of shares. */
  commitLane(known: Knowledge, index: number, fact: LaneFact): boolean {
    const log = this.lanes[index];
    if (log === undefined || known.lanes[index] !== log.length || !this.#rests(known)) return false;
    if (fact.kind === 'charged') this.#judge(fact);
    log.push({ common: known.common, fact });
    return true;
  }

  /** What all lanes have used, now. */
  get used(): number {
    return this.lanes.reduce((sum, log, index) => sum + this.laneAt(index, log.length, this.common.length).used, 0);
  }

  #rests({ common }: Knowledge): boolean {
    return !this.#rules.restsOnCommon || common === this.common.length;
  }

  /** The moment of the commit is the one order that must explain it. */
  #judge({ op, amount, credential }: Extract<LaneFact, { kind: 'charged' }>): void {
    const { cap, revoked } = this.commonAt(this.common.length);
    if (this.used + amount > cap)
      this.faults.push(`${op} was charged beyond the cap: ${this.used} + ${amount} > ${cap}`);
    if (revoked.has(credential)) this.faults.push(`${op} was charged to the revoked credential ${credential}`);
  }
}
