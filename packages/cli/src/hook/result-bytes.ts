import { isScalarText } from '@reeve/contract';
import type { ToolResult } from './hook-event.ts';
import { sha256 } from './operation-ids.ts';
import { parseKeepingDigits } from './parse-keeping-digits.ts';

/** What is sent to be judged, and how to read what may take its place. */
export interface ResultBytes {
  readonly bytes: Buffer;
  read(bytes: Uint8Array): unknown;
}

/** A text goes as it stands, so that the JSON in it is judged as JSON. Everything else goes as JSON. */
export function resultBytes(value: unknown): ResultBytes {
  const isText = typeof value === 'string' && !isScalarText(value);
  const bytes = Buffer.from(isText ? value : (JSON.stringify(value) ?? 'null'));
  const textOf = (read: Uint8Array) => Buffer.from(read).toString('utf8');
  return { bytes, read: (read) => (isText ? textOf(read) : parseKeepingDigits(textOf(read))) };
}

/** Names a result without keeping anything of it. */
export function digestOf({ value, isError }: ToolResult): string {
  return sha256(`${String(isError)} ${resultBytes(value).bytes.toString('base64')}`);
}
