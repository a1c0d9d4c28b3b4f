import type { UpstreamConnections } from './call-upstream.ts';
import { upstreamFor } from './model-call.ts';
import type { Upstream } from './model-config.ts';
import { Refusal } from './refusal.ts';
import { upstreamPath } from './upstream-path.ts';
import { modelsPath } from './routes.ts';

interface Model {
  readonly id: string;
}

const largestList = 4 * 1024 * 1024;

/** The models that can be called: those that an upstream has and that the file lets it serve. */
export async function listModels(
  upstreams: readonly Upstream[],
  connections: UpstreamConnections,
  signal: AbortSignal,
): Promise<{ object: 'list'; data: readonly Model[] }> {
  const asked = upstreams.filter(({ kind }) => kind === 'openai');
  if (asked.length === 0) throw new Refusal('unknown_url', 'no upstream of the kind openai is configured');
  const lists = await Promise.allSettled(asked.map((upstream) => modelsOf(upstream, connections, signal)));
  if (lists.every(({ status }) => status === 'rejected')) {
    throw new Refusal('upstream_unavailable', 'no upstream tells its models');
  }
  const data = lists.flatMap((list, at) => {
    const own = list.status === 'fulfilled' ? list.value : [];
    return own.filter(({ id }) => upstreamFor(upstreams, 'openai', id) === asked[at]);
  });
  return { object: 'list', data };
}

async function modelsOf(
  upstream: Upstream,
  connections: UpstreamConnections,
  signal: AbortSignal,
): Promise<readonly Model[]> {
  const authorization = upstream.apiKey === undefined ? {} : { authorization: `Bearer ${upstream.apiKey}` };
  const send = connections.prepare(upstream, {
    method: 'GET',
    path: upstreamPath(upstream, modelsPath, ''),
    headers: {
      host: upstream.baseUrl.host,
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...authorization,
    },
  });
  const answer = await send(undefined, signal);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > largestList) throw new Error('the list is too long');
    chunks.push(chunk);
  }
  if (answer.statusCode !== 200) throw new Error(`the upstream answered ${answer.statusCode}`);
  const { data } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { data?: unknown };
  if (!Array.isArray(data)) throw new Error('the list has no data');
  return data.filter((model: unknown): model is Model => typeof (model as Partial<Model> | null)?.id === 'string');
}
