import type { Principal } from '../access/principal.ts';
import { mayReachScope } from './document.ts';
import type { MayRead } from './trail.ts';

/** What a caller may read of documents: who is bound to a tenant reads those of that tenant, not what stands above it. */
export function readerOf(by: Principal): MayRead {
  return ({ scope }) => mayReachScope(by, scope);
}
