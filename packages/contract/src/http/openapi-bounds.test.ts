import { expect, test } from 'vitest';
import { openApiDocument } from './openapi.ts';

interface Schema {
  readonly [member: string]: unknown;
}

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
}

const document = openApiDocument('') as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

const operations = Object.values(document.paths).flatMap((item) => Object.values(item));

/** Every schema that checks requests, with its location. */
const requests = operations.flatMap(({ operationId, parameters, requestBody }) => [
  ...parameters.map(({ name, in: where, schema }) => [`${operationId} ${where} ${name}`, schema] as const),
  ...(requestBody === undefined
    ? []
    : [[`${operationId} body`, requestBody.content['application/json'].schema] as const]),
]);

/** Finds every unbounded part of a schema. Constants, and values that declare they may fill the body, need no bound. */
function unbounded(schema: unknown, at: string): string[] {
  if (typeof schema !== 'object' || schema === null) return schema === false ? [] : [`${at} takes anything`];
  const { type, ...rest } = schema as Schema;
  if ('const' in rest || 'enum' in rest || rest['x-reeve-fills-body'] === true) return [];
  const also = ((rest['allOf'] ?? []) as Schema[]).flatMap(({ anyOf }) => (anyOf ?? []) as Schema[]);
  const inOptions = (['anyOf', 'allOf'] as const).flatMap((name) =>
    (name === 'allOf' ? also : ((rest[name] ?? []) as Schema[])).flatMap((option, index) =>
      unbounded(withoutBase(option, type), `${at}/${name}/${index}`),
    ),
  );
  const types = [type ?? []].flat() as string[];
  if (types.length === 0 && !('anyOf' in rest)) return [`${at} takes anything`];
  return [...inOptions, ...types.flatMap((each) => unboundedOf(each, rest, at))];
}

/** An option beside members of its own only narrows them. The test looks at those members separately. */
function withoutBase(option: Schema, type: unknown): Schema {
  return type === undefined || option['type'] !== undefined ? option : narrowed(option);
}

function narrowed({ properties, ...rest }: Schema): Schema {
  const typed = Object.entries((properties ?? {}) as Record<string, Schema>).filter(
    ([, property]) => 'anyOf' in property || ['object', 'array'].includes(property['type'] as string),
  );
  return { ...rest, type: 'object', properties: Object.fromEntries(typed), additionalProperties: false };
}

function unboundedOf(type: string, schema: Schema, at: string): string[] {
  switch (type) {
    case 'string':
      return 'maxLength' in schema ? [] : [`${at} is a text without maxLength`];
    case 'integer':
    case 'number': {
      const least = 'minimum' in schema || 'exclusiveMinimum' in schema;
      return least && 'maximum' in schema ? [] : [`${at} is a number without minimum and maximum`];
    }
    case 'array':
      return [
        ...('maxItems' in schema ? [] : [`${at} is a list without maxItems`]),
        ...unbounded(schema['items'], `${at}/items`),
      ];
    case 'object': {
      const members = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
      const isOpen = schema['additionalProperties'] !== false;
      return [
        ...members.flatMap(([name, member]) => unbounded(member, `${at}/${name}`)),
        ...(isOpen && !('maxProperties' in schema) ? [`${at} is a record without maxProperties`] : []),
      ];
    }
    default:
      return [];
  }
}

test('there are requests to look at', () => {
  expect(requests.length).toBeGreaterThan(100);
});

test.each(requests)('%s is bounded', (name, schema) => {
  expect(unbounded(schema, name)).toEqual([]);
});

test('an unbounded text, number, list or record is told', () => {
  const loose = {
    type: 'object',
    properties: { t: { type: 'string' }, n: { type: 'integer', minimum: 0 }, l: { type: 'array', items: {} } },
  };
  expect(unbounded(loose, '')).toEqual([
    '/t is a text without maxLength',
    '/n is a number without minimum and maximum',
    '/l is a list without maxItems',
    '/l/items takes anything',
    ' is a record without maxProperties',
  ]);
});
