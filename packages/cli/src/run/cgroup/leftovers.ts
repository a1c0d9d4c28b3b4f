import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { processEntry } from '../kernel/process-table.ts';
import { killerOf, removeGroup } from './group-files.ts';

const pattern = /^reeve-run-(\d+)-(\d+)-(\d+)(?:-keeper)?$/;

/** The name of this run's groups: by its number, its start, and the namespace in which these count. */
export function nameOfRun(): string {
  return `reeve-run-${namespaceOfNumbers()}-${process.pid}-${processEntry(process.pid)?.start ?? 0}`;
}

/** Takes away what a run that was killed has left below a group. */
export function removeLeftovers(folder: string): void {
  for (const name of namesIn(folder)) {
    const [, namespace, pid, start] = pattern.exec(name) ?? [];
    if (namespace !== namespaceOfNumbers() || processEntry(Number(pid))?.start === start) continue;
    killerOf(join(folder, name))();
    removeGroup(join(folder, name));
  }
}

function namespaceOfNumbers(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
