import type { Access } from '../access/access.ts';
import type { Governance } from '../governance.ts';

/** The ports that credentials need from a governance. */
export function portsOf({
  clock,
  randomness,
  sha256,
  journal,
}: Governance): Pick<Access, 'clock' | 'randomness' | 'sha256'> & { readonly journal: Governance['journal'] } {
  return { clock, randomness, sha256, journal };
}
