import type { Refusal } from '@reeve/sdk/mcp';
import { refusedResult as resultOf } from '@reeve/sdk/mcp';
import type { JsonId, Message } from '../protocol/message.ts';
import type { JsonObject } from '../protocol/written-json.ts';
import { messageOf, resultMessage } from '../protocol/message.ts';

export const changedReason = 'tool definition changed since it was locked';

/** The result of a call that did not happen, or whose result is not given. The SDK has the words. */
export function refusedResult(id: JsonId, refused: Refusal, isStateless: boolean): Message {
  const result: JsonObject = { ...(isStateless ? { resultType: 'complete' } : {}), ...resultOf(refused) };
  return resultMessage(id, result);
}

const refusedCode = -32_001;

/** The same for a request that is no call of a tool. */
export function refusedRequest(id: JsonId, refused: Refusal): Message {
  const { _meta: data } = resultOf(refused);
  return messageOf({ jsonrpc: '2.0', id: id ?? null, error: { code: refusedCode, message: refused.text, data } });
}
