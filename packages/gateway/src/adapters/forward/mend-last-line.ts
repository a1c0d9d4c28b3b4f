import type { FileHandle } from 'node:fs/promises';

const newline = 10;
const chunkBytes = 64 * 1024;
/** The beginning of every entry in canonical form. */
const beginning = '{"actor":';

/**
 * A kill in the middle of a write leaves half an entry. It is removed, because the whole one is written again. A last
 * line that is none of ours is kept, and ended.
 */
export async function mendLastLine(file: FileHandle, size: number): Promise<void> {
  const start = await lastLineStart(file, size);
  if (start === size) return;
  const head = Buffer.alloc(Math.min(beginning.length, size - start));
  await file.read(head, 0, head.length, start);
  if (beginning.startsWith(head.toString('latin1'))) await file.truncate(start);
  else await file.appendFile('\n');
}

/** Where the last line begins; the size if the file ends with a line feed. */
async function lastLineStart(file: FileHandle, size: number): Promise<number> {
  const chunk = Buffer.alloc(chunkBytes);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - chunkBytes);
    const { bytesRead } = await file.read(chunk, 0, end - start, start);
    const found = chunk.subarray(0, bytesRead).lastIndexOf(newline);
    if (found !== -1) return start + found + 1;
    end = start;
  }
  return 0;
}
