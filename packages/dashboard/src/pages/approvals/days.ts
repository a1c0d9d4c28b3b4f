export type Days = 'today' | 'yesterday' | 'week';

/** Whole days of the viewer, as bounds that are both part of the span. Today has no end yet. */
export function spanOf(days: Days, now: Date): { readonly from: string; readonly to: string | undefined } {
  const midnight = (before: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - before);
  const from = midnight({ today: 0, yesterday: 1, week: 6 }[days]).toISOString();
  return { from, to: days === 'yesterday' ? new Date(midnight(0).getTime() - 1).toISOString() : undefined };
}
