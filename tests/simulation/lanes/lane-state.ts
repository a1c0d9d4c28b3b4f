import type { CommonState } from './common-state.ts';
import type { Denial, LaneFact } from './lane-facts.ts';
import type { Rules } from './lane-rules.ts';

export interface Op {
  readonly agent: string;
  readonly day: number;
  /** What is reserved, and then what it cost. */
  amount: number;
  state: 'running' | 'stopped' | 'released' | 'completed' | Denial;
  endedAt: number;
}

/** What a lane has of the global cap of one day. */
export interface Account {
  used: number;
  /** The share: what the lane may use without asking anybody. */
  idle: number;
  /** What it does not use and must not: it goes back with the next change of its share. */
  due: number;
}

/** One lane: the fold of its commits, each on top of the version of the common log that it names. */
export interface LaneState {
  version: number;
  moment: number;
  epoch: number;
  stops: number;
  orgCap: number;
  readonly ops: Map<string, Op>;
  readonly accounts: Map<number, Account>;
  /** What each agent, and the whole org, has reserved and used of a day. */
  readonly spent: Map<string, number>;
}

export const firstOrgCap = 90;

export function emptyLane(): LaneState {
  const counts = { version: 0, moment: 0, epoch: 0, stops: 0, orgCap: firstOrgCap };
  return { ...counts, ops: new Map(), accounts: new Map(), spent: new Map() };
}

export function copyOfLane(state: LaneState): LaneState {
  return {
    ...state,
    ops: new Map([...state.ops].map(([id, op]) => [id, { ...op }])),
    accounts: new Map([...state.accounts].map(([day, account]) => [day, { ...account }])),
    spent: new Map(state.spent),
  };
}

/** Each day has an account of its own. */
export function accountOf(state: LaneState, day: number): Account {
  const known = state.accounts.get(day) ?? { used: 0, idle: 0, due: 0 };
  state.accounts.set(day, known);
  return known;
}

/** What the lane may use without asking anybody. */
export function idleOf(state: LaneState, day: number, { sharesEndWithDay }: Rules): number {
  return accountOf(state, day).idle + (sharesEndWithDay ? 0 : accountOf(state, day - 1).idle);
}

/** Brings a lane in step with the common log: shares may be void, and operations stopped. */
export function see(state: LaneState, { epoch, stops }: CommonState, { commonReachesLanes }: Rules): void {
  if (epoch > state.epoch) {
    for (const account of state.accounts.values()) {
      account.due += account.idle;
      account.idle = 0;
    }
    state.epoch = epoch;
  }
  if (stops > state.stops) {
    if (commonReachesLanes) for (const op of state.ops.values()) if (op.state === 'running') op.state = 'stopped';
    state.stops = stops;
  }
}

export function applyToLane(state: LaneState, fact: LaneFact, rules: Rules): void {
  switch (fact.kind) {
    case 'charged': {
      const { agent, day, amount } = fact;
      state.ops.set(fact.op, { agent, day, amount, state: 'running', endedAt: 0 });
      const account = accountOf(state, day);
      account.used += amount;
      const ofDay = rules.sharesEndWithDay ? amount : Math.min(amount, account.idle);
      account.idle -= ofDay;
      accountOf(state, day - 1).idle -= amount - ofDay;
      spend(state, day, agent, amount);
      break;
    }
    case 'denied': {
      const { agent, day, why, at } = fact;
      state.ops.set(fact.op, { agent, day, amount: 0, state: why, endedAt: at });
      break;
    }
    case 'settled':
      end(state, fact.op, fact.amount, 'completed', fact.at, rules);
      break;
    case 'released':
      end(state, fact.op, 0, 'released', fact.at, rules);
      break;
    case 'forgotten':
      state.ops.delete(fact.op);
      break;
    case 'org_cap_set':
      state.orgCap = fact.cap;
      break;
    case 'share_taken':
      accountOf(state, fact.day).idle += fact.amount;
      break;
    case 'share_given_back': {
      const account = accountOf(state, fact.day);
      const due = Math.min(account.due, fact.amount);
      account.due -= due;
      account.idle -= fact.amount - due;
      break;
    }
  }
}

/** What an operation takes beyond its reservation comes from what the lane does not use; `overrunOf` says what else. */
function end(state: LaneState, id: string, cost: number, as: 'completed' | 'released', at: number, rules: Rules): void {
  const op = state.ops.get(id);
  if (op === undefined) return;
  const account = accountOf(state, op.day);
  const more = cost - op.amount;
  account.used += more;
  spend(state, op.day, op.agent, more);
  if (more > 0) {
    const ofIdle = Math.min(more, account.idle);
    account.idle -= ofIdle;
    account.due -= Math.min(more - ofIdle, account.due);
  } else account[rules.refundsGoToAll ? 'due' : 'idle'] -= more;
  Object.assign(op, { amount: cost, state: as, endedAt: at });
}

/** What an operation takes beyond its reservation and what its lane does not use. */
export function overrunOf(state: LaneState, id: string, cost: number, rules: Rules): number {
  const op = state.ops.get(id);
  if (op === undefined || !rules.overrunsAreTaken) return 0;
  const { idle, due } = accountOf(state, op.day);
  return Math.max(0, cost - op.amount - idle - due);
}

/** What the agent, or without one the whole org, has reserved and used of a day. */
export function spentOf(state: LaneState, day: number, agent = ''): number {
  return state.spent.get(`${day}/${agent}`) ?? 0;
}

function spend(state: LaneState, day: number, agent: string, amount: number): void {
  for (const key of [`${day}/${agent}`, `${day}/`]) state.spent.set(key, (state.spent.get(key) ?? 0) + amount);
}
