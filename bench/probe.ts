// Loaded into the gateway for figures that only the process itself has. It does nothing until it is asked.
import { Session } from 'node:inspector';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

export type ProbeQuestion = 'memory' | 'turns-start' | 'turns-stop' | 'profile-start' | 'profile-stop';

/** Measured after a full garbage collection, so that only referenced memory counts. */
export interface ProbeMemory {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
}

/**
 * The longest turns of the event loop, in CPU time of its thread: what other processes take of the machine does not
 * count. The collector's own share does. The kernel adds up CPU time at its ticks, as coarse as 4 ms, so the time that passed
 * bounds it.
 */
export interface ProbeTurns {
  readonly longestMs: number;
  /** Turns of more than five milliseconds. */
  readonly long: number;
}

const longMs = 5;
let turns: { longestMs: number; long: number } | undefined;

function watchTurns(): void {
  const watched = { longestMs: 0, long: 0 };
  turns = watched;
  let before = { cpu: threadMs(), passed: performance.now() };
  const look = () => {
    const now = { cpu: threadMs(), passed: performance.now() };
    const tookMs = Math.min(now.cpu - before.cpu, now.passed - before.passed);
    watched.longestMs = Math.max(watched.longestMs, tookMs);
    if (tookMs > longMs) watched.long++;
    before = now;
    if (turns === watched) setImmediate(look);
  };
  setImmediate(look);
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

let session: Session | undefined;

function ask(method: 'Profiler.enable' | 'Profiler.start' | 'Profiler.stop'): Promise<unknown> {
  session ??= new Session();
  const open = session;
  return new Promise((resolve, reject) => {
    open.post(method, (error: Error | null, result?: object) => (error === null ? resolve(result) : reject(error)));
  });
}

async function answer(question: ProbeQuestion): Promise<unknown> {
  switch (question) {
    case 'memory': {
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc') as () => void;
      collect();
      const { rss, heapUsed, external } = process.memoryUsage();
      return { rss, heapUsed, external } satisfies ProbeMemory;
    }
    case 'turns-start':
      return watchTurns();
    case 'turns-stop': {
      const watched = turns;
      turns = undefined;
      return watched satisfies ProbeTurns | undefined;
    }
    case 'profile-start':
      session = new Session();
      session.connect();
      await ask('Profiler.enable');
      return ask('Profiler.start');
    case 'profile-stop':
      return ask('Profiler.stop');
  }
}

if (isMainThread && process.send !== undefined) {
  process.on('message', (question: ProbeQuestion) => {
    answer(question).then(
      (result) => process.send?.({ result }),
      (error: unknown) => process.send?.({ error: String(error) }),
    );
  });
  process.channel?.unref();
}
