import { barPicture } from './picture.ts';
import type { ScalingRow } from './scaling.ts';
import { count, duration, fixed, megabytes, ratio, textTable } from './table.ts';

/** Ratios of a gateway that is large in one respect to a small one. */
export function scalingTable(rows: readonly ScalingRow[]): string {
  const body = rows.map((row) => [
    row.name,
    ratio(row.cpuRatio),
    `${fixed(row.quietCpuRatio, 2)}×`,
    fixed(row.figures.cpuMicros),
    fixed(row.baseline.cpuMicros),
    count(row.figures.perSecond),
    duration(row.figures.p99Micros),
    megabytes(row.figures.rssBytes),
    `${fixed(row.setupSecs)} s`,
  ]);
  const header = [
    'grown in',
    'CPU over small',
    'quietest',
    'CPU µs/decision',
    'small',
    'decisions/s',
    'p99 of a batch',
    'RSS',
    'registering took',
  ];
  return textTable(header, body);
}

export function scalingPicture(rows: readonly ScalingRow[]): string {
  return barPicture({
    title: 'CPU per decision of a large gateway, as a multiple of a small one',
    subtitle: 'Small: 100 agents, 10 orgs, 1 policy document. Each bar is grown in one respect only',
    series: ['large over small'],
    groups: rows.map(({ name, cpuRatio }) => ({
      label: name,
      bars: [{ series: 0, value: cpuRatio.median, text: ratio(cpuRatio), range: cpuRatio }],
    })),
    mark: { value: 1, text: '1.00×: no growth' },
  });
}
