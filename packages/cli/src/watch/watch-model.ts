import type { Op } from '../commands/op-filters.ts';
import { isOlder, opKey } from './watched-op.ts';
import { isOver } from '@reeve/contract/names';

export type ControlAction = 'pause' | 'resume' | 'terminate';

/** How long an ended operation stays visible. */
const lingerMs = 10_000;

interface Seen {
  readonly op: Op;
  /** When the watcher saw it end, by the watcher's clock. */
  readonly endedAt: number | undefined;
}

/** The state of a live view of operations: the operations, the chosen one, and the open question or message. */
export class WatchModel {
  readonly #ops = new Map<string, Seen>();
  #chosen: string | undefined;
  /** A control that waits for confirmation. */
  asking: { readonly action: ControlAction; readonly op: Op } | undefined;
  /** The last thing that happened. */
  message = '';
  connection: 'live' | 'lost' = 'lost';

  /** Takes the list as all current operations. */
  reset(ops: readonly Op[], now: number): void {
    const before = new Map(this.#ops);
    this.#ops.clear();
    for (const op of ops) {
      const known = before.get(opKey(op));
      this.#ops.set(opKey(op), { op, endedAt: isOver(op.state) ? (known?.endedAt ?? now) : undefined });
    }
  }

  /** Takes a change, unless a newer one is known. */
  change(op: Op, now: number): void {
    const known = this.#ops.get(opKey(op));
    if (known !== undefined && isOlder(op, known.op)) return;
    this.#ops.set(opKey(op), { op, endedAt: isOver(op.state) ? (known?.endedAt ?? now) : undefined });
  }

  /** Drops operations that ended a while ago. */
  forget(now: number): void {
    for (const [key, { endedAt }] of this.#ops) {
      if (endedAt !== undefined && now - endedAt > lingerMs) this.#ops.delete(key);
    }
  }

  /** Operations in flight come first, newest first. */
  rows(): Op[] {
    const all = [...this.#ops.values()].map(({ op }) => op);
    return all.sort(
      (one, other) =>
        Number(isOver(one.state)) - Number(isOver(other.state)) ||
        (one.registered_at < other.registered_at ? 1 : one.registered_at > other.registered_at ? -1 : 0),
    );
  }

  /** The chosen operation stays chosen while others come and go. */
  get chosen(): Op | undefined {
    const known = this.#chosen === undefined ? undefined : this.#ops.get(this.#chosen)?.op;
    return known ?? this.rows()[0];
  }

  move(by: number): void {
    const rows = this.rows();
    const { chosen } = this;
    const at = chosen === undefined ? -1 : rows.findIndex((op) => opKey(op) === opKey(chosen));
    const next = rows[Math.min(rows.length - 1, Math.max(0, at + by))];
    this.#chosen = next === undefined ? undefined : opKey(next);
  }

  /** Asks for confirmation before any action. */
  ask(action: ControlAction): void {
    const { chosen } = this;
    if (chosen === undefined) return;
    this.#chosen = opKey(chosen);
    this.asking = { action, op: chosen };
  }

  counts(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { op } of this.#ops.values()) counts[op.state] = (counts[op.state] ?? 0) + 1;
    return counts;
  }
}
