import type { Actor } from '../audit/entry.ts';
import type { EpochMs } from '../kernel/clock.ts';
import type { ControlAction, Receipt, ReceiptStatus } from '../ops/receipt.ts';

/** Which operations a control is for. Members narrow together; `all` stands alone. */
export interface ControlScope {
  readonly all?: boolean | undefined;
  readonly orgId?: string | undefined;
  readonly teamId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly runId?: string | undefined;
}

/** How many operations in flight were in scope, and of how many the state was changed. */
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
  /** The tenant that it lies within: whoever is bound to it may read it. Null: it may reach beyond any. */
  readonly orgId: string | null;
  readonly teamId: string | null;
  readonly requestedAt: EpochMs;
  /** False until its last operation is durable; one that stays so was cut short. */
  readonly done: boolean;
  /** Under which key of which credential it was asked for, hashed, and for what. */
  readonly idempotency: { readonly key: string; readonly digest: string } | null;
}

/** What is told of a control: of one operation, or of many with a page of the receipts. */
export type ControlReport =
  | { readonly kind: 'receipt'; readonly receipt: Receipt }
  | {
      readonly kind: 'bulk';
      readonly bulk: BulkControl;
      readonly counts: Readonly<Record<ReceiptStatus, number>>;
      readonly receipts: readonly Receipt[];
      /** The id after which the next page starts; null where there is none. */
      readonly next: string | null;
    };
