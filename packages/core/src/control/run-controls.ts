import type { Binding } from '../access/index.ts';
import { widthOf } from '../access/index.ts';
import type { Actor } from '../audit/index.ts';
import type { Undo } from '../journal/index.ts';
import type { AgentId, EpochMs } from '../kernel/index.ts';

/** Where a control of a run holds. Null stands for any. */
export interface RunReach {
  readonly runId: string;
  readonly orgId: string | null;
  readonly teamId: string | null;
  readonly agentId: string | null;
}

/** A control of a run, as it holds for the checks that come later. */
export interface RunControl extends RunReach {
  readonly action: 'pause' | 'terminate';
  readonly controlId: string;
  readonly actor: Actor;
  /** What the credential of whoever imposed it was bound to. */
  readonly imposedBy: Binding;
  readonly at: EpochMs;
  /** About when it last refused a check; null if it has refused none. */
  readonly refusedAt: EpochMs | null;
}

/**
 * The controls of runs that hold now. Credentials of different widths impose theirs side by side, so that a narrower one
 * never takes over what a wider one said.
 */
export class RunControls {
  /**
   * By run, then by reach. A run's name is anybody's choice, so one tenant may hold it in many reaches: a check looks at
   * those that reach its agent, and at no others.
   */
  readonly #byRun = new Map<string, Map<string, RunControl[]>>();
  /** How many hold in a reach, in whatever runs. */
  readonly #held = new Map<string, number>();
  #newestAt = 0;
  /** By what the credentials were bound to, then by place. */
  readonly #byBinding = new Map<string, Map<string, RunControl>>();

  /** The control that holds for a check, if any. Terminating is stronger than pausing. */
  over(agent: AgentId, runId: string): RunControl | undefined {
    const known = this.#byRun.get(runId);
    if (known === undefined) return undefined;
    let found: RunControl | undefined;
    for (const orgId of [agent.orgId, null]) {
      for (const teamId of [agent.teamId, null]) {
        for (const agentId of [agent.agentId, null]) {
          for (const control of known.get(reachKey({ orgId, teamId, agentId })) ?? []) {
            if (control.action === 'terminate') return control;
            found ??= control;
          }
        }
      }
    }
    return found;
  }

  ofRun(runId: string): readonly RunControl[] {
    return [...(this.#byRun.get(runId)?.values() ?? [])].flat();
  }

  /** Whether a run of an agent is held on this level: for the agent by its name, or, for null, for whoever is there. */
  isHeld({ orgId, teamId }: Pick<AgentId, 'orgId' | 'teamId'>, agentId: string | null): boolean {
    return [orgId, null].some((org) =>
      [teamId, null].some((team) => this.#held.has(reachKey({ orgId: org, teamId: team, agentId }))),
    );
  }

  /** No control began later than this. */
  get newestAt(): EpochMs {
    return this.#newestAt;
  }

  find(place: string, of: Binding): RunControl | undefined {
    return this.#byBinding.get(bindingKey(of))?.get(place);
  }

  /** How many credentials with this binding have imposed, or one of them has. */
  countOf(of: Binding, actor?: Actor): number {
    const own = this.#byBinding.get(bindingKey(of));
    if (own === undefined || actor === undefined) return own?.size ?? 0;
    return [...own.values()].filter((each) => each.actor.id === actor.id && each.actor.kind === actor.kind).length;
  }

  get count(): number {
    let count = 0;
    for (const { size } of this.#byBinding.values()) count += size;
    return count;
  }

  get mostOfOneBinding(): number {
    let most = 0;
    for (const { size } of this.#byBinding.values()) most = Math.max(most, size);
    return most;
  }

  *all(): Generator<RunControl> {
    for (const controls of this.#byBinding.values()) yield* controls.values();
  }

  /**
   * Puts a control in place of the one at the same place, and returns how to take that back. Whatever another gateway has
   * put there since stays.
   */
  put(control: RunControl): Undo {
    const before = this.#at(control);
    this.#drop(control);
    this.#add(control);
    return () => {
      if (this.#at(control) !== control) return;
      this.#drop(control);
      if (before !== undefined) this.#add(before);
    };
  }

  /** Removes the control at this place, and returns how to take that back. */
  remove(control: RunControl): Undo {
    const before = this.#at(control);
    this.#drop(control);
    return () => {
      if (before !== undefined && this.#at(control) === undefined) this.#add(before);
    };
  }

  #at(control: RunControl): RunControl | undefined {
    return this.find(placeOf(control), control.imposedBy);
  }

  #add(control: RunControl): void {
    const reaches = this.#byRun.get(control.runId) ?? new Map<string, RunControl[]>();
    const reach = reachKey(control);
    this.#byRun.set(control.runId, reaches.set(reach, [...(reaches.get(reach) ?? []), control]));
    this.#held.set(reach, (this.#held.get(reach) ?? 0) + 1);
    this.#newestAt = Math.max(this.#newestAt, control.at);
    const binding = bindingKey(control.imposedBy);
    const own = this.#byBinding.get(binding) ?? new Map<string, RunControl>();
    this.#byBinding.set(binding, own.set(placeOf(control), control));
  }

  #drop(control: RunControl): void {
    const place = placeOf(control);
    const binding = bindingKey(control.imposedBy);
    const own = this.#byBinding.get(binding);
    const dropped = own?.get(place);
    if (dropped === undefined) return;
    own?.delete(place);
    if (own?.size === 0) this.#byBinding.delete(binding);
    const reaches = this.#byRun.get(control.runId);
    const reach = reachKey(control);
    const others = (this.#held.get(reach) ?? 0) - 1;
    if (others > 0) this.#held.set(reach, others);
    else this.#held.delete(reach);
    const rest = (reaches?.get(reach) ?? []).filter((each) => each !== dropped);
    if (rest.length > 0) reaches?.set(reach, rest);
    else reaches?.delete(reach);
    if (reaches?.size === 0) this.#byRun.delete(control.runId);
  }
}

/** One credential width imposes one control on a reach. */
export function placeOf({
  runId,
  orgId,
  teamId,
  agentId,
  imposedBy,
}: RunReach & Pick<RunControl, 'imposedBy'>): string {
  return JSON.stringify([runId, orgId, teamId, agentId, widthOf(imposedBy)]);
}

export function reaches({ orgId, teamId, agentId }: Omit<RunReach, 'runId'>, agent: AgentId): boolean {
  if (orgId !== null && orgId !== agent.orgId) return false;
  if (teamId !== null && teamId !== agent.teamId) return false;
  return agentId === null || agentId === agent.agentId;
}

/** Whether a reach holds all of another one. */
export function contains(outer: RunReach, inner: RunReach): boolean {
  if (outer.runId !== inner.runId) return false;
  const covers = (one: string | null, other: string | null) => one === null || one === other;
  return covers(outer.orgId, inner.orgId) && covers(outer.teamId, inner.teamId) && covers(outer.agentId, inner.agentId);
}

/** Whether two reaches have an agent in common, for all that their names say. */
export function overlaps(one: RunReach, other: RunReach): boolean {
  const meet = (a: string | null, b: string | null) => a === null || b === null || a === b;
  return meet(one.orgId, other.orgId) && meet(one.teamId, other.teamId) && meet(one.agentId, other.agentId);
}

function reachKey({ orgId, teamId, agentId }: Omit<RunReach, 'runId'>): string {
  return JSON.stringify([orgId, teamId, agentId]);
}

function bindingKey({ orgId, teamId }: Binding): string {
  return JSON.stringify([orgId, teamId]);
}
