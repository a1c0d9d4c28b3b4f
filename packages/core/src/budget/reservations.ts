import type { ReplayedEntry } from '../audit/index.ts';
import { ByLineage } from '../audit/index.ts';
import type { Micros } from '../kernel/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { ChargedTo } from './tier.ts';

/** What an operation in flight reserves. */
export interface Reservation extends ChargedTo {
  readonly opId: string;
  readonly reservedMicros: Micros;
  /** The entry that last changed the operation; 0 if none is durable yet. */
  readonly seq: number;
}

/** The entries that end a reservation, beside those of transitions. */
export const releases = 'BudgetReservationReleased';
const endings: ReadonlySet<string | undefined> = new Set(['complete', 'terminate']);

/**
 * The reservations in memory, held against the log. An entry after the last change of an operation that ends it, or
 * releases what it reserves, is one that memory has missed.
 */
export class LoggedReservations {
  readonly #open = new Map<string, Reservation>();
  readonly #agents = new ByLineage<string>(agentKey);
  /** What the log says of the reservations stands after this entry. */
  readonly after: number;

  constructor(all: Iterable<Reservation>) {
    let after = Number.POSITIVE_INFINITY;
    for (const reservation of all) {
      this.#open.set(nameOf(agentKey(reservation.agent), reservation.opId), reservation);
      after = Math.min(after, reservation.seq === 0 ? after : reservation.seq);
    }
    this.after = after;
  }

  add(entry: ReplayedEntry): void {
    const { type, opId, seq } = entry;
    if (opId === null || this.#open.size === 0) return;
    const name = nameOf(this.#agents.of(entry.lineage), opId);
    const known = this.#open.get(name);
    if (known === undefined || known.seq === 0 || known.seq >= seq) return;
    const { trigger }: { readonly trigger?: string } = entry.body.payload;
    if (type === releases || (type === 'OpStateChanged' && endings.has(trigger))) this.#open.delete(name);
  }

  /** Those that the log leaves open. */
  open(): Iterable<Reservation> {
    return this.#open.values();
  }
}

function nameOf(agent: string, opId: string): string {
  return `${agent}/${opId}`;
}
