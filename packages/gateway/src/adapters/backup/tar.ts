import { BackupError } from './manifest.ts';

/** The parts of POSIX tar that backups use: regular files, and extended headers for long names and large files. */

const blockBytes = 512;
const largestOctal = 0o77777777777;
const longestName = 100;
const mostExtendedBytes = 64 * 1024;

export const tarEnd: Buffer = Buffer.alloc(2 * blockBytes);

/** What comes before the content of a file. */
export function tarHeader(name: string, bytes: number, at: Date): Buffer {
  const isPlain = Buffer.byteLength(name) <= longestName && bytes <= largestOctal;
  if (isPlain) return headerBlock(name, bytes, at, '0');
  const records = Buffer.from(`${record('path', name)}${record('size', String(bytes))}`);
  return Buffer.concat([
    headerBlock('extended-header', records.length, at, 'x'),
    records,
    tarPadding(records.length),
    headerBlock(Buffer.from(name).subarray(0, longestName).toString('latin1'), Math.min(bytes, largestOctal), at, '0'),
  ]);
}

/** What fills the last block of a file. */
export function tarPadding(bytes: number): Buffer {
  return Buffer.alloc((blockBytes - (bytes % blockBytes)) % blockBytes);
}

/** A record begins with its own length, which counts its own digits. */
function record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(rest);
  while (length !== Buffer.byteLength(rest) + String(length).length) {
    length = Buffer.byteLength(rest) + String(length).length;
  }
  return `${length}${rest}`;
}

function headerBlock(name: string, bytes: number, at: Date, type: '0' | 'x'): Buffer {
  const block = Buffer.alloc(blockBytes);
  block.write(name, 0, longestName);
  block.write('0000600\0', 100);
  block.write('0000000\0', 108);
  block.write('0000000\0', 116);
  block.write(`${bytes.toString(8).padStart(11, '0')}\0`, 124);
  block.write(
    `${Math.floor(at.getTime() / 1000)
      .toString(8)
      .padStart(11, '0')}\0`,
    136,
  );
  block.write('        ', 148);
  block.write(type, 156);
  block.write('ustar\u000000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** Reads the files of an archive, one after the other. */
export class TarReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  /** What is left to read of the present file, and of its last block. */
  #left = 0;
  #padding = 0;

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next file. Undefined at the end, which must be the end of the bytes, too. */
  async next(): Promise<{ readonly name: string; readonly bytes: number } | undefined> {
    if (this.#left > 0) throw new Error('the present file was not read to its end');
    await this.#exactly(this.#padding);
    const block = await this.#exactly(blockBytes);
    if (block.every((byte) => byte === 0)) return this.#end();
    const header = fieldsOf(block);
    if (header.type === '0') return this.#begin(header.name, header.bytes);
    if (header.type !== 'x' || header.bytes > mostExtendedBytes) throw new BackupError('it holds something else');
    const records = await this.#exactly(header.bytes);
    await this.#exactly(tarPadding(header.bytes).length);
    const file = fieldsOf(await this.#exactly(blockBytes));
    if (file.type !== '0') throw new BackupError('it holds something else');
    const { path = file.name, size = String(file.bytes) } = recordsIn(records);
    return this.#begin(path, /^\d{1,15}$/.test(size) ? Number(size) : Number.NaN);
  }

  /** The content of the present file, piece by piece. */
  async *content(): AsyncGenerator<Buffer> {
    while (this.#left > 0) {
      if (this.#rest.length === 0) await this.#more();
      const piece = this.#rest.subarray(0, this.#left);
      this.#rest = this.#rest.subarray(piece.length);
      this.#left -= piece.length;
      yield piece;
    }
  }

  #begin(name: string, bytes: number): { name: string; bytes: number } {
    if (!Number.isSafeInteger(bytes)) throw new BackupError('one of its parts has no size');
    this.#left = bytes;
    this.#padding = tarPadding(bytes).length;
    return { name, bytes };
  }

  async #end(): Promise<undefined> {
    const second = await this.#exactly(blockBytes);
    const after = this.#rest.length > 0 ? this.#rest : (await this.#chunks.next()).value;
    if (second.some((byte) => byte !== 0) || after !== undefined) throw new BackupError('something follows its end');
  }

  async #exactly(bytes: number): Promise<Buffer> {
    while (this.#rest.length < bytes) await this.#more();
    const taken = this.#rest.subarray(0, bytes);
    this.#rest = this.#rest.subarray(bytes);
    return taken;
  }

  async #more(): Promise<void> {
    const { done, value } = await this.#chunks.next();
    if (done === true) throw new BackupError('it ends too early: it is not complete');
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
  }
}

function fieldsOf(block: Buffer): { readonly name: string; readonly bytes: number; readonly type: string } {
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  if (octal(block.toString('latin1', 148, 156)) !== sum) throw new BackupError('a header in it is damaged');
  const [name = ''] = block.toString('utf8', 0, longestName).split('\0');
  return { name, bytes: octal(block.toString('latin1', 124, 136)), type: block.toString('latin1', 156, 157) };
}

function octal(text: string): number {
  const digits = /^ *([0-7]+)[ \0]*$/.exec(text)?.[1];
  return digits === undefined ? Number.NaN : Number.parseInt(digits, 8);
}

function recordsIn(records: Buffer): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (let at = 0; at < records.length; ) {
    const [, length = '', key = ''] = /^(\d{1,6}) (path|size)=/.exec(records.toString('utf8', at)) ?? [];
    const end = at + Number(length);
    if (length === '' || end > records.length || records[end - 1] !== 10)
      throw new BackupError('it holds something else');
    found[key] = records.toString('utf8', at + length.length + key.length + 2, end - 1);
    at = end;
  }
  return found;
}
