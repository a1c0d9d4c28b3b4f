import { isDeepStrictEqual } from 'node:util';
import { createHash } from 'node:crypto';
import type { Agent, RunOptions } from '@reeve/sdk';
import { ActionDeniedError, ReeveInvalidRequest, ResultDenied } from '@reeve/sdk';
import type { JsonRequest } from '../json-request.ts';
import { Refusal } from '../refusal.ts';
import { refusalOf } from '../refusal-of.ts';
import type { OwnedMemory } from './owned-memory.ts';
import { replacedIn } from './replaced-in.ts';
import type { AskedTool, ToolMessage } from './tool-message.ts';

/** What a model may read of a tool message: what it was, or something else. */
export type Verdict = { readonly content: unknown } | 'as_it_is';

/** What is known of the messages that agents send again and again, and of the calls that they answer. */
export interface ToolMemory {
  readonly verdicts: OwnedMemory<Verdict>;
  readonly calls: OwnedMemory<AskedTool>;
}

export interface JudgeMessages {
  readonly agent: Agent;
  readonly memory: ToolMemory;
  /** Hears that messages pass unjudged because no gateway answers. Undefined if none may. */
  readonly whenAway: ((this: void, why: string) => void) | undefined;
  readonly options: Pick<RunOptions, 'runId' | 'subjectToken' | 'via' | 'waitMs' | 'signal' | 'traceId'>;
}

/** Checks of one request at once. */
const mostAtOnce = 16;
/** Each may be a check. */
const mostMessages = 4096;

/**
 * Has judged what tools brought back, before a model reads it: each message once for an agent, its run and its user. The
 * call is the one that the model asked for. Returns the body with what may be read.
 */
export async function judgeToolMessages(
  request: JsonRequest,
  messages: readonly ToolMessage[],
  judge: JudgeMessages,
): Promise<Buffer> {
  if (messages.length > mostMessages) {
    throw new Refusal('invalid_request', `the request has more than ${mostMessages} messages of tools`);
  }
  // Whoever is free takes the next one.
  const left = messages.values();
  const replaced: { path: ToolMessage['path']; content: unknown }[] = [];
  const hearing = hearingOnce(judge);
  const judgeNext = async () => {
    for (const message of left) {
      const verdict = await verdictOn(message, hearing);
      if (verdict !== 'as_it_is') replaced.push({ path: message.path, content: verdict.content });
    }
  };
  await Promise.all(Array.from({ length: Math.min(mostAtOnce, messages.length) }, judgeNext));
  return replaced.length === 0 ? request.body : replacedIn(request, replaced);
}

interface Hearing extends JudgeMessages {
  readonly isAway: boolean;
}

/** Who knows that no gateway answers does not ask again for the same request. */
function hearingOnce(judge: JudgeMessages): Hearing {
  const { whenAway } = judge;
  const hearing = { ...judge, isAway: false };
  if (whenAway === undefined) return hearing;
  hearing.whenAway = (why) => {
    if (!hearing.isAway) whenAway(why);
    hearing.isAway = true;
  };
  return hearing;
}

async function verdictOn(message: ToolMessage, judge: Hearing): Promise<Verdict> {
  const { agent, memory, options } = judge;
  const owner = ownerOf(agent);
  const known = message.callId === undefined ? undefined : memory.calls.find(owner, message.callId);
  const call = message.call ?? known;
  const digest = digestOf(options.runId, options.subjectToken, call, message.content, message.isError);
  const before = memory.verdicts.find(owner, digest);
  if (before !== undefined) return before;
  if (call === undefined || call.name === '') {
    return { content: message.denied('Denied by policy: this answers no call of a tool that is known here') };
  }
  if (judge.isAway) return 'as_it_is';
  const { verdict, isFinal } = await judged(message, call, judge);
  if (isFinal) memory.verdicts.remember(owner, digest, verdict);
  return verdict;
}

export function ownerOf({ id: { orgId, teamId, agentId } }: Agent): string {
  return JSON.stringify([orgId, teamId, agentId]);
}

async function judged(
  { content, isError, denied }: ToolMessage,
  { name, args }: AskedTool,
  { agent, options, whenAway }: JudgeMessages,
): Promise<{ readonly verdict: Verdict; readonly isFinal: boolean }> {
  let verdict: Verdict = 'as_it_is';
  try {
    await agent.run(
      { tool: name, source: 'model', args },
      async (operation) => {
        if (isError) operation.ended('failed');
        if (!operation.answer.judgeResult) return;
        verdict = { content: denied('Denied by policy: nobody has judged this') };
        const allowed = await operation.checkResult(content, { isError });
        verdict = isDeepStrictEqual(allowed, content) ? 'as_it_is' : { content: allowed };
      },
      options,
    );
    return { verdict, isFinal: true };
  } catch (error) {
    if (error instanceof ResultDenied) {
      return { verdict: { content: denied(error.message) }, isFinal: error.source === 'gateway' };
    }
    if (error instanceof ReeveInvalidRequest) {
      return { verdict: { content: denied(`Denied by policy: ${error.message}`) }, isFinal: false };
    }
    if (error instanceof ActionDeniedError && isAboutCall(error)) {
      return { verdict: { content: denied(`Denied by policy: ${error.answer.reason}`) }, isFinal: false };
    }
    if (error instanceof ActionDeniedError && error.answer.decision === 'pending') {
      await agent.complete(error.answer.opId, { outcome: 'cancelled' }).catch(() => {});
    }
    const { code, message } = refusalOf(error);
    if (whenAway === undefined || code !== 'gateway_unavailable') throw error;
    whenAway(message);
    return { verdict, isFinal: false };
  }
}

/** Whether a policy forbids the call. Otherwise nobody could be asked, somebody is still asked, or the agent is refused. */
function isAboutCall({ answer: { decision, source, policyRule } }: ActionDeniedError): boolean {
  return decision === 'deny' && source === 'gateway' && policyRule !== 'identity';
}

function digestOf(...values: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('hex');
}
