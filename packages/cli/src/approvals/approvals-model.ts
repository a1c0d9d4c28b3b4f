import type { Approval } from '../commands/approval-filters.ts';

export type Verdict = 'approve' | 'reject';

/** How long a decided approval stays visible. */
const lingerMs = 10_000;

interface Seen {
  readonly approval: Approval;
  /** When the watcher saw it end, by the watcher's clock. */
  readonly endedAt: number | undefined;
}

/** The state of a live view of approvals: the waiting approvals, the chosen one, and the open question or message. */
export class ApprovalsModel {
  readonly #seen = new Map<string, Seen>();
  #chosen: string | undefined;
  /** A verdict that waits for confirmation. */
  asking: { readonly verdict: Verdict; readonly approval: Approval } | undefined;
  /** Whether the view shows the chosen approval in full. */
  isOpen = false;
  /** The last thing that happened. */
  message = '';
  connection: 'live' | 'lost' = 'lost';

  /** Takes the list as all waiting approvals. An approval that just ended stays a while. */
  reset(open: readonly Approval[], now: number): void {
    const waiting = new Set(open.map(({ id }) => id));
    for (const [id, { endedAt }] of this.#seen) if (endedAt === undefined && !waiting.has(id)) this.#seen.delete(id);
    for (const approval of open) this.change(approval, now);
  }

  change(approval: Approval, now: number): void {
    const endedAt = approval.state === 'open' ? undefined : (this.#seen.get(approval.id)?.endedAt ?? now);
    this.#seen.set(approval.id, { approval, endedAt });
  }

  /** Drops approvals that ended a while ago. */
  forget(now: number): void {
    for (const [id, { endedAt }] of this.#seen) {
      if (endedAt !== undefined && now - endedAt > lingerMs) this.#seen.delete(id);
    }
  }

  /** Waiting approvals come first, the next to expire at the top. */
  rows(): Approval[] {
    const key = ({ state, expires_at: at }: Approval) => `${state === 'open' ? 0 : 1} ${at}`;
    return [...this.#seen.values()].map(({ approval }) => approval).sort((a, b) => (key(a) < key(b) ? -1 : 1));
  }

  /** The chosen approval stays chosen while others come and go. */
  get chosen(): Approval | undefined {
    const known = this.#chosen === undefined ? undefined : this.#seen.get(this.#chosen)?.approval;
    return known ?? this.rows()[0];
  }

  move(by: number): void {
    const rows = this.rows();
    const at = rows.findIndex(({ id }) => id === this.chosen?.id);
    this.#chosen = rows[Math.min(rows.length - 1, Math.max(0, at + by))]?.id;
  }

  /** Asks for confirmation before any action, about the approval that is visible then. Says why there is none to give. */
  ask(verdict: Verdict): void {
    const { chosen } = this;
    if (chosen?.state !== 'open') return;
    this.#chosen = chosen.id;
    if (chosen.refusal != null) {
      this.message = chosen.refusal.detail;
      return;
    }
    this.asking = { verdict, approval: chosen };
  }
}
