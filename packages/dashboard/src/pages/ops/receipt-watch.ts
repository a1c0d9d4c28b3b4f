import type { Control } from './op.ts';
import { isUnderWay } from './receipt.ts';

/**
 * How long to wait before reading a receipt again. No event reports its progress, so the page polls: often while the
 * answer is due, rarely if only a late answer is left to come.
 */
export function delayOf(control: Control, now: number): number {
  if (!isUnderWay(control)) return 10_000;
  const age = now - Date.parse(control.requested_at);
  return age < 5000 ? 400 : age < 30_000 ? 1000 : 3000;
}

/** The receipts to read now, longest wait first. */
export function dueReceipts(
  controls: Iterable<Control>,
  readAt: ReadonlyMap<string, number>,
  now: number,
  most: number,
): readonly Control[] {
  const due: { readonly control: Control; readonly since: number }[] = [];
  for (const control of controls) {
    if (control.status === 'effective') continue;
    const since = readAt.get(control.id) ?? 0;
    if (now - since >= delayOf(control, now)) due.push({ control, since });
  }
  return due
    .toSorted((a, b) => a.since - b.since)
    .slice(0, most)
    .map(({ control }) => control);
}
