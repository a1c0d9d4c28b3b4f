import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { readText, send } from '../../http/send.ts';
import { pause } from '../demo-agent.ts';
import type { DoorPlace } from './door-process.ts';
import { DoorProcess } from './door-process.ts';
import { startModelUpstream } from './model-upstream.ts';

/** The calls of the agent, each repeated by a worker of its own. */
const calls = [
  { path: '/v1/chat/completions', body: { model: 'gpt-5-mini', max_completion_tokens: 800 } },
  { path: '/v1/messages', body: { model: 'sonnet-4', max_tokens: 1000 } },
] as const;
const silenceMs = 60_000;

/** An agent whose model calls go through `reeve llm serve`, to a provider on this machine. */
export async function callModels(place: DoorPlace, token: string, signal: AbortSignal): Promise<void> {
  const upstream = await startModelUpstream();
  const config = join(place.folder, 'models.yaml');
  const entry = (kind: string, models: string) => ({ name: kind, kind, base_url: upstream.url, models: [models] });
  writeFileSync(config, JSON.stringify({ upstreams: [entry('openai', 'gpt-*'), entry('anthropic', 'sonnet-*')] }));
  const serve = ['llm', 'serve', '--config', config, '--http', '127.0.0.1:0'];
  const proxy = new DoorProcess(['demo-part', 'until-input-ends', ...serve], place);
  const end = () => void proxy.end();
  signal.addEventListener('abort', end);
  try {
    const http = await Promise.race([listeningAt(proxy), proxy.failed()]);
    const calling = calls.map(({ path, body }) => keepCalling(`${http}${path}`, token, body, signal));
    await Promise.race([Promise.all(calling), proxy.failed()]);
  } finally {
    signal.removeEventListener('abort', end);
    await proxy.end();
    upstream.close();
  }
}

async function listeningAt({ stdout }: DoorProcess): Promise<string> {
  for await (const line of createInterface({ input: stdout })) return (JSON.parse(line) as { http: string }).http;
  throw new Error('the model proxy does not say where it listens');
}

async function keepCalling(url: string, token: string, asked: object, signal: AbortSignal): Promise<void> {
  const messages = [{ role: 'user', content: 'How do we answer a customer who waits for a refund?' }];
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ ...asked, messages, stream: true });
  for (let call = 0; !signal.aborted; call++) {
    try {
      const run = { 'x-reeve-run-id': `campaign-${Math.floor(call / 5)}` };
      const request = { method: 'POST', url, headers: { ...headers, ...run }, body, timeoutMs: silenceMs, signal };
      await readText(await send(request), silenceMs);
    } catch {
      // An operator stopped the call, or the demo is over.
    }
    await pause(2 + Math.random() * 3, signal);
  }
}
