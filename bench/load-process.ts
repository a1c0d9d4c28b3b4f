import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { spawnTracked } from './children.ts';
import { onCore } from './cores.ts';
import type { JobResults, LoadJob } from './load-protocol.ts';

/** The process that generates load, pinned to its own core. */
export interface LoadProcess {
  run<Kind extends LoadJob['kind']>(job: Extract<LoadJob, { kind: Kind }>): Promise<JobResults[Kind]>;
  stop(): Promise<void>;
}

type Reply = { readonly result: unknown } | { readonly error: string };

/** The longest time for one job: registering a hundred thousand agents on a slow machine, with a margin. */
const longestJobMs = 30 * 60_000;

export function startLoad(core: number | undefined): LoadProcess {
  const worker = fileURLToPath(new URL('load-worker.ts', import.meta.url));
  const child = spawnTracked(onCore(core, [process.execPath, worker]), {}, ['ignore', 'inherit', 'inherit', 'ipc']);
  return {
    run: async <Kind extends LoadJob['kind']>(job: Extract<LoadJob, { kind: Kind }>) => {
      const over = new AbortController();
      const signal = AbortSignal.any([over.signal, AbortSignal.timeout(longestJobMs)]);
      child.send(job);
      const reply = await Promise.race([
        once(child, 'message', { signal }).then(([message]) => message as Reply),
        once(child, 'exit', { signal }).then((): Reply => ({ error: 'the load process has ended' })),
      ]);
      over.abort();
      if ('error' in reply) throw new Error(`${job.kind}: ${reply.error}`);
      return reply.result as JobResults[Kind];
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
