/** A part of a text, from its first character up to the one after its last. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Ranges in order, with those that overlap joined. */
export function joined<Each extends Range>(ranges: readonly Each[]): Each[] {
  const all: Each[] = [];
  for (const range of ranges.toSorted((one, other) => one.start - other.start || other.end - one.end)) {
    const last = all.at(-1);
    if (last === undefined || range.start >= last.end) all.push(range);
    else if (range.end > last.end) all[all.length - 1] = { ...last, end: range.end };
  }
  return all;
}

/** The text with each of these parts replaced. The parts are in order and do not overlap. */
export function replaceRanges<Each extends Range>(
  text: string,
  ranges: readonly Each[],
  replacement: (range: Each) => string,
): string {
  let replaced = '';
  let at = 0;
  for (const range of ranges) {
    replaced += text.slice(at, range.start) + replacement(range);
    at = range.end;
  }
  return replaced + text.slice(at);
}
