import { cleanText } from './clean-text.ts';

/** A record as two columns: title and value. */
export function renderRecord(members: readonly (readonly [string, string | number | null | undefined])[]): string {
  const width = Math.max(...members.map(([title]) => title.length));
  return members.map(([title, value]) => `${title.padEnd(width)}  ${shownValue(value)}`.trimEnd()).join('\n');
}

/** What stands for a value that is not there. */
export const nothing = '-';

/** A value in its table form. */
export function shownValue(value: string | number | null | undefined): string {
  const text = value === null || value === undefined ? '' : cleanText(String(value));
  return text === '' ? nothing : text;
}
