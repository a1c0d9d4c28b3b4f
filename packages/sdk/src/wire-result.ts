import { bounds, isScalarText } from '@reeve/contract';
import { ReeveInternal } from './errors.ts';
import { MaskedError } from './result-denied.ts';

/** A result as it is sent to be judged. */
export interface WireResult {
  readonly bytes: Buffer;
  /** What takes its place, of the bytes that the gateway answers with. */
  readonly read: (bytes: Uint8Array) => unknown;
}

/** Says why a result cannot be judged, and the way out. It names no part of the result. */
export class UnjudgeableResult extends Error {}

/**
 * A text goes as it stands, so that the JSON in it is judged as JSON; a scalar or an empty one goes as a JSON string.
 * Anything else goes as JSON, and nothing as `null`.
 */
export function wireResultOf(result: unknown): WireResult {
  if (result === undefined) return { bytes: Buffer.from('null'), read: () => undefined };
  if (typeof result !== 'string') return sized(jsonOf(result), parsed);
  return isScalarText(result) ? sized(JSON.stringify(result), parsed) : sized(result, textOf);
}

/** What the work has thrown. Models read messages. */
export function wireErrorOf(thrown: unknown): WireResult {
  if (!(thrown instanceof Error)) return wireResultOf(thrown);
  const { bytes, read } = wireResultOf(thrown.message);
  return { bytes, read: (masked) => new MaskedError(String(read(masked))) };
}

function sized(text: string, read: WireResult['read']): WireResult {
  const bytes = Buffer.from(text);
  if (bytes.length <= bounds.result) return { bytes, read };
  throw new UnjudgeableResult(`the result has ${bytes.length} bytes; at most ${bounds.result} can be judged`);
}

/** Only plain values: what JSON leaves out of others would pass unjudged. */
function jsonOf(result: unknown): string {
  try {
    return JSON.stringify(result, function plain(this: Readonly<Record<string, unknown>>, name) {
      // Not what `toJSON` makes of it.
      const value = this[name];
      requirePlain(value);
      return value;
    });
  } catch (error) {
    if (error instanceof UnjudgeableResult) throw error;
    throw notJson('what cannot be written as JSON');
  }
}

function requirePlain(value: unknown): void {
  if (typeof value === 'number' && !Number.isFinite(value)) throw notJson(String(value));
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol') {
    throw notJson(`a ${typeof value}`);
  }
  if (typeof value !== 'object' || value === null || isPlain(value)) return;
  throw notJson(`a ${value.constructor?.name ?? 'special object'}`);
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const above: unknown = Object.getPrototypeOf(value);
  const isBare = above === null || Object.getPrototypeOf(above) === null;
  return isBare && typeof (value as { toJSON?: unknown }).toJSON !== 'function';
}

function notJson(what: string): UnjudgeableResult {
  return new UnjudgeableResult(
    `the result cannot be judged: it holds ${what}; give back a text, or JSON of objects, lists, texts and numbers`,
  );
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(textOf(bytes)) as unknown;
  } catch {
    throw new ReeveInternal('the masked result cannot be read');
  }
}
