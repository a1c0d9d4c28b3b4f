import { noticeChannel } from './locks.ts';
import type { Statement } from './statement.ts';
import { arrayOf } from './statement.ts';

/** The kinds of rows that every gateway holds in memory, and so sends notices of. */
export type NoticeKind = 'agent' | 'api_key' | 'signing_key' | 'policy';

/** Says which rows have changed, never what they hold. */
export interface Notice {
  /** The slot of the gateway that changed them. It ignores its own notices. */
  readonly from: number;
  readonly kind: NoticeKind;
  /** Each is the values of one key. */
  readonly keys: readonly (readonly string[])[];
}

/** PostgreSQL takes less than 8000 bytes. No single key comes near that. */
const mostBytes = 6000;

/** PostgreSQL sends the notices if and when their transaction commits. */
export function noticesStatement(from: number, changed: ReadonlyMap<NoticeKind, readonly (readonly string[])[]>) {
  const payloads = [...changed].flatMap(([kind, keys]) => inPieces(keys).map((piece) => ({ from, kind, keys: piece })));
  return {
    name: 'notices',
    text: `SELECT pg_notify('${noticeChannel}', payload) FROM unnest($1::text[]) AS payload`,
    values: [arrayOf(payloads.map((payload) => JSON.stringify(payload)))],
  } satisfies Statement;
}

function inPieces(keys: readonly (readonly string[])[]): (readonly string[])[][] {
  const pieces: (readonly string[])[][] = [];
  let bytes = mostBytes;
  for (const key of keys) {
    const size = Buffer.byteLength(JSON.stringify(key)) + 1;
    if (bytes + size > mostBytes) {
      pieces.push([]);
      bytes = 0;
    }
    pieces.at(-1)?.push(key);
    bytes += size;
  }
  return pieces;
}

/** Undefined if the payload is not a notice of ours. */
export function parseNotice(payload: string): Notice | undefined {
  try {
    return JSON.parse(payload) as Notice;
  } catch {
    return undefined;
  }
}
