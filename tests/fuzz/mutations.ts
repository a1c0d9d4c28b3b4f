import type { Arbitrary } from 'fast-check';
import * as fc from 'fast-check';
import type { Operation } from './document.ts';
import type { Draft } from './draft.ts';
import {
  brokenBytes,
  contentTypes,
  headers,
  hostileTexts,
  hostileValues,
  memberNames,
  methods,
  numbers,
  oddEncodings,
  pathChanges,
  rawBodies,
} from './hostile.ts';

/** One fault of a request, as data, so that a failing case prints and shrinks well. */
export type Mutation =
  | { readonly kind: 'path parameter'; readonly name: string; readonly encoded: string }
  | { readonly kind: 'path'; readonly before: string; readonly after: string }
  | { readonly kind: 'query'; readonly name: string; readonly encoded: readonly string[] }
  | { readonly kind: 'body member'; readonly name: string; readonly value: unknown }
  | { readonly kind: 'body without'; readonly name: string }
  | { readonly kind: 'body'; readonly value: unknown }
  | { readonly kind: 'raw body'; readonly base64: string }
  | { readonly kind: 'long body'; readonly bytes: number }
  | { readonly kind: 'deep body'; readonly depth: number }
  | { readonly kind: 'truncated body'; readonly keep: number }
  | { readonly kind: 'member twice'; readonly name: string }
  | { readonly kind: 'content type'; readonly value: string | undefined }
  | { readonly kind: 'method'; readonly method: string }
  | { readonly kind: 'header'; readonly name: string; readonly value: string };

/** Every possible fault of a request to an operation. */
export function mutationsOf(operation: Operation): Arbitrary<Mutation> {
  const inPath = operation.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
  const inQuery = operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  const members = Object.keys(operation.body?.properties ?? {});
  const text = fc.oneof(fc.constantFrom(...hostileTexts).map(encodeURIComponent), fc.constantFrom(...oddEncodings));
  const value = fc.oneof(text, fc.constantFrom(...numbers).map(encodeURIComponent));
  const names = fc.constantFrom(...inQuery, 'unknown', '__proto__', 'per_page', 'org_id');
  const asArray = fc.constantFrom('', '[]', '[0]', '[a]', '.a').chain((suffix) => names.map((name) => name + suffix));
  const json = fc.oneof(fc.constantFrom(...hostileValues), fc.jsonValue({ noUnicodeString: false }));
  return fc.oneof(
    ...(inPath.length === 0
      ? []
      : [fc.record({ kind: fc.constant('path parameter' as const), name: fc.constantFrom(...inPath), encoded: text })]),
    fc.constantFrom(...pathChanges).map(([before, after]) => ({ kind: 'path' as const, before, after })),
    fc.record({
      kind: fc.constant('query' as const),
      name: asArray,
      encoded: fc.array(value, { minLength: 1, maxLength: 3 }),
    }),
    fc.record({
      kind: fc.constant('body member' as const),
      name: fc.constantFrom(...members, ...memberNames),
      value: json,
    }),
    fc.record({ kind: fc.constant('body without' as const), name: fc.constantFrom(...members, 'nothing') }),
    fc.record({ kind: fc.constant('body' as const), value: json }),
    fc
      .constantFrom(...rawBodies, ...brokenBytes)
      .map((raw) => ({ kind: 'raw body' as const, base64: raw.toString('base64') })),
    fc.record({
      kind: fc.constant('long body' as const),
      bytes: fc.constantFrom(1024 * 1024, 1024 * 1024 + 1, 2 * 1024 * 1024),
    }),
    fc.record({ kind: fc.constant('deep body' as const), depth: fc.constantFrom(63, 64, 65, 10_000) }),
    fc.record({ kind: fc.constant('truncated body' as const), keep: fc.nat({ max: 100 }) }),
    fc.record({ kind: fc.constant('member twice' as const), name: fc.constantFrom(...members, 'reason') }),
    fc.record({ kind: fc.constant('content type' as const), value: fc.constantFrom(...contentTypes) }),
    fc.record({ kind: fc.constant('method' as const), method: fc.constantFrom(...methods) }),
    fc.constantFrom(...headers).map(([name, header]) => ({ kind: 'header' as const, name, value: header })),
  );
}

export function applyMutations(draft: Draft, mutations: readonly Mutation[]): void {
  for (const mutation of mutations) apply(draft, mutation);
}

function apply(draft: Draft, mutation: Mutation): void {
  switch (mutation.kind) {
    case 'path parameter':
      draft.parameters[mutation.name] = mutation.encoded;
      break;
    case 'path':
      draft.path = changed(draft.path, mutation.before, mutation.after);
      break;
    case 'query':
      draft.query = [
        ...draft.query.filter(([name]) => name !== mutation.name),
        ...mutation.encoded.map((value) => [mutation.name, value] as const),
      ];
      break;
    case 'body member':
      setBody(draft, withMember(draft.body, mutation.name, mutation.value));
      break;
    case 'body without':
      setBody(
        draft,
        Object.fromEntries(Object.entries(objectIn(draft.body)).filter(([name]) => name !== mutation.name)),
      );
      break;
    case 'body':
      setBody(draft, mutation.value);
      break;
    case 'raw body':
      setRaw(draft, Buffer.from(mutation.base64, 'base64'));
      break;
    case 'long body':
      setRaw(draft, Buffer.from(`{"reason":"${'x'.repeat(mutation.bytes - 13)}"}`));
      break;
    case 'deep body':
      setRaw(draft, Buffer.from(`${'['.repeat(mutation.depth)}${']'.repeat(mutation.depth)}`));
      break;
    case 'truncated body':
      setRaw(draft, Buffer.from(JSON.stringify(draft.body ?? { reason: 'x' })).subarray(0, mutation.keep));
      break;
    case 'member twice': {
      const name = JSON.stringify(mutation.name);
      setRaw(draft, Buffer.from(`{${name}:"a",${name}:"b"}`));
      break;
    }
    case 'content type':
      draft.headers = withoutHeader(draft, 'content-type');
      if (mutation.value !== undefined) draft.headers.push(['content-type', mutation.value]);
      break;
    case 'method':
      draft.method = mutation.method;
      break;
    case 'header':
      draft.headers.push([mutation.name, mutation.value]);
      break;
  }
}

function changed(path: string, before: string, after: string): string {
  if (before === '$') return path + after;
  if (before === '^') return after + path;
  return path.replace(before, after);
}

function withMember(body: unknown, name: string, value: unknown): Record<string, unknown> {
  const changedBody = { ...objectIn(body) };
  // As an own property, even for the name "__proto__".
  Object.defineProperty(changedBody, name, { value, enumerable: true, configurable: true, writable: true });
  return changedBody;
}

function objectIn(body: unknown): Record<string, unknown> {
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Record<string, unknown>) : {};
}

function setBody(draft: Draft, body: unknown): void {
  draft.body = body;
  draft.raw = undefined;
  claimJson(draft);
}

function setRaw(draft: Draft, raw: Buffer): void {
  draft.raw = raw;
  claimJson(draft);
}

function claimJson(draft: Draft): void {
  if (!draft.headers.some(([name]) => name === 'content-type'))
    draft.headers.push(['content-type', 'application/json']);
}

function withoutHeader(draft: Draft, header: string): Draft['headers'] {
  return draft.headers.filter(([name]) => name !== header);
}
