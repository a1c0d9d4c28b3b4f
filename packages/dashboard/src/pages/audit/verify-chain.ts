import type { UncheckedEntry, Verdict } from '@reeve/contract/audit';
import { EntryVerifier, judgeLog } from '@reeve/contract/audit';
import { callRoute, openRoute } from '../../api/call.ts';
import { linesOf } from '../../api/lines-of.ts';
import { hexSha256, isSigned } from './web-crypto.ts';

/** Entries whose hashes are worked out together. */
const batchSize = 500;

export interface VerifyProgress {
  readonly entries: number;
  readonly bytes: number;
}

/**
 * Reads the whole log and works out every hash here, in the browser: whoever looks at it need not take the gateway's word.
 * What a tenant sees of the log is a part, of which only each entry's own hash can be checked.
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
  // Entries before a line that is none come first.
  const { broken } = verifier;
  verifier.broken = undefined;
  await check();
  verifier.broken ??= broken;
  const { keys } = await callRoute('jwks');
  return judgeLog(verifier, (cut) => isSigned(cut, keys), isWhole);
}
