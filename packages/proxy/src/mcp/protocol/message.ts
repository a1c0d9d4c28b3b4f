import { isTooDeep } from '../../json/nesting.ts';

/** A JSON-RPC message: what it says, and one line of JSON to send it on. */
export interface Message {
  readonly value: JsonObject | readonly unknown[];
  readonly text: string;
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** An id as the peer chose it. */
export type JsonId = unknown;

/** The longest message of either side, in bytes. */
export const longestMessage = 16 * 1024 * 1024;

/** Numbers that JavaScript would write differently than they were written. */
const delicateNumbers = /\d{16}|\d\.\d|\d[eE]/;

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const exactJson = JSON as unknown as {
  parse(text: string, reviver: Reviver): unknown;
  rawJSON(text: string): unknown;
};

/**
 * Reads a message, or returns undefined if it is none. The text to send on is written anew from what was read: a member
 * that stands there twice could otherwise mean one thing here and another at the receiver. Numbers keep their digits.
 */
export function parseMessage(text: string): Message | undefined {
  if (isTooDeep(text)) return undefined;
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value !== 'object' || value === null) return undefined;
    const exact = delicateNumbers.test(text) ? exactJson.parse(text, keepDigits) : value;
    return { value: value as Message['value'], text: JSON.stringify(exact) };
  } catch {
    // Not JSON.
    return undefined;
  }
}

const keepDigits: Reviver = (_key, value, { source }) =>
  typeof value === 'number' && source !== undefined && source !== String(value) ? exactJson.rawJSON(source) : value;

/** The same change to what a message says and to what is sent, so that numbers keep their digits in it. */
export function edited(message: Message, edit: (value: JsonObject) => JsonObject): Message {
  if (!isObject(message.value)) return message;
  const value = edit(message.value);
  if (!delicateNumbers.test(message.text)) return messageOf(value);
  return { value, text: JSON.stringify(edit(exactJson.parse(message.text, keepDigits) as JsonObject)) };
}

/** The arguments of a call as they were written, so that nobody judges a number that was rounded. Undefined if there are none. */
export function writtenArguments({ text, value }: Message): string | undefined {
  const { params } = (delicateNumbers.test(text) ? exactJson.parse(text, keepDigits) : value) as JsonObject;
  return isObject(params) ? JSON.stringify(params['arguments']) : undefined;
}

export function messageOf(value: Message['value']): Message {
  return { value, text: JSON.stringify(value) };
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
  const exact = delicateNumbers.test(message.text) ? exactJson.parse(message.text, keepDigits) : message.value;
  const written = exact as readonly unknown[];
  return message.value.flatMap((part: unknown, at) =>
    typeof part === 'object' && part !== null
      ? [{ value: part as Message['value'], text: JSON.stringify(written[at]) }]
      : [],
  );
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
