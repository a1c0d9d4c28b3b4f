import { Broken } from '../broken.ts';
import type { AnyCommit, CommonFact, LaneCommit, LaneFact } from './lane-facts.ts';
import type { Request } from './lane-requests.ts';
import { agentCap, unavailable } from './lane-requests.ts';
import { firstOrgCap } from './lane-state.ts';

interface JudgedOp {
  readonly day: number;
  readonly agent: string;
  amount: number;
  state: string;
}

interface JudgedLane {
  version: number;
  orgCap: number;
  readonly ops: Map<string, JudgedOp>;
  /** What the org, and each of its agents, has used of a day. */
  readonly spent: Map<string, number>;
}

/** Whoever waits for an answer, and what the world would have answered at some moment since. */
interface Open {
  readonly request: Request;
  readonly possible: Set<string>;
}

/**
 * Reads all logs in one order and knows nothing of lanes, shares or gateways. It has one world, in which a common fact
 * takes effect everywhere at once.
 */
export class LanesJudge {
  cap = 0;
  readonly lanes = new Map<number, JudgedLane>();
  readonly counts: Record<string, number> = {};
  readonly #revoked = new Set<string>();
  readonly #open = new Set<Open>();
  readonly #hearsCallers: boolean;

  /** `hearsCallers`: it is told what is asked and answered. Otherwise it reads, and nothing else. */
  constructor({ hearsCallers }: { readonly hearsCallers: boolean }) {
    this.#hearsCallers = hearsCallers;
  }

  /** `onFact` is called after each fact: callers who share a commit come one after the other. */
  read(commit: AnyCommit, onFact = () => {}): void {
    if (commit.lane === 'common') for (const fact of commit.facts) this.#readCommon(fact);
    else this.#readLane(commit, onFact);
    onFact();
  }

  /** What all lanes have used of a day. */
  used(day: number): number {
    let used = 0;
    for (const lane of this.lanes.values()) used += lane.spent.get(`${day}/`) ?? 0;
    return used;
  }

  asked(request: Request): Open {
    const open = { request, possible: new Set<string>() };
    this.#open.add(open);
    return open;
  }

  /** The world has changed, or time has passed. Days are those that some gateway may take for today. */
  noteWorld(days: readonly number[]): void {
    for (const { request, possible } of this.#open) {
      for (const day of days) possible.add(this.#answer(request, day));
    }
  }

  /** An answer must be true as of one moment between the question and the answer. */
  answered(open: Open, answer: string): void {
    this.#open.delete(open);
    const { request, possible } = open;
    this.#count(`${request.kind}: ${answer.replace(/\d+/, 'a number')}`);
    if (answer === unavailable) return;
    if (!possible.has(answer)) {
      throw new Broken(
        `${JSON.stringify(request)} was told "${answer}", and never was more true than ${[...possible].join(', ')}`,
      );
    }
    if (
      request.kind === 'charge' &&
      answer === 'allowed' &&
      this.lanes.get(request.lane)?.ops.has(request.op) !== true
    ) {
      throw new Broken(`${request.op} was allowed, and its lane does not know it`);
    }
  }

  /** Nobody will answer: the gateway has ended. */
  abandoned(open: Open): void {
    this.#open.delete(open);
  }

  said(fact: CommonFact): void {
    if (fact.kind === 'credential_revoked' && !this.#revoked.has(fact.credential))
      throw new Broken(`${fact.credential} was said to be revoked, and is not`);
  }

  #answer(request: Request, day: number): string {
    const lane = this.lanes.get(request.lane);
    if (lane === undefined) return 'unknown org';
    switch (request.kind) {
      case 'charge': {
        const known = lane.ops.get(request.op);
        return known === undefined ? this.#verdict(request, day) : answerOf(known);
      }
      case 'settle': {
        const state = stateOf(lane.ops.get(request.op));
        return state === 'running' ? 'completed' : state;
      }
      case 'status':
        return stateOf(lane.ops.get(request.op));
      case 'spent':
        return String(lane.spent.get(`${request.day}/`) ?? 0);
      case 'org cap':
      case 'housekeeping':
        return 'done';
    }
  }

  #verdict({ lane: index, agent, credential, amount }: Charge, day: number): string {
    const lane = this.lanes.get(index);
    if (lane === undefined) return 'unknown org';
    if (this.#revoked.has(credential)) return 'denied: revoked';
    if ((lane.spent.get(`${day}/${agent}`) ?? 0) + amount > agentCap) return 'denied: agent cap';
    if ((lane.spent.get(`${day}/`) ?? 0) + amount > lane.orgCap) return 'denied: org cap';
    return this.used(day) + amount > this.cap ? 'denied: global cap' : 'allowed';
  }

  #readCommon(fact: CommonFact): void {
    this.#count(fact.kind);
    if (fact.kind === 'cap_set') this.cap = fact.cap;
    else if (fact.kind === 'credential_revoked') this.#revoked.add(fact.credential);
    else if (fact.kind === 'lane_opened')
      this.lanes.set(fact.lane, { version: 0, orgCap: firstOrgCap, ops: new Map(), spent: new Map() });
    else if (fact.kind === 'everything_stopped') {
      for (const { ops } of this.lanes.values())
        for (const op of ops.values()) if (op.state === 'running') op.state = 'stopped';
    }
  }

