import { othersLine } from './calm-rounds.ts';
import type { Bar } from './picture.ts';
import { barPicture } from './picture.ts';
import type { Figures } from './rounds.ts';
import { sum } from './statistics.ts';
import { count, duration, fixed, megabytes, ratio, textTable } from './table.ts';
import type { ThroughputRow } from './throughput.ts';

/** The most that governing may cost, relative to the bare transport. */
const aim = 1.3;

export function throughputTable(rows: readonly ThroughputRow[]): string {
  const header = ['', 'decisions/s', 'p50', 'p99', 'p99.9', 'CPU µs/decision', 'RSS', 'audit entries/s'];
  const cells = (name: string, figures: Figures, audit: string) => [
    name,
    count(figures.perSecond),
    duration(figures.p50Micros),
    duration(figures.p99Micros),
    duration(figures.p999Micros),
    fixed(figures.cpuMicros),
    megabytes(figures.rssBytes),
    audit,
  ];
  const body = rows.flatMap((row, index) => [
    ...(index === 0 ? [] : [null]),
    cells(row.shape.name, row.gateway, count(row.gateway.auditPerSecond)),
    cells('  bare echo', row.echo, ''),
  ]);
  return textTable(header, body);
}

/** The main figures: how the gateway compares with the transport's own ceiling. */
export function ratioTable(rows: readonly ThroughputRow[]): string {
  const body = rows.map(({ shape, cpuRatio, quietCpuRatio, throughputRatio, gateway, echo }) => [
    shape.name,
    ratio(cpuRatio),
    `${fixed(quietCpuRatio, 2)}×`,
    `${cpuRatio.median > 1 ? '+' : ''}${fixed((cpuRatio.median - 1) * 100, 0)} %`,
    `${gateway.cpuMicros > echo.cpuMicros ? '+' : ''}${fixed(gateway.cpuMicros - echo.cpuMicros)} µs`,
    ratio(throughputRatio),
    cpuRatio.median <= aim ? 'met' : 'missed',
  ]);
  const header = ['gateway over bare echo', 'CPU', 'quietest', 'over', 'governing', 'decisions/s', `aim ≤ ${aim}×`];
  return textTable(header, body);
}

/** How much others used the machine. */
export function noiseLines(rows: readonly ThroughputRow[]): string {
  const others = rows.map(({ gateway, echo }) => Math.max(gateway.othersCores, echo.othersCores));
  const load = rows.map(({ gateway }) => (gateway.loadCpuMicros * gateway.perSecond) / 1e6);
  return [
    othersLine(others, sum(rows.map(({ leftOut }) => leftOut))),
    `The load process was busy for at most ${fixed(Math.max(...load) * 100, 0)} % of its core.`,
  ].join('\n');
}

export function throughputPicture(rows: readonly ThroughputRow[]): string {
  const groups = rows.map(({ shape, gateway, echo, cpuRatio }) => ({
    label: shape.name,
    bars: [
      { series: 0, value: gateway.cpuMicros, text: `${fixed(gateway.cpuMicros)} µs · ${fixed(cpuRatio.median, 2)}×` },
      { series: 1, value: echo.cpuMicros, text: `${fixed(echo.cpuMicros)} µs` },
    ] satisfies Bar[],
  }));
  return barPicture({
    title: 'CPU of the server per decision',
    subtitle: 'Gateway against an echo of the same messages on the bare gRPC library; shorter is better',
    series: ['gateway', 'bare echo'],
    groups,
  });
}
