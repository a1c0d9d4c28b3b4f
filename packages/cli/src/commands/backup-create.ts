import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Manifest } from '../backup/offline.ts';
import { explained, loadOffline, readPassphrase } from '../backup/offline.ts';
import { existsText, writePrivate } from '../backup/write-private.ts';
import { CliError, InterruptedError } from '../cli-error.ts';
import type { Input } from '../command-line/command.ts';
import { defineCommand } from '../command-line/command.ts';
import { flag, required, text } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { readChunks } from '../http/send.ts';
import { counted } from '../output/duration.ts';
import { note, print } from '../output/print.ts';
import { withProgress } from '../output/progress.ts';
import type { Shell } from '../shell.ts';
import { onInterruption } from '../terminal/interruption.ts';

/** The gateway copies its store before it answers, which takes minutes if the store is large. */
const copyingMs = 60 * 60 * 1000;

export const backupCreateCommand = defineCommand({
  details: [
    'Of the gateway of the active context, while it runs: one consistent moment, and decisions go on meanwhile. Needs the scope admin and a credential that is bound to no tenant; the log gets an entry BackupCreated. With --data, of the data folder of a gateway that is stopped, without a credential.',
    'The file appears once it is complete and its checksums fit. Only its owner can read it. It holds secrets: hashes of keys, tokens and passwords, and the keys that sign tokens. Keep it as you keep those, or encrypt it with --passphrase-file. Without the passphrase nobody can restore it.',
    'A gateway on PostgreSQL is backed up with pg_dump: see docs/operations/backup.md.',
    'Data: {file, bytes, encrypted, format, reeve_version, created_at, schema_version, head: {seq, hash}, entries, policies: included|elsewhere, parts: [{name, bytes, sha256}]}.',
  ],
  args: { file: required('The file to write.', 'file') },
  options: {
    data: text('DIR', 'The data folder of a stopped gateway, in place of a running one.', { completes: 'file' }),
    passphraseFile: text('FILE', 'Encrypt with the first line of this file, 12 characters or more.', {
      completes: 'file',
    }),
    force: flag('Replace the file if it exists.'),
  },
  examples: [
    ['reeve backup create /backup/reeve-monday.backup', 'the gateway of the active context'],
    ['reeve backup create reeve.backup --passphrase-file passphrase.txt', 'encrypted, before it leaves the machine'],
    ['reeve backup create reeve.backup --data ~/.reeve/gateway', 'a gateway that is stopped'],
  ],
  run: async (input, shell) => {
    const { file } = input.args;
    const { data, force, passphraseFile } = input.options;
    const passphrase = readPassphrase(passphraseFile);
    if (!force && existsSync(file)) throw new CliError(existsText(file));
    const seen = { bytes: 0 };
    const source = data === undefined ? await ofGateway(input, shell) : await ofFolder(data, file);
    const { encrypted, unpackBackup } = await loadOffline();
    const chunks = counting(passphrase === undefined ? source.chunks : encrypted(source.chunks, passphrase), seen);
    let manifest: Manifest | undefined;
    using interruption = onInterruption();
    interruption.signal.addEventListener('abort', () => void source.close());
    const work = writePrivate(file, chunks, force, async (draft) => {
      manifest = await explained(file, (_, signal) => unpackBackup(draft, { passphrase, signal }));
      interruption.signal.throwIfAborted();
    });
    try {
      await withProgress(shell, () => `Writing ${file}: ${counted(seen.bytes, 'byte')}`, work);
    } catch (error) {
      throw interruption.signal.aborted ? new InterruptedError() : error;
    } finally {
      await source.close();
    }
    report(input, shell, { file, bytes: seen.bytes, encrypted: passphrase !== undefined }, manifest);
    return 0;
  },
});

interface Source {
  readonly chunks: AsyncIterable<Buffer>;
  close(): Promise<void>;
}

async function ofGateway(input: Pick<Input, 'globals'>, shell: Shell): Promise<Source> {
  const client = await connect(shell, input);
  const timeoutMs = input.globals.timeout * 1000;
  const answer = await client.open('createBackup', {}, { timeoutMs: Math.max(copyingMs, timeoutMs) });
  return {
    chunks: readChunks(answer.body, client.apiUrl, timeoutMs),
    close: async () => void answer.body.destroy(),
  };
}

async function ofFolder(data: string, file: string): Promise<Source> {
  const backup = await explained(data, ({ backupFolder }) => backupFolder(data, dirname(resolve(file))));
  return { chunks: backup.stream(), close: async () => backup[Symbol.asyncDispose]() };
}

function report(
  { globals }: Pick<Input, 'globals'>,
  shell: Shell,
  written: { readonly file: string; readonly bytes: number; readonly encrypted: boolean },
  manifest: Manifest | undefined,
): void {
  const { file, bytes } = written;
  const entries = manifest?.entries ?? 0;
  const words = `Wrote ${file}: ${counted(bytes, 'byte')}, ${counted(entries, 'entry', 'entries')} of the log up to ${manifest?.head.seq ?? 0}.`;
  print(shell, globals.output, { ...written, ...manifest }, () => words);
  if (globals.output !== 'table') return;
  if (!written.encrypted) note(shell, 'It holds secrets, and is not encrypted: keep it where only you can read it.');
  if (manifest?.policies === 'elsewhere') {
    note(shell, 'The policy files are not in it: they lie outside of the data folder (SVC_POLICY). Keep them, too.');
  }
  note(
    shell,
    `To prove that it can be restored: reeve backup verify ${file}${written.encrypted ? ' --passphrase-file FILE' : ''}`,
  );
}

async function* counting(chunks: AsyncIterable<Buffer>, seen: { bytes: number }): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    seen.bytes += chunk.byteLength;
    yield chunk;
  }
}
