import type { Undo } from '../journal/index.ts';
import type { EpochMs } from '../kernel/index.ts';

/** Stands for anybody, once too many credentials of an org are to be remembered. */
export const anybody = '*';

/**
 * A credential had registered an agent that left while something held it: the control of a run, or the suspension of a
 * scope. Leaving must not make the credential a stranger that lifts what holds: its agent would come back free.
 */
export interface Departure {
  readonly orgId: string;
  /** Null stands for any: for a credential with many departures, and for anybody. */
  readonly teamId: string | null;
  /** The agent, for what holds an agent by its name. Null for what holds whoever is there. */
  readonly agentId: string | null;
  readonly credentialId: string;
  /** When the last of its agents left, and no earlier than what held them began, whatever clocks say. */
  readonly at: EpochMs;
}

/** Something that holds agents, and since when. Null stands for any. */
export interface Holding {
  readonly orgId: string | null;
  readonly teamId: string | null;
  readonly agentId: string | null;
  readonly at: EpochMs;
}

/** The departures that count as long as something holds. An agent that leaves adds one for each level, however much holds. */
export class Departures {
  readonly #byOrg = new Map<string, Map<string, Departure>>();
  /** How many each credential has in each org. */
  readonly #counts = new Map<string, number>();

  find(departure: Departure): Departure | undefined {
    return this.#byOrg.get(departure.orgId)?.get(placeOfDeparture(departure));
  }

  countOf(orgId: string): number {
    return this.#byOrg.get(orgId)?.size ?? 0;
  }

  countOfOne(of: Pick<Departure, 'orgId' | 'credentialId'>): number {
    return this.#counts.get(ownerKey(of)) ?? 0;
  }

  /** Those from an org; null stands for any. */
  *of(orgId: string | null): Generator<Departure> {
    const orgs = orgId === null ? this.#byOrg.values() : [this.#byOrg.get(orgId) ?? new Map<string, Departure>()];
    for (const departures of orgs) yield* departures.values();
  }

  /** Puts a departure in place of the one at the same place, and returns how to take that back. */
  put(departure: Departure): Undo {
    const before = this.find(departure);
    this.#add(departure);
    return () => {
      if (before === undefined) this.#drop(departure);
      else this.#add(before);
    };
  }

  /** Removes a departure, and returns how to take that back. */
  remove(departure: Departure): Undo {
    const before = this.find(departure);
    this.#drop(departure);
    return () => {
      if (before !== undefined) this.#add(before);
    };
  }

  #add(departure: Departure): void {
    if (this.find(departure) === undefined) this.#counts.set(ownerKey(departure), this.countOfOne(departure) + 1);
    const departures = this.#byOrg.get(departure.orgId) ?? new Map<string, Departure>();
    this.#byOrg.set(departure.orgId, departures.set(placeOfDeparture(departure), departure));
  }

  #drop(departure: Departure): void {
    if (this.find(departure) === undefined) return;
    const others = this.countOfOne(departure) - 1;
    if (others > 0) this.#counts.set(ownerKey(departure), others);
    else this.#counts.delete(ownerKey(departure));
    const departures = this.#byOrg.get(departure.orgId);
    departures?.delete(placeOfDeparture(departure));
    if (departures?.size === 0) this.#byOrg.delete(departure.orgId);
  }
}

function ownerKey({ orgId, credentialId }: Pick<Departure, 'orgId' | 'credentialId'>): string {
  return JSON.stringify([orgId, credentialId]);
}

/** The org stands second, where the owner of a row is looked for. */
export function placeOfDeparture({ orgId, teamId, agentId, credentialId }: Departure): string {
  return JSON.stringify(['departure', orgId, teamId, agentId, credentialId]);
}

/** Whether the agent left while this held it. */
export function leftDuring(holding: Holding, { orgId, teamId, agentId, at }: Departure): boolean {
  if (at < holding.at || (holding.orgId !== null && holding.orgId !== orgId)) return false;
  if (teamId === null) return true;
  return (holding.teamId === null || holding.teamId === teamId) && holding.agentId === agentId;
}
