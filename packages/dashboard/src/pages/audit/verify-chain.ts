import type { UncheckedEntry, Verdict } from '@reeve/contract/audit';
import { EntryVerifier, judgeLog } from '@reeve/contract/audit';
import { callRoute, openRoute } from '../../api/call.ts';
import { linesOf } from '../../api/lines-of.ts';
import { hexSha256, isSigned } from './web-crypto.ts';

/** The number of entries hashed together. */
const batchSize = 500;

export interface VerifyProgress {
  readonly entries: number;
  readonly bytes: number;
}

/**
 * Reads the whole log and computes every hash in the browser, so that nobody has to trust the gateway. A tenant sees
 * only a part of the log. There, only each entry's own hash can be checked.
 */
export async function verifyChain(
  isWhole: boolean,
  signal: AbortSignal,
  onProgress: (progress: VerifyProgress) => void,
): Promise<Verdict> {
  const response = await openRoute('exportLogs', { query: { format: 'jsonl' } }, { accept: '*/*', signal });
  const verifier = new EntryVerifier();
  let batch: UncheckedEntry[] = [];
  let bytes = 0;
  const check = async () => {
    const hashes = await Promise.all(batch.map(({ canonical }) => hexSha256(canonical)));
    for (const [index, entry] of batch.entries()) {
      if (!verifier.take(entry, hashes[index] ?? '')) break;
    }
    batch = [];
    onProgress({ entries: verifier.entries, bytes });
  };
  for await (const line of linesOf(response, (size) => (bytes += size))) {
    const entry = verifier.read(line);
    if (entry !== undefined) batch.push(entry);
    if (batch.length >= batchSize) await check();
    if (verifier.broken !== undefined) break;
  }
  // Checks the entries before an invalid line first.
  const { broken } = verifier;
  verifier.broken = undefined;
  await check();
  verifier.broken ??= broken;
  const { keys } = await callRoute('jwks');
  return judgeLog(verifier, (cut) => isSigned(cut, keys), isWhole ? 'whole' : 'part');
}
