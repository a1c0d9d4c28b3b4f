import { ambiguityOf } from './protocol/ambiguity.ts';
import type { PendingRequest } from './pending-requests.ts';
import type { JsonId, Message } from './protocol/message.ts';
import { asRequest, asResponse, isMessage, keyOf } from './protocol/message.ts';

/** What the operator learns of messages of a server that do not pass. */
export const unclear = 'the MCP server sends messages that readers understand differently; they are left out';

/** Why a message of the client reaches no server, with its parts. Undefined if it may. */
export function objectionTo(
  message: Message,
  parts: readonly Message[],
): { readonly id?: JsonId; readonly text: string } | undefined {
  for (const part of parts) {
    const text = ambiguityOf(part);
    if (text !== undefined) return { id: parts.length === 1 ? asRequest(part)?.id : undefined, text };
  }
  // Nobody knows what a server makes of the rest, such as of a batch within a batch.
  if (!isMessage(message)) return { text: 'it has no method and is no answer' };
  const ids = parts.map(asRequest).filter((request) => request !== undefined);
  const isTwice = new Set(ids.map(({ id }) => keyOf(id))).size < ids.length;
  return isTwice ? { text: 'two requests of a batch have the same id' } : undefined;
}

/** Whether a batch of the server passes as it is: nothing in it is governed, unclear, or an answer to nobody. */
export function passesWhole(
  parts: readonly Message[],
  answeredBy: (part: Message) => PendingRequest | undefined,
): boolean {
  return parts.every((part) => {
    if (ambiguityOf(part) !== undefined) return false;
    const request = answeredBy(part);
    return request === undefined ? asResponse(part) === undefined : request.arrived === undefined;
  });
}
