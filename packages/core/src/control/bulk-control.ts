import type { Actor } from '../audit/index.ts';
import type { Applying, Undo } from '../journal/index.ts';
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
  readonly idempotency: Idempotency | null;
}

/** The hashed idempotency key of a credential, and the digest of the request. */
export interface Idempotency {
  readonly key: string;
  readonly digest: string;
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

/** A request that this gateway is carrying out. */
interface UnderWay {
  readonly digest: string;
  readonly result: Promise<ControlResult>;
}

const mostRemembered = 10_000;
const rememberedMs = 86_400_000;
/** After this long, whoever began what is not done yet is taken for gone. */
export const cutShortMs = 30_000;

/** Remembers requests by idempotency key, so that a repeated request does not act twice. */
export class RememberedControls {
  readonly #underWay = new Map<string, UnderWay>();
  readonly #bulks = new RecentMap<BulkControl>(mostRemembered);

  /** The result under a key, even if it is still pending. Another request under the same key is refused. */
  find(request: Idempotency, now: EpochMs): Promise<ControlResult> | undefined {
    const underWay = this.#underWay.get(request.key);
    if (underWay !== undefined) {
      requireSame(underWay.digest, request);
      return underWay.result;
    }
    const known = this.known(request, now);
    return known === undefined ? undefined : Promise.resolve(resultOf(known));
  }

  /**
   * What was carried out under a key, or is being carried out by another gateway. What was cut short may be asked for
   * again.
   */
  known(request: Idempotency, now: EpochMs): BulkControl | undefined {
    const bulk = this.#bulks.get(request.key);
    if (bulk === undefined || now - bulk.requestedAt > (bulk.done ? rememberedMs : cutShortMs)) return undefined;
    requireSame(bulk.idempotency?.digest, request);
    return bulk;
  }

  /** Remembers a request until its result is there. */
  begin({ key, digest }: Idempotency, result: Promise<ControlResult>): void {
    this.#underWay.set(key, { digest, result });
    const end = () => this.#underWay.delete(key);
    result.then(end, end);
  }

  /** Remembers a control, and returns how to take that back. What this gateway has not finished is under way. */
  put(bulk: BulkControl, { isHere }: Applying): Undo {
    if (bulk.idempotency === null || (isHere && !bulk.done)) return () => undefined;
    const { key } = bulk.idempotency;
    const before = this.#bulks.get(key);
    this.#bulks.set(key, bulk);
    return () => {
      if (this.#bulks.get(key) !== bulk) return;
      if (before === undefined) this.#bulks.delete(key);
      else this.#bulks.set(key, before);
    };
  }
}

function requireSame(known: string | undefined, { digest }: Idempotency): void {
  if (known === digest) return;
  throw new ReeveError(
    'idempotency_conflict',
    'this idempotency key was used for another request; use a new key for a new request',
  );
}

export function resultOf({ matched, changed, skipped, id }: BulkControl): ControlResult {
  return { matched, changed, skipped, controlId: id };
}
