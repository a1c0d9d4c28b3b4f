import type { Ledger, TierOf, Total } from '@reeve/core';
import type { History } from './history.ts';
import { Broken } from './broken.ts';
import { caps } from './policies.ts';

/** The shares of a cap, in percent, that somebody is told about once. */
const shares = [80, 95];

/** Whose charge it is: the agent that acts, and those on whose behalf it does, by their names. */
export interface Charged {
  readonly agent: string;
  readonly delegators: readonly string[];
}

/** A tier of an agent, with its cap for a day. */
interface JudgedTier {
  readonly name: string;
  readonly cap: number;
}

/** What the log says of budgets: reserved, spent on which day, and told. */
export class JudgedBudgets {
  readonly #reserved = new Map<string, number>();
  readonly #spent = new Map<string, number>();
  readonly #told = new Set<string>();
  /** The tiers that were charged on this day, with their caps, and those that the commit at hand has charged. */
  readonly #charged = new Map<string, number>();
  readonly #chargedNow = new Map<string, number>();
  readonly #history: History;
  #day = '';
  #lastBooked = '';
  #until = '';
  #at = '';

  constructor(history: History) {
    this.#history = history;
  }

  /** Of a charge on behalf of others, callers do not know which tiers it has: it just happens. */
  reserve(whose: Charged, cost: number): void {
    if (whose.delegators.length > 0) this.#adjust(whose, cost);
    if (cost > 0) this.#charge(whose, later(this.#at, this.#lastBooked));
    for (const { name } of tiersOf(whose)) add(this.#reserved, name, cost);
  }

  release(whose: Charged, cost: number): void {
    this.#adjust(whose, -cost);
    for (const { name } of tiersOf(whose)) add(this.#reserved, name, -cost);
  }

  book(whose: Charged, day: string, cost: number): void {
    this.moveTo(day);
    this.#lastBooked = later(day, this.#lastBooked);
    this.#charge(whose, day);
    this.#adjust(whose, cost);
    for (const { name } of tiersOf(whose)) add(this.#spent, `${day} ${name}`, cost);
  }

  /** Days only move forward. An entry may have been made on an earlier one. */
  moveTo(day: string): void {
    this.#at = day;
    if (day <= this.#day) return;
    this.#day = day;
    this.#charged.clear();
    this.#chargedNow.clear();
  }

  /** Entries that are read next are committed by then. What was decided before midnight may be judged again after it. */
  beginCommit(until: string): void {
    this.#until = until;
    this.#chargedNow.clear();
  }

  /** What is reserved in the tier of an agent: for itself, and for those that act for it. */
  reservedOf(agent: string): number {
    return this.#reserved.get(agent) ?? 0;
  }

  /** After a charge, no cap of the agent may be passed, nor of those on whose behalf it acts. */
  requireWithinCaps(seq: number, whose: Charged, opId: string): void {
    const passed = (day: string) => tiersOf(whose).find(({ name, cap }) => this.#total(name, day) > cap);
    const [first, ...others] = this.#days().map(passed);
    if (first === undefined || others.includes(undefined)) return;
    throw new Broken(`entry ${seq}: ${first.name} has ${this.#total(first.name)} of ${first.cap} after ${opId}`);
  }

  /** A charge that was refused must not fit, at this place of the log. */
  requireExceeded(seq: number, whose: Charged, cost: number): void {
    const isPassed = (day: string) => tiersOf(whose).some(({ name, cap }) => this.#total(name, day) + cost > cap);
    if (this.#days().some(isPassed)) return;
    throw new Broken(`entry ${seq}: ${cost} of ${whose.agent} was refused, and fits in every tier`);
  }

  tell(seq: number, name: string, day: string, percent: number): void {
    const told = `${day} ${name} ${percent}`;
    if (this.#told.has(told)) throw new Broken(`entry ${seq}: ${percent} % of ${name} was told before`);
    this.#told.add(told);
  }

  /** A share that the last commit has used up, and that nobody was told about. */
  get untold(): string | undefined {
    return this.#untoldOf(this.#chargedNow);
  }

  /**
   * Somebody was told of each share that is used up. That is so when everything is at rest: a charge and a release from
   * before it may be committed the other way round. Reservations last over midnight; what they use of the next day is told
   * with the first charge on it.
   */
  requireTold(): void {
    const untold = this.#untoldOf(this.#charged);
    if (untold !== undefined) throw new Broken(untold);
  }

  #untoldOf(tiers: ReadonlyMap<string, number>): string | undefined {
    for (const [name, cap] of tiers) {
      const used = (this.#total(name) * 100) / cap;
      const missing = shares.find((percent) => used >= percent && !this.#told.has(`${this.#day} ${name} ${percent}`));
      if (missing !== undefined) return `nobody was told that ${name} has used ${missing} % of ${cap}`;
    }
    return undefined;
  }

  /** Requires that a ledger reserves what the log says, tier by tier. */
  requireReserved(balances: Iterable<{ readonly of: TierOf; readonly reserved: Total }>, whose: string): void {
    const left = new Map([...this.#reserved].filter(([, reserved]) => reserved !== 0));
    for (const { of, reserved } of balances) {
      const name = tierName(of.orgId, of.teamId, of.agentId);
      if (Number(reserved) !== (left.get(name) ?? 0)) {
        throw new Broken(`${whose} reserves ${reserved} for ${name}; the log says ${left.get(name) ?? 0}`);
      }
      left.delete(name);
    }
    if (left.size > 0) throw new Broken(`${whose} reserves nothing for ${[...left.keys()].join(', ')}`);
  }

  /** Every ledger has what the log books to its day. */
  requireSpent(ledger: Ledger, whose: string): void {
    const day = ledger.windows.day.id;
    for (const { of, spent } of ledger.all()) {
      const name = tierName(of.orgId, of.teamId, of.agentId);
      const booked = this.#spent.get(`${day} ${name}`) ?? 0;
      if (Number(spent.day) !== booked) {
        throw new Broken(`${whose} has spent ${spent.day} for ${name} on ${day}; the log says ${booked}`);
      }
    }
  }

  #charge(whose: Charged, day: string): void {
    // Just before midnight, a gateway may be in the next day already.
    if (day !== this.#day || day !== this.#until) return;
    for (const { name, cap } of tiersOf(whose)) {
      this.#charged.set(name, cap);
      this.#chargedNow.set(name, cap);
    }
  }

  #adjust(whose: Charged, cost: number): void {
    if (cost !== 0) this.#history.happened({ model: 'budget', do: 'adjust', tiers: capsOf(whose), cost });
  }

  /** The days on which the entry at hand may have been judged. */
  #days(): readonly string[] {
    return [...new Set([this.#day, this.#at, this.#until])].filter((day) => day <= this.#until);
  }

  #total(name: string, day = this.#day): number {
    return (this.#reserved.get(name) ?? 0) + (this.#spent.get(`${day} ${name}`) ?? 0);
  }
}

/** Empty parts stand for any. */
export function tierName(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('/') || '*';
}

function later(one: string, other: string): string {
  return one > other ? one : other;
}

function add(totals: Map<string, number>, name: string, by: number): void {
  totals.set(name, (totals.get(name) ?? 0) + by);
}

function tiersOf({ agent, delegators }: Charged): readonly JudgedTier[] {
  const [org = '', team = ''] = agent.split('/');
  return [
    { name: '*', cap: caps.global },
    { name: org, cap: caps.org },
    { name: `${org}/${team}`, cap: caps.team },
    ...[agent, ...delegators].map((name) => ({ name, cap: caps.agent })),
  ];
}

/** The caps of an agent's tiers, by their names. */
export function capsOf(whose: Charged): Readonly<Record<string, number>> {
  return Object.fromEntries(tiersOf(whose).map(({ name, cap }) => [name, cap]));
}

/** The name of a tier of an agent. */
export function tierOf(agent: string, tier: 'global' | 'org' | 'team' | 'agent'): string {
  const place = ['global', 'org', 'team', 'agent'].indexOf(tier);
  return tiersOf({ agent, delegators: [] })[place]?.name ?? '';
}
