import type { StartResult, StartRow } from './start.ts';
import { count, fixed, megabytes, ratio, textTable } from './table.ts';

/** The most CPU that a start may take with 300,000 operations. */
const promisedSecs = 3;
const promisedFor = 300_000;

export function startTable({ found, rows }: StartResult): string {
  const [empty] = rows;
  const each = (row: StartRow, weight: (row: StartRow) => number) =>
    empty === undefined || row === empty ? '' : `${count((weight(row) - weight(empty)) / found)} B`;
  const isKept = ({ cpuSecs }: StartRow) => (cpuSecs.median < promisedSecs ? 'kept' : 'NOT KEPT');
  const body = rows.map((row) => [
    row === empty ? row.name : `${count(found)} ${row.name}`,
    `${fixed(row.cpuSecs.median, 2)} s`,
    `${fixed(row.cpuSecs.least, 2)} s`,
    ratio(row.overEmpty),
    `${fixed(row.wallSecs.median, 2)} s`,
    megabytes(row.rssBytes.median),
    each(row, ({ rssBytes }) => rssBytes.median),
    each(row, ({ heapBytes }) => heapBytes),
    `${fixed(row.turns.longestMs)} ms`,
    count(row.turns.long),
    found === promisedFor && row !== empty ? isKept(row) : '',
  ]);
  const header = ['a start finds', 'CPU', 'least', 'over none', 'wall', 'RSS', 'RSS each', 'heap each'];
  return textTable([...header, 'longest turn', 'over 5 ms', `under ${promisedSecs} s`], body);
}
