import type { KnownCallers, KnownKeys, Principal } from '../access/index.ts';
import type { KnownBalances, Ledger } from '../budget/index.ts';
import type { JournalOf } from '../journal/index.ts';
import type { Ports } from '../kernel/index.ts';
import type { KnownAgents } from '../tenancy/index.ts';
import { mayReachScope } from './document.ts';
import type { PolicySet } from './policy-set.ts';
import type { PoliciesChange, PolicyEvent } from './policy-slice.ts';
import type { KnownPolicies, PolicyRegistry } from './store/policy-registry.ts';
import type { MayRead } from './trail.ts';

/** What the use cases of policies work on. */
export interface Policies extends Ports {
  readonly keys: KnownKeys;
  readonly callers: KnownCallers;
  readonly directory: KnownAgents;
  readonly ledger: KnownBalances;
  /** The policies in force. */
  readonly policies: PolicySet;
  /** The sources of the policies. */
  readonly policyRegistry: KnownPolicies;
  readonly journal: JournalOf<PoliciesChange, PolicyEvent>;
}

/** What puts policies in force, by a fact or by a reload of files. */
export interface PoliciesState extends Policies {
  /** Learns which caps are in force. */
  readonly ledger: Ledger;
  /** Replaced as a whole. */
  policies: PolicySet;
  readonly policyRegistry: PolicyRegistry;
}

/** Which documents a caller may read. A caller bound to a tenant reads those of that tenant, not those above it. */
export function readerOf(by: Principal): MayRead {
  return ({ scope }) => mayReachScope(by, scope);
}
