import type { VirtualClock } from '../virtual-clock.ts';
import type { CommonState } from './common-state.ts';
import { commonAfter, emptyCommon } from './common-state.ts';
import type { AnyCommit, CommonFact, LaneCommit, LaneFact } from './lane-facts.ts';
import type { Request } from './lane-requests.ts';
import { decide, unavailable } from './lane-requests.ts';
import type { LaneState } from './lane-state.ts';
import { applyToLane, copyOfLane, emptyLane, overrunOf, see } from './lane-state.ts';
import type { LanesDatabase, Missed, Overrun, Standing } from './lanes-database.ts';
import { follow } from './lanes-database.ts';
import { Unreachable } from './virtual-wire.ts';
import type { VirtualWire } from './virtual-wire.ts';

/** A day of the simulated world is short, so that many end. */
export const dayMs = 8000;
/** How many requests share a commit at most. */
const mostTogether = 4;

interface Waiting {
  readonly request: Request;
  readonly answer: (text: string) => void;
}

/** What one turn has decided for the first of those who wait. */
interface Turn {
  readonly answers: readonly string[];
  readonly facts: readonly LaneFact[];
  readonly overrun?: Overrun;
  /** What the next one lacks of the global cap. */
  readonly need: number;
}

/** A gateway that follows the common log, and those lanes that it serves. Lanes do not wait for one another. */
export class LanesGateway {
  readonly #wire: VirtualWire<LanesGateway>;
  readonly #database: LanesDatabase;
  readonly #clock: VirtualClock;
  readonly #commons: CommonState[] = [emptyCommon];
  readonly #lanes = new Map<number, LaneState>();
  readonly #waiting = new Map<number, Waiting[]>();
  readonly #working = new Set<number>();
  /** Of each lane: for which operation, and where the lane stood, there was no room. */
  readonly #noRoom = new Map<number, string>();

  constructor(wire: VirtualWire<LanesGateway>, database: LanesDatabase, clock: VirtualClock) {
    this.#wire = wire;
    this.#database = database;
    this.#clock = clock;
  }

  get common(): CommonState {
    return this.#commons.at(-1) ?? emptyCommon;
  }

