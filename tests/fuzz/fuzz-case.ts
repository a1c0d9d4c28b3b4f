import type { Arbitrary } from 'fast-check';
import * as fc from 'fast-check';
import type { Operation, Parameter } from './document.ts';
import type { Mutation } from './mutations.ts';
import type { Draft } from './draft.ts';
import { applyMutations, mutationsOf } from './mutations.ts';
import type { Sources } from './schema-arbitrary.ts';
import { valuesOf } from './schema-arbitrary.ts';
import type { WireRequest } from './wire.ts';

export interface FuzzCase {
  readonly operation: Operation;
  readonly credential: string;
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly mutations: readonly Mutation[];
}

/** Valid requests by an operation's description. */
export function validCases(
  operation: Operation,
  sources: Sources,
  credentials: readonly string[],
): Arbitrary<FuzzCase> {
  return casesOf(operation, sources, credentials, fc.constant([]));
}

/** The same with one to three faults. */
export function mutatedCases(
  operation: Operation,
  sources: Sources,
  credentials: readonly string[],
): Arbitrary<FuzzCase> {
  const mutations = fc.array(mutationsOf(operation), { minLength: 1, maxLength: 3 });
  return casesOf(operation, sources, credentials, mutations);
}

function casesOf(
  operation: Operation,
  sources: Sources,
  credentials: readonly string[],
  mutations: Arbitrary<Mutation[]>,
): Arbitrary<FuzzCase> {
  const inPlace = (where: Parameter['in']) => operation.parameters.filter((parameter) => parameter.in === where);
  const values = (where: Parameter['in']) =>
    Object.fromEntries(
      inPlace(where).map(({ name, schema }) => [name, valuesOf(schema, sources, sourceOf(operation, name))]),
    );
  const required = inPlace('query').filter((parameter) => parameter.required);
  return fc.record({
    operation: fc.constant(operation),
    credential: fc.constantFrom(...credentials),
    // An empty segment would be another path.
    path: fc.record(values('path')).filter((path) => Object.values(path).every((value) => value !== '')),
    query: fc.record(values('query'), { requiredKeys: required.map(({ name }) => name) }),
    headers: fc.record(values('header'), { requiredKeys: [] }),
    body: operation.body === undefined ? fc.constant(undefined) : valuesOf(operation.body, sources),
    mutations,
  }) as Arbitrary<FuzzCase>;
}

/** The path segment before it decides what `id` means. */
function sourceOf({ path }: Operation, name: string): string {
  const parts = path.split('/');
  return name === 'id' || name === 'name' ? `${parts[parts.indexOf(`{${name}}`) - 1] ?? ''} ${name}` : name;
}

/** The wire form of a case. */
export function wireOf(fuzzCase: FuzzCase, authorization: string | undefined): WireRequest {
  const { operation, path, query, headers, body, mutations } = fuzzCase;
  const parameters = Object.fromEntries(Object.entries(path).map(([name, value]) => [name, encodeURIComponent(value)]));
  const draft: Draft = {
    method: operation.method,
    path: operation.path,
    parameters,
    query: Object.entries(query).map(([name, value]) => [name, encodeURIComponent(String(value))] as const),
    headers: [
      ...(authorization === undefined ? [] : [['authorization', authorization] as const]),
      ...(body === undefined ? [] : [['content-type', 'application/json'] as const]),
      ...Object.entries(headers),
    ],
    body,
    raw: undefined,
  };
  applyMutations(draft, mutations);
  const filled = draft.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => draft.parameters[name] ?? '');
  const search = draft.query.map(([name, value]) => `${name}=${value}`).join('&');
  return {
    method: draft.method,
    target: search === '' ? filled : `${filled}?${search}`,
    headers: draft.headers,
    body: draft.raw ?? (draft.body === undefined ? undefined : Buffer.from(JSON.stringify(draft.body))),
  };
}
