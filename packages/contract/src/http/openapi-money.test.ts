import { expect, test } from 'vitest';
import { openApiDocument } from './openapi.ts';

/** Every member whose name says that it is an amount, with the types that it may have. */
function amounts(schema: unknown, at: string): [at: string, types: string][] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties } = schema as { readonly properties?: Readonly<Record<string, unknown>> };
  const named = Object.entries(properties ?? {}).filter(([name]) => name.endsWith('_usd'));
  return [
    ...named.map(([name, member]): [string, string] => [`${at}/${name}`, typesOf(member).join()]),
    ...Object.entries(schema).flatMap(([name, part]) => amounts(part, `${at}/${name}`)),
  ];
}

function typesOf(schema: unknown): string[] {
  const { type, anyOf } = schema as { readonly type?: string | string[]; readonly anyOf?: unknown[] };
  return [type ?? [], ...(anyOf ?? []).map(typesOf)].flat();
}

test('money is a decimal text in every request, answer and event', () => {
  const found = amounts(openApiDocument(''), '');
  expect(found.length).toBeGreaterThan(20);
  expect(found.filter(([, types]) => types !== 'string' && types !== 'string,null')).toEqual([]);
});
