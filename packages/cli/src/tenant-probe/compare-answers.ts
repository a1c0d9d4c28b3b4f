import type { Answer } from './caller.ts';
import { isObject } from '../is-object.ts';
import { valueOf } from './caller.ts';

/** Headers that vary from answer to answer by themselves. */
const volatile = new Set(['age', 'date', 'retry-after']);

/**
 * What distinguishes the answer about another tenant's record from the answer about a record that does not exist. The
 * sent names may come back in either, so they are made equal first.
 */
export function difference(
  answer: Answer,
  like: Answer,
  swaps: readonly (readonly [string, string])[],
): string | undefined {
  if (answer.status !== like.status) return `the status ${answer.status} instead of ${like.status}`;
  if (answer.type !== like.type) return `the type ${answer.type} instead of ${like.type}`;
  const names = headerNames(answer);
  const others = headerNames(like);
  if (names !== others) return `the headers ${names} instead of ${others}`;
  const text = swaps.reduce(
    (rest, [from, to]) => rest.replaceAll(new RegExp(`${from}(?![a-z0-9-])`, 'g'), to),
    withoutNewIds(answer),
  );
  const other = withoutNewIds(like);
  return text === other ? undefined : `the body ${brief(text)} instead of ${brief(other)}`;
}

/** Whether a successful answer is empty: empty lists, zeros, no lines. */
export function holdsNothing(answer: Answer): boolean {
  const value = valueOf(answer);
  return value === undefined ? answer.text.trim() === '' : isNothing(value);
}

/**
 * New records have a new id each time, an invite (201) also its own email, token and end, the position of a stream advances by itself, and how often progress is reported
 * depends on how busy the gateway is.
 */
function withoutNewIds({ status, text }: Answer): string {
  const lines = text.split('\n');
  const isRepeated = (line: string, at: number) => line.startsWith('{"type":"progress"') && line === lines[at - 1];
  return lines
    .filter((line, at) => !isRepeated(line, at))
    .join('\n')
    .replaceAll(/"control_id":"[^"]*"/g, '"control_id":""')
    .replaceAll(/"cursor":\d+/g, '"cursor":0')
    .replaceAll(/"(from|to)":"[^"]*"/g, '"$1":""')
    .replaceAll(status === 201 ? /"(id|email|token|expires_at)":"[^"]*"/g : /$^/g, '"$1":""');
}

/** Members that describe the answer itself. They are set even in an empty answer. */
const ofItself = new Set(['control_id', 'policy_version', 'type', 'from', 'to', 'since']);

function isNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((item) => isReport(item) && isNothing(item));
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).every(([name, member]) => ofItself.has(name) || isNothing(member));
  }
  return value === null || value === 0 || value === '';
}

/** A line that reports progress. The work may have found nothing. */
function isReport(value: unknown): boolean {
  return isObject(value) && (value['type'] === 'progress' || value['type'] === 'result');
}

function headerNames(answer: Answer): string {
  return answer.headers
    .map(([name]) => name.toLowerCase())
    .filter((name) => !volatile.has(name))
    .toSorted()
    .join(', ');
}

export function brief(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
