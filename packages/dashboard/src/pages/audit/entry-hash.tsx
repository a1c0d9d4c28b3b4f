import { canonicalJson } from '@reeve/contract/audit';
import { useQuery } from '@tanstack/react-query';
import { Icon } from '../../ui/icon.tsx';
import type { AuditEntry } from './use-audit-entries.ts';
import { canVerify, hexSha256 } from './web-crypto.ts';

/** Recomputes the hash of an entry from what is shown. */
export function EntryHash({ entry }: { readonly entry: AuditEntry }) {
  const { hash, ...content } = entry;
  const { data: actual } = useQuery({
    queryKey: ['entry-hash', entry.seq, hash],
    queryFn: () => hexSha256(canonicalJson(content)),
    enabled: canVerify(),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!canVerify()) {
    return <p className="text-sm text-muted">This browser works out hashes on https and localhost only.</p>;
  }
  if (actual === undefined) return <p className="text-sm text-muted">Working it out…</p>;
  return actual === hash ? (
    <p className="flex items-center gap-1.5 text-sm text-ok">
      <Icon name="check" /> Worked out in this browser: it fits the content.
    </p>
  ) : (
    <p role="alert" className="flex items-center gap-1.5 text-sm text-danger">
      <Icon name="alert" /> It does not fit the content. Worked out in this browser, it is {actual}.
    </p>
  );
}
