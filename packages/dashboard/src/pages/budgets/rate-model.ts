interface Counted {
  readonly actions: readonly string[] | null;
  readonly tools: readonly string[] | null;
}

/** What a rate counts. */
export function countedWords({ actions, tools }: Counted): string {
  return (
    [...(actions ?? []).map((action) => action.replaceAll('_', ' ')), ...(tools ?? [])].join(', ') || 'every action'
  );
}

/** The length of a window, in the largest unit that it fills. */
export function windowWords(secs: number): string {
  if (secs % 3600 === 0) return `${secs / 3600} h`;
  return secs % 60 === 0 ? `${secs / 60} min` : `${secs} s`;
}

/** The fullest first. */
export function nearestFirst<Rate extends { readonly count: number; readonly max: number }>(
  rates: readonly Rate[],
): readonly Rate[] {
  return rates.toSorted((one, other) => other.count / other.max - one.count / one.max);
}
