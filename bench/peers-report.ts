import { othersLine } from './calm-rounds.ts';
import type { PeerCell, PeerColumn, PeersResult } from './peers.ts';
import { peerColumns } from './peers.ts';
import type { Bar } from './picture.ts';
import { barPicture } from './picture.ts';
import { count, duration, fixed, ratio, textTable } from './table.ts';

export function peersText(result: PeersResult): string {
  return [...peerColumns.map((column) => columnTable(result, column)), noiseLine(result)].join('\n\n');
}

function columnTable({ base, rows }: PeersResult, { key, title }: PeerColumn): string {
  const header = [`${key}: ${title}`, 'CPU µs/call', 'range', 'p50', 'p99', 'calls/s', `CPU over ${base}`];
  const first = rows.findIndex(({ decides }) => decides);
  const body = rows.map(({ name, absent, cells }) => {
    const cell = cells[key];
    return cell === undefined ? [name, absent ?? 'not measured'] : [name, ...cellTexts(cell)];
  });
  return textTable(header, [...body.slice(0, first), null, ...body.slice(first)]);
}

function cellTexts(cell: PeerCell): string[] {
  return [
    fixed(cell.cpuMicros),
    `${fixed(cell.cpuSpread.least)}–${fixed(cell.cpuSpread.most)}`,
    duration(cell.p50Micros),
    duration(cell.p99Micros),
    count(cell.perSecond),
    cell.toFirst === undefined ? '–' : ratio(cell.toFirst),
  ];
}

/** How much others used the machine, and whether the load process held the servers back. */
function noiseLine({ rows, leftOut }: PeersResult): string {
  const cells = rows.flatMap((row) => Object.values(row.cells));
  const others = cells.map(({ othersCores }) => othersCores);
  const load = Math.max(...cells.map(({ loadCpuMicros, perSecond }) => (loadCpuMicros * perSecond) / 1e6), 0);
  return [
    othersLine(others, leftOut),
    `The load process was busy for at most ${fixed(load * 100, 0)} % of its core.`,
  ].join('\n');
}

export function peersPicture({ rows }: PeersResult): string {
  const groups = rows
    .filter(({ cells }) => Object.keys(cells).length > 0)
    .map(({ name, cells }) => ({
      label: name,
      bars: peerColumns.flatMap(({ key }, series): Bar[] => {
        const cell = cells[key];
        if (cell === undefined) return [];
        return [{ series, value: cell.cpuMicros, text: `${fixed(cell.cpuMicros)} µs`, range: cell.cpuSpread }];
      }),
    }));
  return barPicture({
    title: 'CPU of the server per call',
    subtitle: 'Bare echoes, and servers that decide by one rule with a condition; shorter is better',
    series: peerColumns.map(({ key, title }) => `${key}: ${title}`),
    groups,
  });
}
