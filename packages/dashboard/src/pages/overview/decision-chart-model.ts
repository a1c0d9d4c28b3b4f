import type { Answer } from '../../api/send.ts';

export type Minute = Answer<'decisionStats'>['minutes'][number];

export const outcomes = ['allow', 'pending', 'deny'] as const;
export type Outcome = (typeof outcomes)[number];

export interface Bar {
  readonly minute: Minute;
  /** Parts from the bottom up, in units of the chart's height. */
  readonly parts: readonly { readonly outcome: Outcome; readonly from: number; readonly height: number }[];
}

export interface Chart {
  /** One bar per known minute, from the left. Minutes before the gateway started are missing on that side. */
  readonly bars: readonly Bar[];
  /** How many minutes on the left are unknown. */
  readonly unknown: number;
  /** The value at the top of the chart. */
  readonly top: number;
}

const minuteMs = 60_000;

/**
 * Bars for each minute of the span up to now, scaled to a round number at the top. A minute without a report had no
 * decision, unless the gateway had not started by then.
 */
export function chartOf(minutes: readonly Minute[], since: number, now: number, span: number): Chart {
  const last = Math.floor(now / minuteMs);
  const first = Math.max(last - span + 1, Math.floor(since / minuteMs));
  const told = new Map(minutes.map((minute) => [Math.floor(Date.parse(minute.at) / minuteMs), minute]));
  const shown = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => {
    const at = first + index;
    return told.get(at) ?? { at: new Date(at * minuteMs).toISOString(), allow: 0, deny: 0, pending: 0 };
  });
  const top = roundUp(Math.max(1, ...shown.map(totalOf)));
  const bars = shown.map((minute) => {
    let from = 0;
    const parts = outcomes.map((outcome) => {
      const part = { outcome, from, height: minute[outcome] / top };
      from += part.height;
      return part;
    });
    return { minute, parts };
  });
  return { bars, unknown: span - shown.length, top };
}

export function totalOf({ allow, deny, pending }: Pick<Minute, Outcome>): number {
  return allow + deny + pending;
}

export function sumOf(minutes: readonly Minute[]): Readonly<Record<Outcome, number>> {
  const sum = { allow: 0, pending: 0, deny: 0 };
  for (const minute of minutes) for (const outcome of outcomes) sum[outcome] += minute[outcome];
  return sum;
}

/** The next of 1, 2, 5, 10, 20, 50 … */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10);
}
