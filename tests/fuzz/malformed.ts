import { METHODS } from 'node:http';
import type { WireRequest } from './wire.ts';

/** Statuses that malformed bytes can get before any routing. */
export function refusalsOfBytes({ target, headers, method }: WireRequest): number[] {
  const names = headers.map(([name]) => name);
  const isLarge = headers.reduce((sum, [name, value]) => sum + name.length + value.length, target.length) > 12_000;
  const isOdd =
    [target, ...names, ...headers.map(([, value]) => value)].some((text) => hasOddCharacter(text)) ||
    names.some((name) => name.includes(' ')) ||
    headers.some(([name, value]) => name === 'host' && value === '') ||
    names.filter((name) => name === 'host').length > 1 ||
    !METHODS.includes(method) ||
    !/^(\/|http:\/\/[^/])[^ #]*$/.test(target) ||
    hasOddEncoding(target);
  return [...(isLarge ? [431] : []), ...(isOdd ? [400] : [])];
}

/** Whether a request names another host than the test gateway. */
export function isMisdirected({ target, headers }: WireRequest): boolean {
  const authorities = headers.flatMap(([name, value]) => (name === 'host' ? [value] : []));
  const inTarget = /^https?:\/\/([^/?#]*)/i.exec(target)?.[1];
  return [...authorities, ...(inTarget === undefined ? [] : [inTarget])].some(
    (host) => !/^127\.0\.0\.1(:\d+)?$/.test(host),
  );
}

/** A server that refuses bytes stops reading, and may be gone before a long body is sent. */
export function withoutLongBody(request: WireRequest): WireRequest {
  return refusalsOfBytes(request).length === 0 ? request : { ...request, body: request.body?.subarray(0, 1024) };
}

function hasOddCharacter(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return /[\u0000-\u0008\u000a-\u001f\u007f-\uffff]/.test(text);
}

function hasOddEncoding(target: string): boolean {
  try {
    decodeURIComponent(target.split('?')[0] ?? '');
    return false;
  } catch {
    return true;
  }
}
