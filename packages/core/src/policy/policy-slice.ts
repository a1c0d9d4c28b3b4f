import type { EpochMs } from '../kernel/index.ts';
import type { PolicyScope } from './document.ts';
import type { PolicySetRecord, PolicyVersion, StoredVersion } from './store/policy-version.ts';

/** The rows that policies write. */
export type PoliciesChange =
  /** A version of a stored document. The oldest are given up when there are too many. */
  | { readonly kind: 'policy_saved'; readonly saved: PolicyVersion }
  /** What is in force from now on, to be found later by its version. The oldest sets are given up. */
  | { readonly kind: 'policy_set_saved'; readonly set: PolicySetRecord };

/** What a start brings back of policies. */
export interface PoliciesSnapshot {
  /** The newest version of each stored document. */
  readonly policies: readonly StoredVersion[];
}

/** Other policies are in force, or what was loaded could not be. */
export interface PolicyEvent {
  readonly type: 'policy';
  readonly at: EpochMs;
  /** Of the set in force. */
  readonly version: string;
  readonly error: string | null;
  /** The stored document that was changed; null where the files were. */
  readonly document: {
    readonly name: string;
    readonly version: number;
    readonly scope: PolicyScope;
    readonly change: PolicyChange;
  } | null;
}

export type PolicyChange = 'put' | 'rolled_back' | 'deleted';
