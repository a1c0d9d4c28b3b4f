import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { StringDecoder } from 'node:string_decoder';
import { pipeline } from 'node:stream/promises';
import { CliError } from '../cli-error.ts';
import { cleanLines } from '../output/clean-text.ts';
import type { Shell } from '../shell.ts';

/** Writes the chunks to standard output, or to a file that gets its name once it is complete. */
export async function writeStream(
  shell: Shell,
  chunks: AsyncIterable<Buffer>,
  file: string | undefined,
): Promise<void> {
  if (file === undefined) return toOutput(shell, chunks);
  const draft = `${file}.part`;
  try {
    await pipeline(chunks, createWriteStream(draft, { mode: 0o600 }));
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    if (error instanceof CliError) throw error;
    throw new CliError(`cannot write ${file}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/** Bytes stay unchanged, unless a terminal would act on them. */
async function toOutput(shell: Shell, chunks: AsyncIterable<Buffer>): Promise<void> {
  const { stdout } = shell;
  const decoder = new StringDecoder('utf8');
  for await (const chunk of chunks) {
    const shown = stdout.isTTY ? cleanLines(decoder.write(chunk)) : chunk;
    if (!stdout.write(shown)) await once(stdout, 'drain');
  }
}
