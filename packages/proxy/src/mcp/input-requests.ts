import { foldedName } from '../json/lookalike.ts';
import { requestSubject } from './call-subject.ts';
import { CallProgress } from './govern/call-progress.ts';
import { governCall } from './govern/govern-call.ts';
import type { Governor } from './govern/governor.ts';
import type { Message } from './protocol/message.ts';
import { asResponse, edited, errorMessage, messageOf, resultMessage, writtenValue } from './protocol/message.ts';
import type { JsonObject } from './protocol/written-json.ts';
import { isObject } from './protocol/written-json.ts';
import type { Exchange } from './transport/exchange.ts';

const member = 'inputRequests';
const apart = 'its answer comes with another request, where nobody judges it';
const unclear = 'the MCP server asks for input in a way that readers understand differently';

/**
 * An answer of revision 2026-07-28 in which the server asks the client for something, where that is a check. The client gets
 * it if all of it is allowed, and an error else.
 */
export async function judgedInputs(
  message: Message,
  governor: Governor,
  exchange: Exchange,
  runId: string,
): Promise<Message> {
  const response = asResponse(message);
  const { result } = response === undefined ? {} : (writtenValue(message) as JsonObject);
  if (response === undefined || !isObject(result)) return message;
  const asked = Object.keys(result).filter((name) => foldedName(name) === foldedName(member));
  if (asked.length === 0) return message;
  const inputs = result[member];
  if (asked.some((name) => name !== member) || !isObject(inputs)) return errorMessage(response.id, -32_000, unclear);
  const allowed: Record<string, unknown> = {};
  for (const [name, input] of Object.entries(inputs)) {
    const judged = await judgedInput(input, response.id, governor, exchange, runId);
    if ('refused' in judged) return judged.refused;
    allowed[name] = judged.input;
  }
  return edited(message, (value) => ({ ...value, result: { ...result, [member]: allowed } }));
}

type Judged = { readonly input: unknown } | { readonly refused: Message };

async function judgedInput(
  input: unknown,
  id: unknown,
  governor: Governor,
  exchange: Exchange,
  runId: string,
): Promise<Judged> {
  if (!isObject(input)) return { refused: errorMessage(id, -32_000, unclear) };
  const { method, params } = input;
  const isClear = Object.keys(input).every((name) => name === 'method' || foldedName(name) !== 'method');
  if (typeof method !== 'string' || !isClear) return { refused: errorMessage(id, -32_000, unclear) };
  if (!governor.methods.ofServer.has(method)) return { input };
  const whole = messageOf({ jsonrpc: '2.0', id, method, params });
  const subject = { ...requestSubject({ id, method, params }, whole), unjudgeable: apart };
  const fault = subject.fault();
  if (fault !== undefined) return { refused: fault };
  let judged: Judged = { refused: errorMessage(id, -32_000, unclear) };
  const call = {
    subject,
    runId,
    subjectToken: exchange.person?.subjectToken,
    progress: new CallProgress(undefined, () => {}),
    cancelled: exchange.left,
    forward: async (args: JsonObject | undefined) => {
      const { value } = subject.sent(args).message;
      judged = { input: { ...input, params: isObject(value) ? value['params'] : undefined } };
      return { exchange, message: resultMessage(id, {}) };
    },
    stop: async () => {},
    answer: async (refused: Message) => void (judged = { refused }),
    pass: async () => {},
  };
  await governCall(call, governor);
  return judged;
}
