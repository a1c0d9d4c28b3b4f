import type { Approval } from '../commands/approval-filters.ts';

export type Verdict = 'approve' | 'reject';

/** How long an approval that was decided stays to be seen. */
const lingerMs = 10_000;

interface Seen {
  readonly approval: Approval;
  /** When it was seen to be over, on the clock of the watcher. */
  readonly endedAt: number | undefined;
}

/** What a live view of approvals shows: those that wait, which one is chosen, and what is being asked or said. */
export class ApprovalsModel {
  readonly #seen = new Map<string, Seen>();
  #chosen: string | undefined;
  /** A verdict that waits for a yes. */
  asking: { readonly verdict: Verdict; readonly approval: Approval } | undefined;
  /** Whether the chosen one is shown whole. */
  isOpen = false;
  /** What happened last. */
  message = '';
  connection: 'live' | 'lost' = 'lost';

  /** Takes a list for all that wait; what has just ended stays a while. */
  reset(open: readonly Approval[], now: number): void {
    const waiting = new Set(open.map(({ id }) => id));
    for (const [id, { endedAt }] of this.#seen) if (endedAt === undefined && !waiting.has(id)) this.#seen.delete(id);
    for (const approval of open) this.change(approval, now);
  }

  change(approval: Approval, now: number): void {
    const endedAt = approval.state === 'open' ? undefined : (this.#seen.get(approval.id)?.endedAt ?? now);
    this.#seen.set(approval.id, { approval, endedAt });
  }

  /** Lets go of what ended a while ago. */
  forget(now: number): void {
    for (const [id, { endedAt }] of this.#seen) {
      if (endedAt !== undefined && now - endedAt > lingerMs) this.#seen.delete(id);
    }
  }

  /** What waits first, the one that ends first at the top. */
  rows(): Approval[] {
    const key = ({ state, expires_at: at }: Approval) => `${state === 'open' ? 0 : 1} ${at}`;
    return [...this.#seen.values()].map(({ approval }) => approval).sort((a, b) => (key(a) < key(b) ? -1 : 1));
  }

  /** The chosen one stays chosen while others come and go around it. */
  get chosen(): Approval | undefined {
    const known = this.#chosen === undefined ? undefined : this.#seen.get(this.#chosen)?.approval;
    return known ?? this.rows()[0];
  }

  move(by: number): void {
    const rows = this.rows();
    const at = rows.findIndex(({ id }) => id === this.chosen?.id);
    this.#chosen = rows[Math.min(rows.length - 1, Math.max(0, at + by))]?.id;
  }

  /** Asks before anything is done, about what is to be seen then. */
  ask(verdict: Verdict): void {
    const { chosen } = this;
    if (chosen?.state !== 'open') return;
    this.#chosen = chosen.id;
    this.asking = { verdict, approval: chosen };
  }
}
