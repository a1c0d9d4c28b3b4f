import { once } from 'node:events';
import type { ProbeQuestion } from './probe.ts';
import type { ServerProcess } from './server-process.ts';

/** Loads the probe into a server that is started with this environment. */
export const probeEnv = { NODE_OPTIONS: `--import=${new URL('probe.ts', import.meta.url).href}` };

/** Asks the probe in a server that was started with `probeEnv`. */
export async function askProbe<Answer>(server: ServerProcess, question: ProbeQuestion): Promise<Answer> {
  const reply = once(server.child, 'message', { signal: AbortSignal.timeout(60_000) });
  server.child.send(question);
  const [message] = (await reply) as [{ result: Answer } | { error: string }];
  if ('error' in message) throw new Error(`the probe failed: ${message.error}`);
  return message.result;
}
