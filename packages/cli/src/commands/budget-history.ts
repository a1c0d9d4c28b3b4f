import type { RouteOutput, Routes } from '@reeve/contract/http';
import { cleanText } from '../output/clean-text.ts';
import { hasColours, paint } from '../output/colour.ts';
import { microsOf } from '../output/usd.ts';
import type { Shell } from '../shell.ts';

type Window = RouteOutput<Routes['budgetHistory']>['items'][number];

const widest = 40;
const bar: string = '█';

/** Spend per day or month, as bars. `│` marks the cap. */
export function historyText(shell: Shell, windows: readonly Window[], period: 'day' | 'month'): string {
  if (windows.length === 0) return 'Nothing is on record.';
  const most = Math.max(1, ...windows.flatMap(({ spent_usd, limit_usd }) => [microsOf(spent_usd), limitOf(limit_usd)]));
  const room = Math.max(10, Math.min(widest, (shell.stdout.isTTY ? shell.stdout.columns : 120) - 40));
  const amount = Math.max(...windows.map(({ spent_usd }) => spent_usd.length));
  return windows
    .map(({ starts_at, spent_usd, limit_usd, closed }) => {
      const spent = microsOf(spent_usd);
      const filled = spent === 0 ? 0 : Math.max(1, Math.round((spent / most) * room));
      const cap = limit_usd == null ? undefined : Math.round((limitOf(limit_usd) / most) * room);
      const isNear = cap !== undefined && spent >= limitOf(limit_usd) * 0.8;
      const line = drawn(filled, cap, room);
      const shown = hasColours(shell) ? paint(line, isNear ? 'red' : 'green') : line;
      const limit = limit_usd == null ? '' : ` of ${limit_usd}`;
      const spentText = cleanText(`${spent_usd.padStart(amount)}${limit}${closed ? '' : ' so far'}`);
      return `${dateOf(starts_at, period)}  ${shown}  ${spentText}`;
    })
    .join('\n');
}

function drawn(filled: number, cap: number | undefined, room: number): string {
  const cells = Array.from({ length: room + 1 }, (_, at) => (at < filled ? bar : ' '));
  if (cap !== undefined) cells[Math.min(room, cap)] = '│';
  return cells.join('');
}

function limitOf(limit: string | null | undefined): number {
  return limit == null ? 0 : microsOf(limit);
}

/**
 * A window starts at local midnight, which in UTC may be the day before. This shift gives the right day, but for the
 * far west.
 */
const sameDayMs = 13 * 3_600_000;

function dateOf(startsAt: string, period: 'day' | 'month'): string {
  const middle = new Date(Date.parse(startsAt) + sameDayMs).toISOString();
  return middle.slice(0, period === 'day' ? 10 : 7);
}
