import type { Binding } from '../access/index.ts';
import type { Actor } from '../audit/index.ts';
import type { Undo } from '../journal/index.ts';
import type { AgentId, EpochMs } from '../kernel/index.ts';
import { toldReason } from '../kernel/index.ts';

/** An org, a team of an org, or everything. Null stands for any. */
export interface TenantScope {
  readonly orgId: string | null;
  readonly teamId: string | null;
}

/** A suspension of all agents in a scope, those that register later included. */
export interface ScopeSuspension extends TenantScope {
  readonly id: string;
  readonly action: 'pause' | 'terminate';
  readonly actor: Actor;
  /** The credential that imposed it, and what that was bound to. */
  readonly credentialId: string;
  readonly imposedBy: Binding;
  /** Secrets are replaced already. */
  readonly reason: string;
  readonly since: EpochMs;
  /** What became of the operations in flight when it was imposed. */
  readonly operations: {
    readonly matched: number;
    readonly changed: number;
    readonly skipped: number;
    readonly controlId: string;
  };
  /** All operations in it have moved. If it stays false, that was cut short, and is finished later. */
  readonly isSettled: boolean;
  /** It no longer holds. It is remembered until what it paused is resumed. */
  readonly lifted: Lifted | null;
}

export interface Lifted {
  readonly actor: Actor;
  readonly imposedBy: Binding;
  readonly reason: string;
  readonly at: EpochMs;
}

/** A suspension that holds, with what agents are told. */
export interface Hold {
  readonly suspension: ScopeSuspension;
  readonly message: string;
}

/** What rules see of the suspensions. Only facts change them. */
export type KnownSuspensions = Omit<ScopeSuspensions, 'put' | 'remove'>;

/**
 * The suspensions of scopes. `over` is the one place that says whether an agent is held by a scope. Every check asks it,
 * so it makes nothing and looks at no more than three places.
 */
export class ScopeSuspensions {
  readonly #byId = new Map<string, ScopeSuspension>();
  /** Those that hold, by org, then by team, the oldest first. */
  readonly #holds = new Map<string | null, Map<string | null, Hold[]>>();
  #newestAt = 0;

  /** The suspension that holds an agent, if any: that of the widest scope. */
  over({ orgId, teamId }: Pick<AgentId, 'orgId' | 'teamId'>): Hold | undefined {
    if (this.#holds.size === 0) return undefined;
    return this.overOrg(orgId) ?? this.#first(orgId, teamId);
  }

  /** The suspension that holds all of an org, if any. */
  overOrg(orgId: string): Hold | undefined {
    return this.#first(null, null) ?? this.#first(orgId, null);
  }

  find(id: string): ScopeSuspension | undefined {
    return this.#byId.get(id);
  }

  all(): IterableIterator<ScopeSuspension> {
    return this.#byId.values();
  }

  *inForce(): Generator<ScopeSuspension> {
    for (const suspension of this.#byId.values()) if (suspension.lifted === null) yield suspension;
  }

  get count(): number {
    return [...this.inForce()].length;
  }

  /** No suspension began later than this. */
  get newestAt(): EpochMs {
    return this.#newestAt;
  }

  /** The teams of an org that are held by themselves. */
  heldTeams(orgId: string): Iterable<string> {
    return [...(this.#holds.get(orgId)?.keys() ?? [])].filter((teamId) => teamId !== null);
  }

  /** Puts a suspension in place of the one with the same id, and returns how to take that back. */
  put(suspension: ScopeSuspension): Undo {
    const before = this.#byId.get(suspension.id);
    this.#drop(suspension.id);
    this.#add(suspension);
    return () => {
      this.#drop(suspension.id);
      if (before !== undefined) this.#add(before);
    };
  }

  /** Removes a suspension, and returns how to take that back. */
  remove(id: string): Undo {
    const before = this.#byId.get(id);
    this.#drop(id);
    return () => {
      if (before !== undefined) this.#add(before);
    };
  }

  #first(orgId: string | null, teamId: string | null): Hold | undefined {
    return this.#holds.get(orgId)?.get(teamId)?.[0];
  }

  #add(suspension: ScopeSuspension): void {
    this.#byId.set(suspension.id, suspension);
    this.#newestAt = Math.max(this.#newestAt, suspension.since);
    if (suspension.lifted !== null) return;
    const { orgId, teamId } = suspension;
    const teams = this.#holds.get(orgId) ?? new Map<string | null, Hold[]>();
    const held = [...(teams.get(teamId) ?? []), { suspension, message: messageOf(suspension) }];
    held.sort((a, b) => a.suspension.since - b.suspension.since || (a.suspension.id < b.suspension.id ? -1 : 1));
    this.#holds.set(orgId, teams.set(teamId, held));
  }

  #drop(id: string): void {
    const known = this.#byId.get(id);
    if (known === undefined) return;
    this.#byId.delete(id);
    const teams = this.#holds.get(known.orgId);
    const rest = (teams?.get(known.teamId) ?? []).filter(({ suspension }) => suspension.id !== id);
    if (rest.length > 0) teams?.set(known.teamId, rest);
    else teams?.delete(known.teamId);
    if (teams?.size === 0) this.#holds.delete(known.orgId);
  }
}

/** Whether a scope holds all of another one, or an agent. */
export function isWithin(scope: TenantScope, { orgId, teamId }: TenantScope): boolean {
  return (scope.orgId === null || scope.orgId === orgId) && (scope.teamId === null || scope.teamId === teamId);
}

/** Whether one of two scopes is within the other, so that what happens to one concerns the other. */
export function areRelated(one: TenantScope, other: TenantScope): boolean {
  return isWithin(one, other) || isWithin(other, one);
}

/** What is suspended, in a word. */
export function nameOfScope({ orgId, teamId }: TenantScope): 'everything' | 'org' | 'team' {
  if (orgId === null) return 'everything';
  return teamId === null ? 'org' : 'team';
}

function messageOf(suspension: ScopeSuspension): string {
  const { reason } = suspension;
  return toldReason(`${nameOfScope(suspension)} is suspended${reason === '' ? '' : `: ${reason}`}`);
}
