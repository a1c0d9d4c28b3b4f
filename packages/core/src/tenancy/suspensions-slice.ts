import type { EpochMs } from '../kernel/index.ts';
import type { ScopeSuspension } from './scope-suspensions.ts';

export type SuspensionChange =
  | { readonly kind: 'suspension_saved'; readonly suspension: ScopeSuspension }
  | { readonly kind: 'suspension_removed'; readonly suspension: ScopeSuspension };

/** A scope was suspended, or one of its suspensions was lifted. */
export interface SuspensionEvent {
  readonly type: 'suspension';
  readonly at: EpochMs;
  readonly change: 'suspended' | 'resumed';
  readonly suspension: ScopeSuspension;
}

export interface SuspensionsSnapshot {
  readonly suspensions: readonly ScopeSuspension[];
}
