import { createHash, randomBytes } from 'node:crypto';
import type { PlannedAction } from './hook-event.ts';

const longestTrace = 128;
/** Leaves room for the number of a further check. */
const longestSpan = 120;

/** The session as the first part of operation ids, and as the run. */
export function traceOf(session: string): string {
  return permitted(session, longestTrace);
}

/** The second parts of the ids of a tool use: `<id>`, `<id>-2`, `<id>-3`, … */
export function spansOf(toolUse: string, count: number): readonly string[] {
  const span = permitted(toolUse, longestSpan);
  return Array.from({ length: count }, (_, index) => (index === 0 ? span : `${span}-${index + 1}`));
}

/** An id for a tool use of a host that gives none. */
export function newToolUse(): string {
  return `use-${randomBytes(12).toString('hex')}`;
}

/** The same text for tool uses that would do the same. */
export function fingerprintOf(actions: readonly PlannedAction[]): string {
  const named = actions.filter(({ isReal }) => isReal !== true);
  const sources = [...new Set(named.map(({ source = '' }) => source))];
  return sha256(JSON.stringify([named.map(({ action }) => action), sources])).slice(0, 32);
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** With other characters replaced by `_`. A text that is too long keeps its beginning and gets a digest of the whole. */
function permitted(text: string, longest: number): string {
  const replaced = text.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  return replaced.length <= longest ? replaced : `${replaced.slice(0, longest - 33)}-${sha256(text).slice(0, 32)}`;
}
