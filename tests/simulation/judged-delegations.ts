import type { AgentId } from '@reeve/core';
import { Broken } from './broken.ts';
import type { JudgedEntry } from './judged-entry.ts';
import { agentName, siblingOf } from './judged-entry.ts';

/** A delegation as the log tells of it. Agents are named in full. */
interface JudgedDelegation {
  readonly delegate: string;
  readonly by: string;
  readonly expiresAt: number;
  readonly actions: readonly string[];
  readonly tools: readonly string[];
  readonly maxChecks: number | null;
  readonly maxCost: number | null;
  checks: number;
  settled: number;
}

/** A delegation as a gateway knows it. */
interface KnownDelegation {
  readonly id: AgentId;
  readonly by: string;
  readonly checks: number;
  readonly settledMicros: number;
  readonly expiresAt: number;
  readonly endedAt: number | null;
}

/** What is reserved for an agent and for all that act for it. */
type ReservedOf = (agent: string) => number;

const none: readonly JudgedDelegation[] = [];

/** What the log says of delegations: who acts for whom, within which limits, and what was used of them. */
export class JudgedDelegations {
  readonly #lasting = new Map<string, JudgedDelegation>();

  delegate({ seq, agent, actor, payload, at }: JudgedEntry): void {
    const { again, actions = [], tools = [], max_checks: maxChecks = null, max_cost_usd: usd = null } = payload;
    const before = this.#lasting.get(agent);
    const by = actor.id;
    const isAgain = before !== undefined && before.by === by;
    if (before !== undefined && !isAgain) throw new Broken(`entry ${seq}: ${agent} acts for ${before.by} already`);
    if (again !== isAgain)
      throw new Broken(`entry ${seq}: ${agent} acts for ${by}, again: ${again} instead of ${isAgain}`);
    const expiresAt = Date.parse(payload.expires_at ?? '');
    for (const above of this.above(by)) {
      if (expiresAt > above.expiresAt)
        throw new Broken(`entry ${seq}: ${agent} acts for longer than ${above.delegate}`);
    }
    if (expiresAt <= at) throw new Broken(`entry ${seq}: the delegation of ${agent} is over before it begins`);
    const maxCost = usd === null ? null : Math.round(usd * 1e6);
    const { checks, settled } = isAgain ? before : { checks: 0, settled: 0 };
    this.#lasting.set(agent, { delegate: agent, by, expiresAt, actions, tools, maxChecks, maxCost, checks, settled });
  }

  /** What is below has ended before. */
  end(seq: number, agent: string): void {
    const below = [...this.#lasting.values()].find(({ by }) => by === agent);
    if (below !== undefined) throw new Broken(`entry ${seq}: ${agent} ends, and ${below.delegate} still acts for it`);
    this.#lasting.delete(agent);
  }

  /** The delegations by which an agent acts, its own first. */
  above(agent: string): readonly JudgedDelegation[] {
    let found = this.#lasting.get(agent);
    if (found === undefined) return none;
    const links: JudgedDelegation[] = [];
    for (; found !== undefined && links.length < 9; found = this.#lasting.get(found.by)) links.push(found);
    return links;
  }

  /** Whoever acts for others does no more than each of them let it do. Returns them, the nearest first. */
  decide(entry: JudgedEntry, reservedOf: ReservedOf): readonly string[] {
    const { seq, agent, decision, policyRule, payload } = entry;
    const links = this.above(agent);
    const names = links.map(({ by }) => by);
    const isUsedUp = links.some(({ maxChecks, checks }) => maxChecks !== null && checks >= maxChecks);
    const refusal = this.#refusalOf(entry, links, reservedOf);
    if (decision === 'deny') {
      if (policyRule === 'delegation' && refusal === undefined) {
        throw new Broken(`entry ${seq}: the delegations of ${agent} refuse ${payload.action?.tool}, and cover it`);
      }
    } else {
      if (refusal !== undefined) throw new Broken(`entry ${seq}: ${agent} is allowed what ${refusal}`);
      const told = (payload.delegators ?? []).map((id) => siblingOf(agent, id));
      if (told.join() !== names.join())
        throw new Broken(`entry ${seq}: ${agent} acts for ${names.join()}; told: ${told.join()}`);
    }
    if (isUsedUp && policyRule === 'delegation') return names;
    for (const link of links) link.checks++;
    return names;
  }

  /** A check that is refused before policy counts, if the delegate has proven who it is. Its entry then names delegators. */
  refuse({ agent, payload }: JudgedEntry): void {
    const links = this.above(agent);
    const isUsedUp = links.some(({ maxChecks, checks }) => maxChecks !== null && checks >= maxChecks);
    if (payload.delegators === undefined || isUsedUp) return;
    for (const link of links) link.checks++;
  }

  #refusalOf(
    { at, payload }: JudgedEntry,
    links: readonly JudgedDelegation[],
    reservedOf: ReservedOf,
  ): string | undefined {
    const { action, cost_micros: cost = 0 } = payload;
    for (const { delegate, by, expiresAt, actions, tools, maxChecks, maxCost, checks, settled } of links) {
      const whose = `the delegation of ${delegate} by ${by}`;
      if (at >= expiresAt) return `${whose} has ended for`;
      if (maxChecks !== null && checks >= maxChecks) return `${whose} has no checks left for`;
      if (actions.length > 0 && !actions.includes(action?.type ?? '')) return `${whose} does not cover`;
      const tool = action?.tool ?? '';
      if (action?.type === 'tool_call' && tools.length > 0 && !tools.includes(tool)) return `${whose} does not cover`;
      if (maxCost !== null && cost > 0 && settled + reservedOf(delegate) + cost > maxCost) return `${whose} cannot pay`;
    }
    return undefined;
  }

  /** Nothing begins by a delegation that is over. */
  requireLasting(seq: number, agent: string, at: number): void {
    const over = this.above(agent).find(({ expiresAt }) => at >= expiresAt);
    if (over !== undefined)
      throw new Broken(`entry ${seq}: the delegation of ${over.delegate} is over, and ${agent} runs`);
  }

  /** What an action did cost counts for its agent and for those above, as far as they act for others still. */
  settle(agent: string, delegators: readonly string[], cost: number): void {
    if (delegators.length === 0) return;
    for (const name of [agent, ...delegators]) {
      const found = this.#lasting.get(name);
      if (found !== undefined) found.settled += cost;
    }
  }

  /** A gateway knows the same delegations, and how much of each is used. */
  requireKnown(known: Iterable<KnownDelegation>, whose: string): void {
    const left = new Map(this.#lasting);
    for (const { id, by, checks, settledMicros, expiresAt, endedAt } of known) {
      const name = agentName(id);
      if (endedAt !== null) continue;
      const judged = left.get(name);
      left.delete(name);
      const is = [siblingOf(name, by), expiresAt, checks, settledMicros].join();
      const should = judged && [judged.by, judged.expiresAt, judged.checks, judged.settled].join();
      if (is !== should) throw new Broken(`${whose}: the delegation of ${name} is ${is}; the log says ${should}`);
    }
    if (left.size > 0) throw new Broken(`${whose} knows no delegation of ${[...left.keys()].join(', ')}`);
  }
}
