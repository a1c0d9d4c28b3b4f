import type { Knowledge, LanesDatabase } from './lanes-database.ts';
import type { CommonFact, LaneFact, Rules } from './lanes-model.ts';

/** A gateway that decides by what it knows. The database refuses what rests on too little. */
export class LanesGateway {
  readonly #database: LanesDatabase;
  readonly #rules: Rules;
  #known: Knowledge;

  constructor(database: LanesDatabase, rules: Rules) {
    this.#database = database;
    this.#rules = rules;
    this.#known = database.knowledge;
  }

  /** Hears of some of what others have committed: of each log up to a place of its own. */
  hear(share: number): void {
    const { common, shares, lanes } = this.#database.knowledge;
    const upTo = (known: number, newest: number) => known + Math.floor((newest - known) * share);
    this.#known = {
      common: upTo(this.#known.common, common),
      shares: upTo(this.#known.shares, shares),
      lanes: lanes.map((newest, index) => upTo(this.#known.lanes[index] ?? 0, newest)),
    };
  }

  say(fact: CommonFact): boolean {
    return this.#database.commitCommon(this.#known, fact);
  }

  charge(index: number, op: string, amount: number, credential: number): 'charged' | 'denied' | 'refused' {
    const { revoked, epoch } = this.#common();
    if (revoked.has(credential)) return 'denied';
    const lane = this.#lane(index);
    const shares = this.#database.sharesAt(this.#known.shares, epoch);
    if (lane.room(epoch, shares.takenBy(index)) < amount) return 'denied';
    return this.#commit(index, { kind: 'charged', op, amount, credential }) ? 'charged' : 'refused';
  }

  settle(index: number, amount: number): boolean {
    const [op, reserved] = [...this.#lane(index).running][0] ?? [];
    if (op === undefined || reserved === undefined) return false;
    return this.#commit(index, { kind: 'settled', op, amount: Math.min(amount, reserved) });
  }

  /** Takes more of the cap for a lane, if nobody else holds it. */
  take(index: number, amount: number): boolean {
    const { cap, epoch } = this.#common();
    const shares = this.#database.sharesAt(this.#known.shares, epoch);
    if (shares.free(cap, this.#rules) < amount) return false;
    return this.#database.commitShare(this.#known, { kind: 'taken', lane: index, epoch, amount });
  }

  /** Gives back what a lane does not need. From then on the lane cannot use it. */
  giveBack(index: number): boolean {
    const { epoch } = this.#common();
    const shares = this.#database.sharesAt(this.#known.shares, epoch);
    const amount = this.#lane(index).room(epoch, shares.takenBy(index));
    if (amount <= 0) return false;
    if (!this.#rules.returnsBeforeReceipt) {
      const returned = shares.receivedFrom(index) + amount;
      return this.#database.commitShare(this.#known, { kind: 'received', lane: index, epoch, returned });
    }
    return this.#commit(index, { kind: 'returned', epoch, amount });
  }

  /** Others may take what a lane has given back. */
  receive(index: number): boolean {
    const { epoch } = this.#common();
    const returned = this.#lane(index).returned(epoch);
    if (returned <= this.#database.sharesAt(this.#known.shares, epoch).receivedFrom(index)) return false;
    return this.#database.commitShare(this.#known, { kind: 'received', lane: index, epoch, returned });
  }

  /** Says what a lane had used when the cap was lowered. A commit of the lane fixes that first. */
  report(index: number): boolean {
    const { epoch } = this.#common();
    if (this.#database.sharesAt(this.#known.shares, epoch).hasReported(index)) return false;
    if (!this.#commit(index, { kind: 'reported', epoch })) return false;
    this.hear(1);
    if (this.#common().epoch !== epoch) return false;
    const used = this.#lane(index).base(epoch);
    return this.#database.commitShare(this.#known, { kind: 'reported', lane: index, epoch, used });
  }

  #common() {
    return this.#database.commonAt(this.#known.common);
  }

  #lane(index: number) {
    return this.#database.laneAt(index, this.#known.lanes[index] ?? 0, this.#known.common);
  }

  #commit(index: number, fact: LaneFact): boolean {
    const isMade = this.#database.commitLane(this.#known, index, fact);
    if (isMade) this.#known.lanes[index] = (this.#known.lanes[index] ?? 0) + 1;
    return isMade;
  }
}
