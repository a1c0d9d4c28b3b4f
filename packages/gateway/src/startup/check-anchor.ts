import type { Anchor } from '@reeve/contract/audit';
import { anchoredText, lossOf, requiredAnchors } from '@reeve/contract/audit';
import type { AuditReader, ChainHead, LostEntries, SigningKeyRecord, Store, StoredEntry } from '@reeve/core';
import { lastCut, mayBeSameEntry } from '@reeve/core';
import { StartError } from '../start-error.ts';

export interface AnchoredStore {
  readonly store: Pick<Store, 'after'>;
  readonly reader: AuditReader;
  readonly head: ChainHead;
  readonly signingKeys: readonly SigningKeyRecord[];
  readonly isSigned: (text: string, signature: string, publicJwk: string) => boolean;
}

const mostLosses = 100;

/**
 * Compares the log with its anchors, given oldest first: the newest, the highest, and the newest with an unknown key.
 * Returns what was lost, if anything. Throws for a forged signature.
 */
export async function checkAnchor(
  path: string,
  anchors: readonly Anchor[],
  log: AnchoredStore,
): Promise<LostEntries | undefined> {
  const keys = new Map(log.signingKeys.map(({ kid, publicJwk }) => [kid, publicJwk]));
  for (const anchor of anchors) {
    const key = keys.get(anchor.kid);
    if (key !== undefined && !log.isSigned(anchoredText(anchor), anchor.signature, key)) {
      throw new StartError(
        `SVC_AUDIT_ANCHOR: ${path} is forged: the anchor of entry ${anchor.seq} at ${anchor.at} has no good signature; find out who wrote it, and move the file away to begin a new one`,
      );
    }
  }
  const lost = await findLost(anchors, log, keys);
  // A loss that an operator has accepted is not reported again.
  return lost && findLost(requiredAnchors(anchors, await acceptedLosses(log.reader)), log, keys);
}

async function findLost(
  anchors: readonly Anchor[],
  log: AnchoredStore,
  keys: ReadonlyMap<string, string>,
): Promise<LostEntries | undefined> {
  const foreign = anchors.findLast(({ kid }) => !keys.has(kid));
  const highest = anchors.toSorted((one, other) => one.seq - other.seq).at(-1);
  for (const anchor of new Set([anchors.at(-1), highest, foreign])) {
    if (anchor === undefined) continue;
    const { seq, hash, at, kid } = anchor;
    const keyKnown = keys.has(kid);
    // Accept any signer, because the log confirms the line. Its key may have been removed after a theft.
    if (await contains(log, anchor)) continue;
    return { anchored: { seq, hash }, anchoredAt: at, head: log.head, keyKnown };
  }
  return undefined;
}

/** The one line that stops the start. */
export function lossText(path: string, { anchored, anchoredAt, head, keyKnown }: LostEntries): string {
  const found = !keyKnown
    ? `with a key that this store does not have: it is the anchor of another store, or the store was replaced; its audit log ends with entry ${head.seq}`
    : head.seq < anchored.seq
      ? `and the audit log ends with entry ${head.seq}: its newest entries are lost`
      : `and the audit log has another entry in its place, or none: it was changed`;
  return `SVC_AUDIT_ANCHOR: ${path} has entry ${anchored.seq} signed at ${anchoredAt}, ${found}. Restore the store, or accept the loss with --accept-lost-entries`;
}

/**
 * Whether the log has the entry, or retention has cut it. For an entry that cannot be read the next one says which it was.
 * If that cannot be read either, the start goes on: a verification names them.
 */
async function contains({ store, reader }: AnchoredStore, { seq, hash }: Anchor): Promise<boolean> {
  const [found, next] = await store.after(seq - 1, 2);
  if (found === undefined) return false;
  if (found.seq === seq && found.hash !== '') return found.hash === hash;
  // The newest entries are rows, which can be read.
  if (found.seq === seq) return next !== undefined && mayBeSameEntry(hashBefore(next), hash);
  const [first] = await store.after(0, 1);
  if (first?.seq !== found.seq || ((await lastCut(reader)) ?? 0) < seq) return false;
  return found.seq - 1 > seq || mayBeSameEntry(hashBefore(found), hash);
}

function hashBefore({ canonical }: StoredEntry): string {
  return (JSON.parse(canonical) as { readonly prev_hash: string }).prev_hash;
}

async function acceptedLosses(reader: AuditReader) {
  const { entries } = await reader.latest({ eventType: 'AuditEntriesLost', limit: mostLosses });
  return entries.flatMap(({ canonical }) => lossOf(JSON.parse(canonical) as Readonly<Record<string, unknown>>) ?? []);
}
