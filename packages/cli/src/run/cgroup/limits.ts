/** What a program may use at most. */
export interface Limits {
  /** In bytes. */
  readonly memory?: number | undefined;
  /** Processes and threads. */
  readonly pids?: number | undefined;
  /** Processors; may be a fraction. */
  readonly cpus?: number | undefined;
}

export const limitNames = ['memory', 'pids', 'cpus'] as const;
export type LimitName = (typeof limitNames)[number];

/** What to write to which file of the kernel. A file that may be missing counts where it is there. */
export interface Setting {
  readonly file: string;
  readonly value: string;
  /** What is no limit. Left out where a limit does no harm before the program runs. */
  readonly open?: string;
  readonly mayBeMissing?: true;
}

export const controllers: Readonly<Record<LimitName, string>> = { memory: 'memory', pids: 'pids', cpus: 'cpu' };

const periodUs = 100_000;

/** How a limit is set, in each version. */
export function settingsOf(name: LimitName, value: number, version: 1 | 2): readonly Setting[] {
  const text = String(value);
  switch (name) {
    case 'memory':
      // What is swapped out counts as well: a limit of memory that swapping evades is none.
      return version === 2
        ? [
            { file: 'memory.max', value: text, open: 'max' },
            { file: 'memory.swap.max', value: '0', mayBeMissing: true },
          ]
        : [
            { file: 'memory.limit_in_bytes', value: text, open: '-1' },
            { file: 'memory.memsw.limit_in_bytes', value: text, open: '-1', mayBeMissing: true },
          ];
    case 'pids':
      // The first process of the namespace is not the program's.
      return [{ file: 'pids.max', value: String(value + 1), open: 'max' }];
    case 'cpus': {
      const quota = String(Math.round(value * periodUs));
      return version === 2
        ? [{ file: 'cpu.max', value: `${quota} ${periodUs}` }]
        : [
            { file: 'cpu.cfs_period_us', value: String(periodUs) },
            { file: 'cpu.cfs_quota_us', value: quota },
          ];
    }
  }
}
