import { openRoute } from '../../api/call.ts';
import type { LogFilter } from './audit-search.ts';
import { exportName } from './entry-words.ts';

interface FileWriter {
  write(data: Uint8Array<ArrayBuffer>): Promise<void>;
  close(): Promise<void>;
  abort(): Promise<void>;
}

/** If the browser supports it, a file that is written as the export arrives. */
type PickFile = (options: { readonly suggestedName: string }) => Promise<{ createWritable(): Promise<FileWriter> }>;

/** Saves an export and returns its size in bytes. Undefined if the person chose no file. */
export async function saveExport(
  filter: LogFilter,
  format: 'jsonl' | 'csv',
  signal: AbortSignal,
  onProgress: (bytes: number) => void,
): Promise<number | undefined> {
  const name = exportName(filter, format, new Date());
  const writer = await pickedFile(name);
  if (writer === 'none') return undefined;
  const target = writer ?? new MemoryFile(name);
  let bytes = 0;
  try {
    const response = await openRoute('exportLogs', { query: { ...filter, format } }, { accept: '*/*', signal });
    const reader = response.body?.getReader();
    for (;;) {
      const part = await reader?.read();
      if (part === undefined || part.done) break;
      await target.write(part.value);
      bytes += part.value.byteLength;
      onProgress(bytes);
    }
    await target.close();
    return bytes;
  } catch (error) {
    await target.abort();
    throw error;
  }
}

async function pickedFile(suggestedName: string): Promise<FileWriter | 'none' | undefined> {
  const pick = (globalThis as { readonly showSaveFilePicker?: PickFile }).showSaveFilePicker;
  if (pick === undefined) return undefined;
  try {
    const file = await pick({ suggestedName });
    return await file.createWritable();
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return 'none';
    // Not allowed here. The export is kept in memory and downloaded instead.
    return undefined;
  }
}

/** Kept in memory, and downloaded when complete. */
class MemoryFile implements FileWriter {
  readonly #name: string;
  #parts: Uint8Array<ArrayBuffer>[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  async write(data: Uint8Array<ArrayBuffer>): Promise<void> {
    this.#parts.push(data);
  }

  async close(): Promise<void> {
    const url = URL.createObjectURL(new Blob(this.#parts));
    const link = document.createElement('a');
    link.href = url;
    link.download = this.#name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }

  async abort(): Promise<void> {
    this.#parts = [];
  }
}