  #readLane({ lane: index, version, facts }: LaneCommit, onFact: () => void): void {
    const lane = this.lanes.get(index);
    if (lane === undefined) throw new Broken(`lane ${index} has a commit before it was opened`);
    if (version !== lane.version + 1) throw new Broken(`lane ${index}: ${version} comes after ${lane.version}`);
    lane.version = version;
    for (const fact of facts) {
      this.#readFact(index, lane, fact);
      onFact();
    }
  }

  #readFact(index: number, lane: JudgedLane, fact: LaneFact): void {
    this.#count(fact.kind);
    switch (fact.kind) {
      case 'charged':
        this.#requireNew(lane, fact.op);
        this.#require(fact, 'allowed', this.#verdict({ ...fact, lane: index }, fact.day));
        lane.ops.set(fact.op, { day: fact.day, agent: fact.agent, amount: 0, state: 'running' });
        this.#book(lane, fact.op, fact.amount);
        break;
      case 'denied': {
        this.#requireNew(lane, fact.op);
        const verdict = this.#verdict({ ...fact, lane: index }, fact.day);
        if (fact.why === 'global cap') this.#requireNoRoom(fact.op);
        else this.#require(fact, `denied: ${fact.why}`, verdict);
        lane.ops.set(fact.op, { day: fact.day, agent: fact.agent, amount: 0, state: fact.why });
        break;
      }
      case 'settled':
        this.#requireState(lane, fact.op, 'running');
        this.#book(lane, fact.op, fact.amount, 'completed');
        break;
      case 'released':
        this.#requireState(lane, fact.op, 'stopped');
        this.#book(lane, fact.op, 0, 'released');
        break;
      case 'forgotten':
        if (lane.ops.get(fact.op)?.state === 'running') throw new Broken(`${fact.op} runs, and was forgotten`);
        lane.ops.delete(fact.op);
        break;
      case 'org_cap_set':
        lane.orgCap = fact.cap;
        break;
      case 'share_taken':
      case 'share_given_back':
        break;
    }
  }

  /** An operation costs this much from now on. */
  #book(lane: JudgedLane, id: string, amount: number, state = 'running'): void {
    const op = lane.ops.get(id);
    if (op === undefined) return;
    for (const key of [`${op.day}/`, `${op.day}/${op.agent}`])
      lane.spent.set(key, (lane.spent.get(key) ?? 0) + amount - op.amount);
    Object.assign(op, { amount, state });
  }

  #require(
    fact: { readonly op: string; readonly amount: number; readonly day: number },
    told: string,
    verdict: string,
  ): void {
    if (told === verdict) return;
    const all = `day ${fact.day}: ${this.used(fact.day)} of ${this.cap} used`;
    throw new Broken(`${fact.op}, ${fact.amount}, is ${told} where it must be ${verdict} (${all})`);
  }

  /** Of the global cap a lane is told a moment before its commit. There must have been such a moment since the question. */
  #requireNoRoom(op: string): void {
    if (!this.#hearsCallers) return;
    for (const { request, possible } of this.#open)
      if (request.kind === 'charge' && request.op === op && possible.has('denied: global cap')) return;
    throw new Broken(`${op} was denied by the global cap, and there was room all the time`);
  }

  #requireNew(lane: JudgedLane, op: string): void {
    if (lane.ops.has(op)) throw new Broken(`${op} is decided twice`);
  }

  #requireState(lane: JudgedLane, op: string, state: string): void {
    const is = lane.ops.get(op)?.state ?? 'unknown';
    if (is !== state) throw new Broken(`${op} ends as if it were ${state}, and is ${is}`);
  }

  #count(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }
}

type Charge = Pick<Extract<Request, { kind: 'charge' }>, 'lane' | 'agent' | 'credential' | 'amount'>;

function answerOf({ state }: JudgedOp): string {
  return state === 'revoked' || state.endsWith(' cap') ? `denied: ${state}` : 'allowed';
}

function stateOf(op: JudgedOp | undefined): string {
  return op === undefined ? 'unknown' : op.state === 'released' ? 'stopped' : op.state;
}
