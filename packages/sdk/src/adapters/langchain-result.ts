import type { JudgedPart } from './govern-call.ts';

/** A message of LangChain. It keeps what it was made of, so another content takes another message. */
export function messageWith(message: object, members: object): object {
  return Reflect.construct(message.constructor as new (fields: object) => object, [members]);
}

interface ToolMessage {
  readonly content: unknown;
  readonly tool_call_id: string;
  readonly name?: unknown;
  readonly status?: unknown;
  readonly id?: unknown;
}

/**
 * What a model reads of the result of a tool: its content. An artifact is for the program, and nobody judges it, so there is
 * none where results are judged. `isPaired`: results are pairs of a content and an artifact.
 */
export function partOf(isPaired: boolean): JudgedPart<unknown> {
  return {
    of: (result) => {
      if (isToolMessage(result)) return result.content;
      return isPaired && Array.isArray(result) ? (result[0] as unknown) : result;
    },
    put: (result, judged) => {
      if (!isToolMessage(result)) return isPaired && Array.isArray(result) ? [judged, undefined] : judged;
      const { tool_call_id, name, status, id } = result;
      return messageWith(result, { tool_call_id, name, status, id, content: judged });
    },
  };
}

function isToolMessage(result: unknown): result is ToolMessage {
  return typeof result === 'object' && result !== null && 'tool_call_id' in result && 'content' in result;
}
