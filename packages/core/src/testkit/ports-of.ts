import type { Access } from '../access/access.ts';
import type { Governance } from '../governance.ts';

/** What credentials need of a governance. */
export function portsOf({
  clock,
  randomness,
  sha256,
  journal,
}: Governance): Pick<Access, 'clock' | 'randomness' | 'sha256'> & { readonly journal: Governance['journal'] } {
  return { clock, randomness, sha256, journal };
}
