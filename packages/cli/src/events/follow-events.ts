import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamMessage } from '@reeve/contract/events';
import { UnreachableError } from '../http/describe-failure.ts';
import type { GatewayClient } from '../http/gateway-client.ts';
import { ProblemError } from '../http/problem-error.ts';
import { readChunks } from '../http/send.ts';
import { isObject } from '../is-object.ts';
import { SseParser } from './parse-sse.ts';

export interface EventChoice {
  readonly types?: string;
  readonly org_id?: string | undefined;
  readonly agent_id?: string | undefined;
}

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** Called when the stream opens, and when it is lost, with the reason. */
  readonly onConnection: (state: 'live' | 'lost', why?: string) => void;
  /** How long a connection may take. */
  readonly timeoutMs: number;
  /** Whether the gateway has answered before. If so, a failed first connection is retried like any other. */
  readonly wasReached?: boolean;
}

/** The gateway sends something every 15 seconds. After this much silence it is gone. */
const silenceMs = 40_000;
const firstPauseMs = 250;
const longestPauseMs = 10_000;

/**
 * Yields all events until the signal. A lost connection resumes where it ended, so that no event is missed or repeated.
 * A `gap` marks where the gateway could not bridge the outage.
 */
export async function* followEvents(
  client: GatewayClient,
  choice: EventChoice,
  { signal, onConnection, timeoutMs, wasReached = false }: FollowOptions,
): AsyncGenerator<StreamMessage> {
  let since: number | undefined;
  let pauseMs = firstPauseMs;
  for (let wasLive = wasReached; !signal.aborted; ) {
    try {
      const query = { ...choice, since: since === undefined ? undefined : String(since) };
      const { body } = await client.open('eventStream', { query }, { accept: 'text/event-stream', timeoutMs, signal });
      wasLive = true;
      onConnection('live');
      const parser = new SseParser();
      const decoder = new StringDecoder('utf8');
      for await (const chunk of readChunks(body, client.apiUrl, silenceMs)) {
        for (const data of parser.take(decoder.write(chunk))) {
          const message = messageOf(data);
          if (message === undefined) continue;
          pauseMs = firstPauseMs;
          if (message.event_type === 'hello') since ??= message.cursor;
          else if ('id' in message) since = message.id;
          yield message;
        }
      }
      onConnection('lost', 'the gateway has ended the stream');
    } catch (error) {
      if (signal.aborted) return;
      if (!isPassing(error) || !wasLive) throw error;
      onConnection('lost', error instanceof Error ? error.message : String(error));
    }
    await sleep(pauseMs / 2 + Math.random() * pauseMs, undefined, { signal }).catch(() => {});
    pauseMs = Math.min(longestPauseMs, pauseMs * 2);
  }
}

/** Whether a retry may help. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ProblemError) return error.problem.status >= 500 || error.problem.status === 429;
  return error instanceof UnreachableError;
}

function messageOf(data: string): StreamMessage | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return isObject(value) && typeof value['event_type'] === 'string' ? (value as StreamMessage) : undefined;
  } catch {
    return undefined;
  }
}
