import { invalid } from './errors.ts';
import type { Randomness } from './ports.ts';

/** What an operation's id is made of. */
export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** Without `:`, so that the id of an operation is unambiguous. */
const traceIdPattern = /^[A-Za-z0-9_-]{1,128}$/;

/** Both ids must be well formed, or both empty. */
export function checkTraceIds({ traceId, spanId }: TraceIds): void {
  if (traceId === '' && spanId === '') return;
  checkTraceId('trace_id', traceId);
  checkTraceId('span_id', spanId);
}

function checkTraceId(field: string, text: string): void {
  if (traceIdPattern.test(text)) return;
  throw invalid(field, 'must be 1 to 128 characters of A-Z, a-z, 0-9, "_" and "-" (or leave both ids empty)');
}

/** What an operation's id is made of, for what tells of the operation. */
export function traceIdsIn(opId: string): TraceIds {
  const [traceId = '', spanId = ''] = opId.split(':');
  return { traceId, spanId };
}

/** The ids that were given, or new ones where there are none. */
export function traceIdsOf({ traceId, spanId }: TraceIds, randomness: Randomness): TraceIds {
  return traceId === '' ? { traceId: randomness.hex(16), spanId: randomness.hex(8) } : { traceId, spanId };
}
