// Loaded into the gateway for figures that only the process itself has. It does nothing until it is asked.
import { Session } from 'node:inspector';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

export type ProbeQuestion = 'memory' | 'profile-start' | 'profile-stop';

/** Measured after a full garbage collection, so that only referenced memory counts. */
export interface ProbeMemory {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
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