  get served(): readonly number[] {
    return [...this.#lanes.keys()];
  }

  get isIdle(): boolean {
    return this.#working.size === 0;
  }

  /** The lane as this gateway sees it now. */
  lane(lane: number): LaneState {
    const state = copyOfLane(this.#lanes.get(lane) ?? emptyLane());
    see(state, this.common, this.#database.rules);
    return state;
  }

  ask(request: Request): Promise<string> {
    return new Promise((answer) => {
      const waiting = this.#waiting.get(request.lane) ?? [];
      this.#waiting.set(request.lane, waiting);
      waiting.push({ request, answer });
      void this.#serve(request.lane, waiting);
    });
  }

  /** Says something that concerns everybody. */
  async say(fact: CommonFact): Promise<string> {
    if (!this.#database.rules.answersAfterCommit) {
      void this.#wire.ask(this, 'write', () => this.#database.commitCommon(this.common.version, fact)).catch(() => {});
      return 'done';
    }
    try {
      for (;;) {
        const { version } = this.common;
        if (await this.#wire.ask(this, 'write', () => this.#database.commitCommon(version, fact))) return 'done';
        await this.#catchUp(0);
      }
    } catch (error) {
      return asAnswer(error);
    }
  }

  /** A message of another gateway. What does not come next is found out later. */
  hear(commit: AnyCommit): void {
    if (commit.lane === 'common') this.#followCommon([commit]);
    else if (this.#lanes.has(commit.lane)) this.#follow(commit);
  }

  /** Writes the rows of a lane. */
  async save(lane: number): Promise<void> {
    const state = this.#lanes.get(lane);
    if (state === undefined) return;
    const saved = copyOfLane(state);
    await this.#wire.ask(this, 'write', () => this.#database.save(lane, saved)).catch(asAnswer);
  }

  /** It serves this lane no longer, unless somebody is waiting. */
  forget(lane: number): void {
    if (!this.#working.has(lane)) this.#lanes.delete(lane);
  }

  async checkpoint(): Promise<void> {
    const { rules, checkpoints } = this.#database;
    const after = checkpoints.length;
    const heads = () => ({ heads: this.#database.heads(), common: this.#database.state.version });
    try {
      if (rules.checkpointsAreCuts && rules.comparesCheckpoint) {
        const now = () => this.#database.checkpoint(after, heads().heads, heads().common);
        await this.#wire.ask(this, 'write', now);
        return;
      }
      const { heads: gathered, common } = await this.#wire.ask(this, 'read', heads);
      if (!rules.checkpointsAreCuts) {
        for (const lane of gathered.keys()) {
          const later = await this.#wire.ask(this, 'read', heads);
          gathered.set(lane, later.heads.get(lane) ?? 0);
        }
      }
      await this.#wire.ask(this, 'write', () => this.#database.checkpoint(after, gathered, common));
    } catch (error) {
      asAnswer(error);
    }
  }

  async #serve(lane: number, waiting: Waiting[]): Promise<void> {
    if (this.#working.has(lane)) return;
    this.#working.add(lane);
    while (waiting.length > 0) {
      try {
        if (!this.#lanes.has(lane)) await this.#catchUp(lane);
        await this.#turn(lane, waiting);
      } catch (error) {
        const text = asAnswer(error);
        for (const { answer } of waiting.splice(0)) answer(text);
      }
    }
    this.#working.delete(lane);
  }

  /** Decides as much as it can, commits that, and answers. Whoever was overtaken is decided again. */
  async #turn(lane: number, waiting: Waiting[]): Promise<void> {
    const { rules } = this.#database;
    const standing = this.#standing(lane);
    const turn = this.#decided(lane, waiting);
    const { answers, facts, overrun, need } = turn;
    if (answers.length === 0) {
      await this.#take(lane, waiting[0]?.request, need);
      return;
    }
    const answer = () => {
      for (const [nth, one] of waiting.splice(0, answers.length).entries()) one.answer(answers[nth] ?? '');
    };
    if (facts.length === 0) {
      if (!rules.asksBeforeAnswering || !(await this.#isOvertaken(lane))) answer();
      return;
    }
    if (!rules.answersAfterCommit) answer();
    const commit = await this.#wire.ask(this, 'write', () => this.#database.commitLane(standing, facts, overrun));
    if (commit === undefined || !this.#follow(commit)) await this.#catchUp(lane);
    if (commit !== undefined && rules.answersAfterCommit) answer();
  }

  #decided(lane: number, waiting: readonly Waiting[]): Turn {
    const { rules } = this.#database;
    const state = this.lane(lane);
    const now = this.#clock.now();
    const noRoom = this.#noRoom.get(lane);
    const hasNoRoom = (op: string) =>
      rules.denialsRestOnRead ? noRoom === this.#placeOf(lane, op) : noRoom !== undefined;
    const ground = { lane: state, common: this.common, rules, now, day: this.#today(), hasNoRoom };
    const [answers, facts]: [string[], LaneFact[]] = [[], []];
    for (const { request } of waiting.slice(0, mostTogether)) {
      const decision = decide(request, ground);
      if ('need' in decision) return { answers, facts, need: decision.need };
      const overrun = this.#overrunBy(decision.facts, state);
      // That there is no room was said of the lane before this turn. An overrun may void the share that a charge uses.
      if (facts.length > 0 && ((overrun !== undefined && rules.overrunsAlone) || decision.facts.some(isByRead))) break;
      for (const fact of decision.facts) applyToLane(state, fact, rules);
      facts.push(...decision.facts);
      answers.push(decision.answer);
      if (overrun !== undefined) return { answers, facts, overrun, need: 0 };
    }
    return { answers, facts, need: 0 };
  }

  #overrunBy(facts: readonly LaneFact[], state: LaneState): Overrun | undefined {
    for (const fact of facts) {
      if (fact.kind !== 'settled') continue;
      const amount = overrunOf(state, fact.op, fact.amount, this.#database.rules);
      if (amount > 0) return { day: state.ops.get(fact.op)?.day ?? 0, amount };
    }
    return undefined;
  }

  /** Takes more of the global cap for a lane, or learns that there is none to be had. */
  async #take(lane: number, request: Request | undefined, need: number): Promise<void> {
    if (request?.kind !== 'charge') return;
    const standing = this.#standing(lane);
    const [day, place] = [this.#today(), this.#placeOf(lane, request.op)];
    const taken = await this.#wire.ask(this, 'write', () => this.#database.takeShare(standing, day, need, need * 4));
    if (taken === false) this.#noRoom.set(lane, place);
    else if (taken === undefined || !this.#follow(taken)) await this.#catchUp(lane);
  }

  #standing(lane: number): Standing {
    return { lane, version: this.#lanes.get(lane)?.version ?? 0, common: this.common.version };
  }

  #placeOf(lane: number, op = ''): string {
    const { version, common } = this.#standing(lane);
    return `${op} on ${version}, ${common}, day ${this.#today()}`;
  }

  #today(): number {
    return Math.floor(this.#clock.now() / dayMs);
  }

  /** Asks for what is newer. It may also come by a message meanwhile. */
  async #isOvertaken(lane: number): Promise<boolean> {
    const decided = this.#placeOf(lane);
    const read = await this.#catchUp(lane);
    return (this.#database.rules.asksSinceDecided ? decided : read) !== this.#placeOf(lane);
  }

  /** Returns where the lane stood when the answer came. */
  async #catchUp(lane: number): Promise<string> {
    const missed = await this.#wire.ask(this, 'read', () => this.#database.missedBy(this.#standing(lane)));
    const place = this.#placeOf(lane);
    this.#followMissed(lane, missed);
    return place;
  }

  #followMissed(lane: number, { common, saved, commits }: Missed): void {
    this.#followCommon(common);
    const known = this.#lanes.get(lane);
    if (saved !== undefined && saved.version > (known?.version ?? 0)) this.#lanes.set(lane, saved);
    else if (known === undefined) this.#lanes.set(lane, emptyLane());
    const { takesUpWhole } = this.#database.rules;
    const state = this.#lanes.get(lane);
    if (saved !== undefined && !takesUpWhole && state !== undefined)
      state.version = commits.at(-1)?.version ?? state.version;
    else for (const commit of commits) this.#follow(commit);
  }

  #followCommon(commits: readonly Extract<AnyCommit, { lane: 'common' }>[]): void {
    for (const { version, facts } of commits) {
      if (version !== this.common.version + 1) continue;
      for (const fact of facts) this.#commons.push(commonAfter(this.common, fact, this.#database.rules));
    }
  }

  /** Returns whether the lane is at this commit now, or beyond it. */
  #follow(commit: LaneCommit): boolean {
    const state = this.#lanes.get(commit.lane);
    const common = this.#commons[commit.common];
    if (state === undefined || common === undefined) return false;
    if (commit.version === state.version + 1) follow(state, commit, common, this.#database.rules);
    return state.version >= commit.version;
  }
}

/** Whether it stands on what the database has said of a place of the lane. */
function isByRead(fact: LaneFact): boolean {
  return fact.kind === 'denied' && fact.why === 'global cap';
}

/** Whoever cannot reach the database says so. Anything else is an error of the simulation. */
function asAnswer(error: unknown): string {
  if (error instanceof Unreachable) return unavailable;
  throw error;
}
