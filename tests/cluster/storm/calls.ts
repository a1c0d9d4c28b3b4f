import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceError } from '@grpc/grpc-js';
import type { Chance } from '../../trust/chance.ts';
import { bootstrapKey } from '../../harness/gateway.ts';
import type { Codec } from '../../harness/grpc-client.ts';
import type { Cluster } from './cluster.ts';
import type { ClusterNode } from './node.ts';
import type { Notes } from './notes.ts';

/** Nobody knows whether the request was heard. */
export class Unknown extends Error {}

/** A definite no. */
export class Refusal extends Error {}

export interface HttpReply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const deadlineMs = 2500;
/** Much longer than any trouble lasts. */
const patienceMs = 120_000;
/** Statuses that tell what became of the call: it was judged, and refused. */
const refusals = new Set([3, 5, 6, 7, 9, 16]);

/** Sends a call to one gateway. */
export async function rpc<Request, Response>(
  node: ClusterNode,
  path: string,
  codecs: readonly [Codec<Request>, Codec<Response>],
  message: Request,
): Promise<Response> {
  try {
    const options = { deadlineMs, authorization: `Bearer ${bootstrapKey}` };
    return await node.gateway.client.call(path, ...codecs, message, options);
  } catch (error) {
    const { code, message: text } = error as ServiceError;
    if (refusals.has(code)) throw new Refusal(text);
    throw new Unknown(text);
  }
}

export async function http(
  node: ClusterNode,
  method: string,
  path: string,
  json?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpReply> {
  try {
    const response = await fetch(`${node.http}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${bootstrapKey}`,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      signal: AbortSignal.timeout(deadlineMs),
    });
    if (response.status >= 500) throw new Unknown(await response.text());
    const text = await response.text();
    return { status: response.status, body: JSON.parse(text === '' ? '{}' : text) as HttpReply['body'] };
  } catch (error) {
    throw error instanceof Unknown ? error : new Unknown(`${method} ${path}: ${String(error)}`);
  }
}

/** Asks a gateway, and others after it, until one of them answers: as an SDK would. */
export async function anywhere<Result>(
  cluster: Pick<Cluster, 'nodes'>,
  chance: Chance,
  notes: Pick<Notes, 'unknown' | 'lastUnknown'>,
  call: (node: ClusterNode) => Promise<Result>,
): Promise<Result> {
  const endsAt = performance.now() + patienceMs;
  for (let nth = chance.below(cluster.nodes.length); ; nth++) {
    const node = cluster.nodes[nth % cluster.nodes.length];
    if (node === undefined) throw new Error('there is no gateway');
    try {
      return await call(node);
    } catch (error) {
      if (!(error instanceof Unknown) || performance.now() > endsAt) throw error;
      notes.unknown++;
      notes.lastUnknown = `${node.name}: ${error.message}`;
      await sleep(chance.between(10, 100));
    }
  }
}
