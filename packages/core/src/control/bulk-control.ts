import type { Actor } from '../audit/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import { RecentMap, ReeveError } from '../kernel/index.ts';
import type { ControlAction, Receipt, ReceiptStatus } from '../ops/index.ts';

/** Which operations a control is for. Members narrow together; `all` stands alone. */
export interface ControlScope {
  readonly all?: boolean | undefined;
  readonly orgId?: string | undefined;
  readonly teamId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly runId?: string | undefined;
}

/** How many operations in flight were in scope, and how many of them changed their state. */
export interface ControlCounts {
  readonly matched: number;
  readonly changed: number;
  readonly skipped: number;
}

/** One control of many operations. */
export interface BulkControl extends ControlCounts {
  readonly id: string;
  readonly action: ControlAction;
  readonly scope: ControlScope;
  readonly reason: string;
  readonly actor: Actor;
  /**
   * The tenant that the control lies within. Its callers may read the control. Null if it may reach beyond any tenant.
   */
  readonly orgId: string | null;
  readonly teamId: string | null;
  readonly requestedAt: EpochMs;
  /** False until its last operation is durable. If it stays false, the control was cut short. */
  readonly done: boolean;
  /** The hashed idempotency key of its credential, and the digest of the request. */
  readonly idempotency: { readonly key: string; readonly digest: string } | null;
}

/** The report on a control: of one operation, or of many with a page of the receipts. */
export type ControlReport =
  | { readonly kind: 'receipt'; readonly receipt: Receipt }
  | {
      readonly kind: 'bulk';
      readonly bulk: BulkControl;
      readonly counts: Readonly<Record<ReceiptStatus, number>>;
      readonly receipts: readonly Receipt[];
      /** The id after which the next page starts; null if there is none. */
      readonly next: string | null;
    };

export interface ControlResult extends ControlCounts {
  /** Null for a dry run, which does nothing. */
  readonly controlId: string | null;
}

interface Remembered {
  readonly digest: string;
  readonly at: EpochMs;
  readonly result: Promise<ControlResult>;
  /** It was made by another gateway, or by an earlier run. */
  readonly isRestored: boolean;
}

const mostRemembered = 10_000;
const rememberedMs = 86_400_000;

/** Remembers requests by idempotency key, so that a repeated request does not act twice. */
export class RememberedControls {
  readonly #byKey = new RecentMap<Remembered>(mostRemembered);

  /** The result under a key, even if it is still pending. Another request under the same key is refused. */
  find(key: string, digest: string, now: EpochMs): Promise<ControlResult> | undefined {
    const known = this.#byKey.get(key);
    if (known === undefined || now - known.at > rememberedMs) return undefined;
    if (known.digest === digest) return known.result;
    throw new ReeveError(
      'idempotency_conflict',
      'this idempotency key was used for another request; use a new key for a new request',
    );
  }

  /** Whether another gateway was first with this request. */
  isRestored(key: string): boolean {
    return this.#byKey.get(key)?.isRestored === true;
  }

  remember(key: string, digest: string, at: EpochMs, result: Promise<ControlResult>, isRestored = false): void {
    const remembered = { digest, at, result, isRestored };
    this.#byKey.set(key, remembered);
    // A failed request may be made again.
    result.catch(() => {
      if (this.#byKey.get(key) === remembered) this.#byKey.delete(key);
    });
  }

  restore(bulk: BulkControl): void {
    if (bulk.idempotency === null) return;
    const { key, digest } = bulk.idempotency;
    this.remember(key, digest, bulk.requestedAt, Promise.resolve(resultOf(bulk)), true);
  }
}

export function resultOf({ matched, changed, skipped, id }: BulkControl): ControlResult {
  return { matched, changed, skipped, controlId: id };
}
