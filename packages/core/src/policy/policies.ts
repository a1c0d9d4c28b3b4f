import type { Callers, KnownKeys, Principal } from '../access/index.ts';
import type { Ledger } from '../budget/index.ts';
import type { JournalOf } from '../journal/index.ts';
import type { Ports } from '../kernel/index.ts';
import { mayReachScope } from './document.ts';
import type { PolicySet } from './policy-set.ts';
import type { PoliciesChange, PolicyEvent } from './policy-slice.ts';
import type { PolicyRegistry } from './store/policy-registry.ts';
import type { MayRead } from './trail.ts';

/** What the use cases of policies work on. */
export interface Policies extends Ports {
  readonly keys: KnownKeys;
  readonly callers: Callers;
  /** Learns which caps are in force. */
  readonly ledger: Ledger;
  /** The policies in force. A reload replaces the whole set. */
  policies: PolicySet;
  /** The sources of the policies. */
  readonly policyRegistry: PolicyRegistry;
  readonly journal: JournalOf<PoliciesChange, PolicyEvent>;
}

/** Which documents a caller may read. A caller bound to a tenant reads those of that tenant, not those above it. */
export function readerOf(by: Principal): MayRead {
  return ({ scope }) => mayReachScope(by, scope);
}
