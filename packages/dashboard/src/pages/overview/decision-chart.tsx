import { formatCount } from '../../api/format.ts';
import { useNow } from '../../ui/now.ts';
import { Time } from '../../ui/time.tsx';
import type { Minute, Outcome } from './decision-chart-model.ts';
import { chartOf, totalOf } from './decision-chart-model.ts';

const span = 60;
const fills: Readonly<Record<Outcome, string>> = { allow: 'fill-ok', pending: 'fill-warn', deny: 'fill-danger' };

/** A bar for each of the last minutes. A table with the same numbers follows for screen readers. */
interface DecisionChartProps {
  readonly minutes: readonly Minute[];
  /** When the gateway started counting. */
  readonly since: string;
}

export function DecisionChart({ minutes, since }: DecisionChartProps) {
  const { bars, unknown, top } = chartOf(minutes, Date.parse(since), useNow(10_000), span);
  return (
    <figure className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2 gap-y-1">
      <div className="flex flex-col justify-between text-right text-xs text-muted" aria-hidden="true">
        <span>{formatCount(top)}</span>
        <span>0</span>
      </div>
      <svg
        viewBox={`0 0 ${span} 1`}
        preserveAspectRatio="none"
        role="img"
        aria-label="Decisions per minute"
        className="h-40 w-full min-w-0 border-y"
      >
        {unknown === 0 ? null : <rect x={0} y={0} width={unknown} height={1} className="fill-sunken" />}
        {bars.map(({ minute, parts }, index) => (
          <g key={minute.at}>
            {parts.map(({ outcome, from, height }) =>
              height === 0 ? null : (
                <rect
                  key={outcome}
                  x={unknown + index + 0.12}
                  width={0.76}
                  y={1 - from - height}
                  height={height}
                  className={fills[outcome]}
                />
              ),
            )}
            <rect x={unknown + index} y={0} width={1} height={1} className="fill-transparent">
              <title>{`${new Date(minute.at).toLocaleTimeString()}: ${minute.allow} allowed, ${minute.deny} denied, ${minute.pending} held`}</title>
            </rect>
          </g>
        ))}
      </svg>
      <figcaption className="col-start-2 flex justify-between text-xs text-muted">
        <span>{unknown > 0 ? 'grey: before the gateway started' : 'an hour ago'}</span>
        <span>now</span>
      </figcaption>
      <table className="sr-only">
        <caption>Decisions per minute</caption>
        <thead>
          <tr>
            <th scope="col">Minute</th>
            <th scope="col">Allowed</th>
            <th scope="col">Denied</th>
            <th scope="col">Held for approval</th>
          </tr>
        </thead>
        <tbody>
          {minutes
            .filter((minute) => totalOf(minute) > 0)
            .map((minute) => (
              <tr key={minute.at}>
                <th scope="row">
                  <Time at={minute.at} form="clock" />
                </th>
                <td>{minute.allow}</td>
                <td>{minute.deny}</td>
                <td>{minute.pending}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </figure>
  );
}
