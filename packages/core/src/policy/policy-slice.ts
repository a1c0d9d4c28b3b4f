import type { EpochMs } from '../kernel/index.ts';
import type { PolicyScope } from './document.ts';
import type { PolicySetRecord, PolicyVersion, StoredVersion } from './store/policy-version.ts';

/** The facts of policies that no live view gets. */
export type PoliciesChange =
  /** A version of a stored document. Beyond a limit, the oldest versions are removed. */
  | { readonly kind: 'policy_saved'; readonly saved: PolicyVersion }
  /** The set in force from now on, to be found by its version later. Beyond a limit, the oldest sets are removed. */
  | { readonly kind: 'policy_set_saved'; readonly set: PolicySetRecord };

/** What a start restores for policies. */
export interface PoliciesSnapshot {
  /** The newest version of each stored document. */
  readonly policies: readonly StoredVersion[];
}

/** Other policies are in force, or a load failed. */
export interface PolicyEvent {
  readonly type: 'policy';
  readonly at: EpochMs;
  /** The version of the set in force. */
  readonly version: string;
  readonly error: string | null;
  /** The stored document that changed; null if the files did. */
  readonly document: {
    readonly name: string;
    readonly version: number;
    readonly scope: PolicyScope;
    readonly change: PolicyChange;
  } | null;
}

export type PolicyChange = 'put' | 'rolled_back' | 'deleted';
