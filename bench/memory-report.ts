import type { MemoryResult } from './memory.ts';
import { linePicture } from './picture.ts';
import { count, fixed, megabytes, textTable } from './table.ts';

export function memoryTable(result: MemoryResult): string {
  const body = result.samples.map((sample) => [
    count(sample.decisions),
    megabytes(sample.heapUsed),
    megabytes(sample.rss),
    megabytes(sample.databaseBytes),
    megabytes(sample.walBytes),
    sample.perSecond === 0 ? '' : count(sample.perSecond),
  ]);
  const lines = [
    textTable(['decisions', 'heap in use', 'RSS', 'database', 'write-ahead log', 'decisions/s'], body),
    '',
    `Growth per decision over the later four fifths: heap ${fixed(result.heapPerDecision, 2)} bytes, RSS ${fixed(result.rssPerDecision, 2)} bytes, disk ${fixed(result.diskPerDecision, 0)} bytes.`,
  ];
  if (result.stopped !== undefined)
    lines.push(`Stopped after ${count(result.decisions)} decisions: ${result.stopped}.`);
  return lines.join('\n');
}

export function memoryPicture(result: MemoryResult): string {
  const line = (name: string, bytes: (sample: MemoryResult['samples'][number]) => number) => ({
    name,
    points: result.samples.map((sample) => ({ x: sample.decisions, y: bytes(sample) })),
  });
  return linePicture({
    title: `Memory of the gateway over ${count(result.decisions)} decisions`,
    subtitle: 'After a full collection, with operations that are over swept; one in ten is allowed and completed',
    xLabel: (decisions) => (decisions >= 1e6 ? `${fixed(decisions / 1e6)} M` : count(decisions)),
    yLabel: megabytes,
    lines: [line('heap in use', (sample) => sample.heapUsed), line('RSS', (sample) => sample.rss)],
  });
}
