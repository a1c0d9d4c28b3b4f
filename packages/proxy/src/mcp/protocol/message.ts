import { isTooDeep } from '../../json/nesting.ts';
import { idFaultIn } from './id-fault.ts';
import type { JsonObject } from './written-json.ts';
import { hasDelicateNumbers, isObject, parseWritten, writtenNumber } from './written-json.ts';

/** A JSON-RPC message: what it says, and one line of JSON to send it on. */
export interface Message {
  readonly value: JsonObject | readonly unknown[];
  readonly text: string;
  /** Why readers may disagree on which request it belongs to. */
  readonly idFault?: string;
}

/** An id as the peer chose it. */
export type JsonId = unknown;

/** The longest message of either side, in bytes. */
export const longestMessage = 16 * 1024 * 1024;

/**
 * Reads a message, or returns undefined if it is none. The text to send on is written anew from what was read: a member
 * that stands there twice could otherwise mean one thing here and another at the receiver. Numbers keep their digits.
 */
export function parseMessage(text: string): Message | undefined {
  if (isTooDeep(text)) return undefined;
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value !== 'object' || value === null) return undefined;
    const exact = hasDelicateNumbers(text) ? parseWritten(text) : value;
    return readAs(value as Message['value'], exact);
  } catch {
    // Not JSON.
    return undefined;
  }
}

/** A message by what it says, and by the same with all numbers as they were written. */
function readAs(value: Message['value'], written: unknown): Message {
  const text = JSON.stringify(written);
  const idFault = isObject(written) ? idFaultIn(written) : undefined;
  if (idFault === undefined || !isObject(written) || !isObject(value)) return { value, text };
  const { id } = written;
  // What is answered to it names its id as it was written, if it has one.
  const isId = id === undefined || typeof id === 'string' || writtenNumber(id) !== undefined;
  return { value: { ...value, id: isId ? id : null }, text, idFault };
}

/** The same change to what a message says and to what is sent, so that numbers keep their digits in it. */
export function edited(message: Message, edit: (value: JsonObject) => JsonObject): Message {
  if (!isObject(message.value)) return message;
  const value = edit(message.value);
  if (!hasDelicateNumbers(message.text)) return messageOf(value);
  return { value, text: JSON.stringify(edit(writtenValue(message) as JsonObject)) };
}

/** What a message says, with numbers that JavaScript would write differently as they were written. */
export function writtenValue({ text, value }: Message): unknown {
  return hasDelicateNumbers(text) ? parseWritten(text) : value;
}

/** The parameters as they were written, so that nobody judges a number that was rounded. */
export function writtenParams(message: Message): JsonObject | undefined {
  const { params } = writtenValue(message) as JsonObject;
  return isObject(params) ? params : undefined;
}

/** The message with other parameters in place of those that it has under these names. */
export function withParams(message: Message, params: JsonObject): Message {
  return edited(message, (value) => {
    const before = isObject(value['params']) ? value['params'] : {};
    return { ...value, params: { ...before, ...params } };
  });
}

export function messageOf(value: Message['value']): Message {
  return { value, text: JSON.stringify(value) };
}

/** Ids of different types differ: 1 is not "1". */
export function keyOf(id: JsonId): string {
  return JSON.stringify(id) ?? 'undefined';
}

export interface Request {
  readonly id: JsonId;
  readonly method: string;
  readonly params: unknown;
}

/** The message as a request, if it is one. */
export function asRequest({ value }: Message): Request | undefined {
  if (!isObject(value) || typeof value['method'] !== 'string' || value['id'] === undefined) return undefined;
  return { id: value['id'], method: value['method'], params: value['params'] };
}

export interface Notification {
  readonly method: string;
  readonly params: JsonObject;
}

export function asNotification({ value }: Message): Notification | undefined {
  if (!isObject(value) || typeof value['method'] !== 'string' || value['id'] !== undefined) return undefined;
  return { method: value['method'], params: isObject(value['params']) ? value['params'] : {} };
}

export interface Response {
  readonly id: JsonId;
  readonly result: unknown;
  readonly error: unknown;
}

export function asResponse({ value }: Message): Response | undefined {
  if (!isObject(value) || typeof value['method'] === 'string') return undefined;
  if (value['result'] === undefined && value['error'] === undefined) return undefined;
  return { id: value['id'], result: value['result'], error: value['error'] };
}

/** Whether it says anything in JSON-RPC: a method, a result or an error; of a batch, each part, and there is one. */
export function isMessage(message: Message): boolean {
  if (!isBatch(message)) return isSingle(message.value);
  return Array.isArray(message.value) && message.value.length > 0 && message.value.every(isSingle);
}

function isSingle(value: unknown): boolean {
  if (!isObject(value)) return false;
  return ['method', 'result', 'error'].some((member) => value[member] !== undefined);
}

/** The messages of a batch, which revision 2025-03-26 permits, or the message alone. */
export function partsOf(message: Message): readonly Message[] {
  if (!Array.isArray(message.value)) return [message];
  const written = writtenValue(message) as readonly unknown[];
  return message.value.flatMap((part: unknown, at) =>
    typeof part === 'object' && part !== null ? [readAs(part as Message['value'], written[at])] : [],
  );
}

/** Several messages as one. Each stays as it was written. */
export function batchOf(messages: readonly Message[]): Message {
  return { value: messages.map(({ value }) => value), text: `[${messages.map(({ text }) => text).join(',')}]` };
}

export function isBatch(message: Message): boolean {
  return Array.isArray(message.value);
}

export function resultMessage(id: JsonId, result: JsonObject): Message {
  return messageOf({ jsonrpc: '2.0', id, result });
}

export function errorMessage(id: JsonId, code: number, message: string): Message {
  return messageOf({ jsonrpc: '2.0', id: id ?? null, error: { code, message } });
}

export function notificationMessage(method: string, params: JsonObject): Message {
  return messageOf({ jsonrpc: '2.0', method, params });
}
