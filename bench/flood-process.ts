import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { spawnTracked } from './children.ts';
import { onCore } from './cores.ts';
import type { FloodJob, FloodResult } from './flooder.ts';

/** The process of the attacker. */
export interface FloodProcess {
  run(job: FloodJob): Promise<FloodResult>;
  stop(): Promise<void>;
}

/** A command that gives way to others on its core. */
export function givingWay(command: readonly string[]): readonly string[] {
  return ['nice', '-n', '19', ...command];
}

/** Starts the attacker. It shares the core of the load, and gives way to it. */
export function startFlood(core: number | undefined): FloodProcess {
  const program = fileURLToPath(new URL('flooder.ts', import.meta.url));
  const command = onCore(core, givingWay([process.execPath, program]));
  const child = spawnTracked(command, {}, ['ignore', 'inherit', 'inherit', 'ipc']);
  return {
    run: async (job) => {
      child.send(job);
      const [reply] = (await once(child, 'message')) as [{ result: FloodResult } | { error: string }];
      if ('error' in reply) throw new Error(`${job.attack}: ${reply.error}`);
      return reply.result;
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
