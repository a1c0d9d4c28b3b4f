import { bounds } from '@reeve/contract';
import type { HookHostName } from '@reeve/contract/names';
import { statusCode } from '@reeve/grpc-server/client';
import type { ResolvedAgent } from '../agent-identity/resolve-agent.ts';
import { GatewayRefusal } from '../grpc/unary-calls.ts';
import type { ResultAnswer } from './ask-gateway.ts';
import { GatewayConversation } from './ask-gateway.ts';
import type { AfterTool, ToolResult } from './hook-event.ts';
import { endedUse, wasJudged } from './open-uses.ts';
import { spansOf, traceOf } from './operation-ids.ts';
import { digestOf, resultBytes } from './result-bytes.ts';
import type { SessionFile } from './session-file.ts';

/** What a model may read of a result. */
export type Judged =
  | { readonly kind: 'as_it_is' }
  | { readonly kind: 'masked'; readonly value: unknown }
  | { readonly kind: 'denied'; readonly reason: string };

export interface JudgeEnd {
  readonly event: AfterTool;
  /** Asked for only if there is something to judge. */
  readonly agent: () => Promise<ResolvedAgent>;
  readonly host: HookHostName;
  readonly file: SessionFile;
}

const asItIs: Judged = { kind: 'as_it_is' };

/** Has judged what a tool brought back. Each operation of its use judges what those before it let pass. */
export async function judgeEnd({ event, agent, host, file }: JudgeEnd): Promise<Judged> {
  const { result } = event;
  if (result === undefined) return asItIs;
  const owed = owedBy(event, file, result);
  if (owed === 'unknown') return denied('no tool use is known that brought this back');
  if (owed.spans.length === 0) return asItIs;
  const about = { host, trace: traceOf(event.session), subjectToken: () => undefined };
  using gateway = await GatewayConversation.open(await agent(), about);
  // Awaited here, because the connection ends with this function.
  return await judgedBy(gateway, owed, result);
}

interface Owed {
  readonly spans: readonly string[];
  /** Whether it is known that the gateway was asked about these. */
  readonly areKnown: boolean;
}

/**
 * Whoever removes what hooks have noted of a tool use, or ends it, does not get its result past the gateway. What is noted is
 * believed: whoever can write it, as this user, can read the agent's token, too, and the gateway notes what nobody judged.
 */
function owedBy(event: AfterTool, file: SessionFile, result: ToolResult): Owed | 'unknown' {
  const uses = file.read();
  const use = endedUse(uses, event);
  if (use !== undefined) return { spans: use.judged ?? [], areKnown: true };
  if (wasJudged(uses, event, digestOf(result))) return { spans: [], areKnown: true };
  if (event.toolUse === undefined) return 'unknown';
  return { spans: spansOf(event.toolUse, Math.max(1, event.actions.length)), areKnown: false };
}

async function judgedBy(gateway: GatewayConversation, owed: Owed, { value, isError }: ToolResult): Promise<Judged> {
  const sent = resultBytes(value);
  let bytes: Buffer = sent.bytes;
  for (const span of owed.spans) {
    if (bytes.length > bounds.result) return denied(`it has more than ${bounds.result} bytes`);
    const answer = await judgement(gateway, owed, span, bytes, isError);
    if (answer === undefined) continue;
    const { decision, reason, policyRule, resultJson } = answer;
    if (decision !== 'allow') return denied(policyRule === '' ? reason : `${reason} (rule ${policyRule})`);
    if (resultJson !== undefined) bytes = Buffer.from(resultJson);
  }
  return bytes === sent.bytes ? asItIs : { kind: 'masked', value: sent.read(bytes) };
}

/** Undefined if there is nothing to judge: the gateway was never asked about it. */
async function judgement(
  gateway: GatewayConversation,
  { areKnown }: Owed,
  span: string,
  bytes: Buffer,
  isError: boolean,
): Promise<ResultAnswer | undefined> {
  try {
    return await gateway.checkResult(span, bytes, isError);
  } catch (error) {
    if (areKnown || !(error instanceof GatewayRefusal)) throw error;
    if (error.status === statusCode.notFound) return undefined;
    // Somebody else has ended it, so nobody can say any more what may be read of it.
    if (error.status === statusCode.failedPrecondition) return ended;
    throw error;
  }
}

const ended: ResultAnswer = {
  decision: 'deny',
  reason: 'its operation ended before the result could be judged',
  policyRule: '',
  resultJson: undefined,
};

function denied(why: string): Judged {
  return { kind: 'denied', reason: `Denied by policy: ${why}` };
}
