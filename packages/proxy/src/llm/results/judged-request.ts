import type { Agent } from '@reeve/sdk';
import type { Dialect } from '../dialect/dialect.ts';
import type { CallIds, GovernOptions } from '../govern-call.ts';
import type { JsonRequest } from '../json-request.ts';
import { parseRequest } from '../json-request.ts';
import type { Upstream } from '../model-config.ts';
import type { ToolMemory } from './judge-tool-messages.ts';
import { judgeToolMessages, ownerOf } from './judge-tool-messages.ts';

export interface RequestJudge {
  readonly agent: Agent;
  readonly context: GovernOptions & {
    readonly toolMemory: ToolMemory;
    readonly failOpen: boolean;
    readonly tell: (line: string) => void;
  };
  readonly ids: CallIds;
  readonly upstream: Upstream;
  readonly gone: AbortSignal;
}

/** The request with what its model may read of the tools that were used. */
export async function judgedRequest(
  { agent, context, ids, upstream, gone }: RequestJudge,
  dialect: Dialect,
  request: JsonRequest,
): Promise<JsonRequest> {
  const messages = dialect.toolMessages(request.value);
  if (messages.length === 0) return request;
  const { traceId, runId, subjectToken } = ids;
  const how = { via: { door: 'model', name: upstream.name }, waitMs: context.approvalWaitMs, signal: gone } as const;
  const body = await judgeToolMessages(request, messages, {
    agent,
    memory: context.toolMemory,
    whenAway: context.failOpen
      ? (why) => context.tell(`fail-open: messages of tools go on unjudged. ${why}`)
      : undefined,
    options: { traceId, runId, subjectToken, ...how },
  });
  return body === request.body ? request : parseRequest(body);
}

/** Keeps the calls that an answer asks for, for requests that do not repeat them. */
export function noteCalls({ calls }: ToolMemory, agent: Agent, dialect: Dialect, answer: unknown): void {
  for (const [id, call] of dialect.askedIn?.(answer) ?? []) calls.remember(ownerOf(agent), id, call);
}
