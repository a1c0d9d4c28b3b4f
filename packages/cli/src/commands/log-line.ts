import { cleanText } from '../output/clean-text.ts';
import { paint } from '../output/colour.ts';
import type { LogEntry } from './log-columns.ts';
import { logColumns } from './log-columns.ts';

/** Wide enough for most entries, so that lines printed one by one still align. */
const widths: Readonly<Record<string, number>> = { SEQ: 6, TIME: 24, EVENT: 20, AGENT: 24, DECISION: 8 };

/** One entry on its own line: the columns of the table, without empty ones at the end. */
export function logLine(entry: LogEntry, hasColours: boolean): string {
  const cells = logColumns.map(({ title, value, colour, isRight }) => {
    const text = safely(() => cleanText(String(value(entry) ?? '')));
    const width = widths[title] ?? 0;
    const shown = text === '' ? '-' : text;
    const filled = isRight === true ? shown.padStart(width) : shown.padEnd(width);
    return hasColours ? paint(filled, safely(() => colour?.(entry)) || undefined) : filled;
  });
  return cells.join('  ').trimEnd();
}

/** An entry of another version may lack a member. */
function safely<Value>(read: () => Value): Value | '' {
  try {
    return read();
  } catch {
    return '';
  }
}
