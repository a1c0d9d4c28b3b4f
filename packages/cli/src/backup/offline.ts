import { tmpdir } from 'node:os';
import type * as Backups from '@reeve/gateway/offline-backups';
import type { Manifest, VerifiedBackup } from '@reeve/gateway/offline-backups';
import { isSigned } from '../audit/signed-cut.ts';
import { CliError, InterruptedError, UsageError } from '../cli-error.ts';
import { codeOf } from '../context/private-file.ts';
import { counted } from '../output/duration.ts';
import { withProgress } from '../output/progress.ts';
import type { Shell } from '../shell.ts';
import { onInterruption } from '../terminal/interruption.ts';

const { readFileSync, statSync } = process.getBuiltinModule('node:fs');
type Offline = typeof Backups;
export type { Manifest, VerifiedBackup };

const leastLength = 12;
const mostBytes = 4096;

/**
 * Loads the gateway's own code for backups, so that both sides agree on the form. Nobody but the owner may read what
 * it writes.
 */
export async function loadOffline(): Promise<Offline> {
  process.umask(0o077);
  return import('@reeve/gateway/offline-backups');
}

/**
 * Words the errors of the offline code. They say what is wrong with the file or the folder. If the command is
 * interrupted, the work ends first, because it has unpacked secrets.
 */
export async function explained<Result>(
  file: string,
  work: (offline: Offline, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const offline = await loadOffline();
  using interruption = onInterruption();
  try {
    return await work(offline, interruption.signal);
  } catch (error) {
    if (interruption.signal.aborted) throw new InterruptedError();
    if (error instanceof CliError) throw error;
    if (error instanceof offline.StartError) throw new CliError(error.message, { cause: error });
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(`${file}: ${why}`, { cause: error });
  }
}

/** How a verification shows its progress, and where it unpacks. */
export function verifying(shell: Shell, file: string, passphrase: string | undefined) {
  const seen = { bytes: 0, entries: 0 };
  const words = () =>
    seen.entries === 0
      ? `Reading ${file}: ${counted(seen.bytes, 'byte')}`
      : `Verifying: ${counted(seen.entries, 'entry', 'entries')}`;
  return {
    scratch: tmpdir(),
    options: {
      passphrase,
      isSigned,
      onRead: (bytes: number) => (seen.bytes = bytes),
      onEntries: (entries: number) => (seen.entries = entries),
    },
    show: <Result>(work: Promise<Result>) => withProgress(shell, words, work),
  };
}

/** The first line of a file. Errors never show it. */
export function readPassphrase(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  let text: string;
  try {
    if (statSync(path).size > mostBytes) throw new UsageError(`${path} is too long for a passphrase`);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`cannot read the passphrase in ${path}: ${codeOf(error) ?? 'it failed'}`, { cause: error });
  }
  const [line = ''] = text.split(/\r?\n/);
  if (Array.from(line).length >= leastLength) return line;
  throw new UsageError(
    `the passphrase in ${path} is too short: its first line must have ${leastLength} characters or more`,
  );
}

/** What people see of a backup. */
export function factsOf({ manifest, chain, counts }: VerifiedBackup): readonly (readonly [string, string | number])[] {
  const { first_seq: first, last_seq: last, cut_at: cut } = chain;
  const log =
    chain.entries === 0 ? 'empty' : `${counted(chain.entries, 'entry', 'entries')}, ${first} to ${last}, unbroken`;
  const policies = manifest.parts.length - 1;
  return [
    ['Made', `${manifest.created_at} by Reeve ${manifest.reeve_version}`],
    ['Log', cut === null ? log : `${log} after a signed cut`],
    ['Newest hash', manifest.head.hash],
    ['Agents', counts.agents],
    ['Keys in force', counts.api_keys],
    ['Accounts', counts.accounts],
    ['Stored policies', counts.policies],
    ['Policy files', manifest.policies === 'elsewhere' ? 'not included: they lie elsewhere (SVC_POLICY)' : policies],
  ];
}

/** The same as data. */
export function dataOf(file: string, { manifest, chain, counts }: VerifiedBackup) {
  const { parts, ...rest } = manifest;
  return { file, ...rest, first_seq: chain.first_seq, cut_at: chain.cut_at, counts, parts };
}
