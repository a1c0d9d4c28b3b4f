import type { Principal } from '../access/index.ts';
import { narrowedTo, requireScope } from '../access/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import type { DecisionEvent } from './answer.ts';
import { decisionIn } from './answer.ts';
import type { Typed } from '../journal/index.ts';
import type { TenantFilter } from '../tenancy/index.ts';
import type { Decision } from '../audit/index.ts';

export type DecisionCounts = Readonly<Record<Decision, number>>;

export interface DecisionMinute extends DecisionCounts {
  /** When the minute began. */
  readonly at: EpochMs;
}

export interface Denials {
  readonly policyRule: string;
  /** The reason of the last one. */
  readonly reason: string;
  readonly count: number;
  readonly lastAt: EpochMs;
}

export interface DecisionStats {
  /** Nothing is known about the time before. */
  readonly since: EpochMs;
  /** Oldest first, without minutes in which nothing was decided. */
  readonly minutes: readonly DecisionMinute[];
  /** The rules that denied most, in the same minutes. */
  readonly topDenials: readonly Denials[];
}

interface Bucket {
  readonly minute: number;
  allow: number;
  deny: number;
  pending: number;
  readonly denials: Map<string, { count: number; reason: string; lastAt: EpochMs }>;
}

interface Team {
  readonly orgId: string;
  readonly teamId: string;
  /** Newest last. */
  readonly buckets: Bucket[];
}

const minuteMs = 60_000;
const longestMinutes = 180;
/** Policy authors choose the names of rules, so a team's minute remembers at most this many. */
const mostRules = 64;
const shownRules = 10;

/**
 * Counts the decisions of each recent minute, by team. It counts durable events, so it costs the decision path only
 * an addition. A restart begins anew and says so.
 */
export class DecisionTally {
  readonly #since: EpochMs;
  readonly #teams = new Map<string, Team>();

  constructor(since: EpochMs) {
    this.#since = since;
  }

  follow(events: readonly Typed[]): void {
    for (const event of events) {
      const decision = decisionIn(event);
      if (decision !== undefined) this.#count(decision);
    }
  }

  read(by: Principal, filter: TenantFilter, now: EpochMs, minutes: number): DecisionStats {
    requireScope(by, 'read');
    const within = narrowedTo(by, filter);
    if (within === 'nothing') return { since: this.#since, minutes: [], topDenials: [] };
    const last = Math.floor(now / minuteMs);
    const first = Math.max(last - Math.min(minutes, longestMinutes) + 1, Math.floor(this.#since / minuteMs));
    const counts = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => ({
      at: (first + index) * minuteMs,
      allow: 0,
      deny: 0,
      pending: 0,
    }));
    const denials = new Map<string, Denials>();
    for (const team of this.#within(within)) {
      for (const bucket of team.buckets) {
        const sum = counts[bucket.minute - first];
        if (sum === undefined) continue;
        sum.allow += bucket.allow;
        sum.deny += bucket.deny;
        sum.pending += bucket.pending;
        for (const [policyRule, denied] of bucket.denials) {
          denials.set(policyRule, joined(denials.get(policyRule), { policyRule, ...denied }));
        }
      }
    }
    const topDenials = [...denials.values()].sort((a, b) => b.count - a.count || b.lastAt - a.lastAt);
    const minutesOfWork = counts.filter(({ allow, deny, pending }) => allow + deny + pending > 0);
    return { since: this.#since, minutes: minutesOfWork, topDenials: topDenials.slice(0, shownRules) };
  }

  *#within(within: TenantFilter): Generator<Team> {
    for (const team of this.#teams.values()) {
      if (within.orgId !== undefined && within.orgId !== team.orgId) continue;
      if (within.teamId === undefined || within.teamId === team.teamId) yield team;
    }
  }

  #count({ agent: { orgId, teamId }, at, decision, policyRule, reason }: DecisionEvent): void {
    const bucket = this.#bucket(orgId, teamId, Math.floor(at / minuteMs));
    bucket[decision]++;
    if (decision !== 'deny') return;
    const known = bucket.denials.get(policyRule);
    if (known !== undefined) {
      known.count++;
      known.reason = reason;
      known.lastAt = at;
    } else if (bucket.denials.size < mostRules) {
      bucket.denials.set(policyRule, { count: 1, reason, lastAt: at });
    }
  }

  #bucket(orgId: string, teamId: string, minute: number): Bucket {
    const key = `${orgId}/${teamId}`;
    let team = this.#teams.get(key);
    if (team === undefined) {
      team = { orgId, teamId, buckets: [] };
      this.#teams.set(key, team);
    }
    const newest = team.buckets.at(-1);
    // After the clock was set back, decisions count into the newest minute.
    if (newest !== undefined && newest.minute >= minute) return newest;
    const bucket: Bucket = { minute, allow: 0, deny: 0, pending: 0, denials: new Map() };
    team.buckets.push(bucket);
    while ((team.buckets[0]?.minute ?? minute) <= minute - longestMinutes) team.buckets.shift();
    return bucket;
  }
}

function joined(one: Denials | undefined, other: Denials): Denials {
  if (one === undefined) return other;
  const last = one.lastAt > other.lastAt ? one : other;
  return { ...last, count: one.count + other.count };
}
