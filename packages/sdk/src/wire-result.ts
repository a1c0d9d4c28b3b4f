import { bounds, isScalarText } from '@reeve/contract';
import { ReeveInternal } from './errors.ts';
import { notJson, plainCopy, UnjudgeableResult } from './plain-copy.ts';
import { MaskedError } from './result-denied.ts';
import { saysOnlyMessage } from './says-only-message.ts';

/** A result as it is sent to be judged. */
export interface WireResult {
  readonly bytes: Buffer;
  /** What is given if nothing is changed: no more than the bytes say. */
  readonly given: unknown;
  /** What takes its place, of the bytes that the gateway answers with. */
  readonly read: (bytes: Uint8Array) => unknown;
}

/**
 * A text goes as it stands, so that the JSON in it is judged as JSON; a scalar or an empty one goes as a JSON string.
 * Anything else goes as JSON, and nothing as `null`.
 */
export function wireResultOf(result: unknown): WireResult {
  if (result === undefined) return { bytes: Buffer.from('null'), given: undefined, read: () => undefined };
  if (typeof result !== 'string') {
    const { copy, json } = written(result);
    return sized(json, copy, parsed);
  }
  return isScalarText(result) ? sized(JSON.stringify(result), result, parsed) : sized(result, result, textOf);
}

/** What the work has thrown. Models read messages, so nothing else of an error is given that could hold a result. */
export function wireErrorOf(thrown: unknown): WireResult {
  if (!(thrown instanceof Error)) return wireResultOf(thrown);
  const { message } = thrown;
  const { bytes, read } = wireResultOf(message);
  const given = saysOnlyMessage(thrown) ? thrown : new MaskedError(message);
  return { bytes, given, read: (masked) => new MaskedError(String(read(masked))) };
}

function sized(text: string, given: unknown, read: WireResult['read']): WireResult {
  const bytes = Buffer.from(text);
  if (bytes.length <= bounds.result) return { bytes, given, read };
  throw new UnjudgeableResult(`has ${bytes.length} bytes; at most ${bounds.result} can be judged`);
}

function written(result: unknown): { readonly copy: unknown; readonly json: string } {
  try {
    const copy = plainCopy(result);
    return { copy, json: JSON.stringify(copy) };
  } catch (error) {
    if (error instanceof UnjudgeableResult) throw error;
    throw notJson('what cannot be written as JSON');
  }
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
