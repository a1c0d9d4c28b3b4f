import type { ReeveEvent } from '@reeve/contract/events';
import { Observable } from '../../api/observable.ts';
import type { Op } from './op.ts';
import { keyOf } from './op.ts';
import type { Row, RowInput } from './row-model.ts';
import { newRow, reduceRow } from './row-model.ts';

/** How long ended operations stay visible. The gateway drops them at about the same time. */
export const endedMs = 60_000;

/** How long they fade before that. */
export const fadeMs = 3000;

/**
 * All operations that this page knows, each in its last reported state. Changes apply at once and are announced
 * together: `schedule` is the next frame of the screen.
 */
export class OpsBoard {
  /** What to draw: all rows as of the last frame. */
  readonly drawn = new Observable<ReadonlyMap<string, Row>>(new Map());
  readonly #rows = new Map<string, Row>();
  readonly #schedule: (draw: () => void) => void;
  #isScheduled = false;
  /** While the list is read: the rows that it or an event has reported since. */
  #told: Set<string> | undefined;
  /** Rows of a frozen list are kept until it moves on. */
  #kept: ReadonlySet<string> = new Set();

  constructor(schedule: (draw: () => void) => void) {
    this.#schedule = schedule;
  }

  get rows(): ReadonlyMap<string, Row> {
    return this.#rows;
  }

  get size(): number {
    return this.#rows.size;
  }

  /** The list is about to be read from its start. Rows that neither it nor an event then reports are gone. */
  startReading(): void {
    this.#told = new Set();
  }

  finishReading(at: number): void {
    const told = this.#told;
    this.#told = undefined;
    if (told === undefined) return;
    for (const key of [...this.#rows.keys()]) {
      if (!told.has(key)) this.input(key, { type: 'gone', at });
    }
    this.prune(at);
  }

  tell(op: Op, at: number, eventId?: number): void {
    const key = keyOf(op);
    this.#told?.add(key);
    if (this.#rows.has(key)) {
      this.input(key, { type: 'told', op, at, ...(eventId === undefined ? {} : { eventId }) });
    } else this.#put(key, newRow(op, at, eventId));
  }

  events(events: readonly Extract<ReeveEvent, { event_type: 'ops_change' | 'audit_alert' }>[], at: number): void {
    for (const event of events) {
      if (event.event_type === 'ops_change') this.tell(event.payload.op, at, event.id);
      else {
        const { alert, op_id } = event.payload;
        if ((alert !== 'op_stale' && alert !== 'op_back') || typeof op_id !== 'string') continue;
        const agent = { org_id: event.org_id ?? '', team_id: event.team_id ?? '', agent_id: event.agent_id ?? '' };
        this.input(keyOf({ agent, op_id }), { type: 'stale', isStale: alert === 'op_stale', eventId: event.id });
      }
    }
  }

  /** An input for one row. Ignored if the row is unknown. */
  input(key: string, input: RowInput): void {
    const row = this.#rows.get(key);
    if (row === undefined) return;
    const next = reduceRow(row, input);
    if (next !== row) this.#put(key, next);
  }

  /** Ends intents past their deadline, and drops rows that ended a while ago. */
  tick(now: number): void {
    for (const key of this.#rows.keys()) this.input(key, { type: 'tick', now });
    this.prune(now);
  }

  /** Rows that stay visible, whatever becomes of them, while the list is frozen. */
  keep(keys: Iterable<string>): void {
    this.#kept = new Set(keys);
  }

  prune(now: number): void {
    for (const [key, { endedAt, isGone }] of this.#rows) {
      const isDue = isGone || (endedAt !== undefined && now - endedAt >= endedMs);
      if (!isDue || this.#kept.has(key)) continue;
      this.#rows.delete(key);
      this.#changed();
    }
  }

  #put(key: string, row: Row): void {
    this.#rows.set(key, row);
    this.#changed();
  }

  #changed(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#schedule(() => {
      this.#isScheduled = false;
      this.drawn.set(new Map(this.#rows));
    });
  }
}
