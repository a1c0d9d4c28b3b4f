import { openApiDocument } from '@reeve/contract/http';
import { expect, it } from 'vitest';
import type { ApiDocument } from '../../scripts/compatibility/openapi-breaks.ts';
import { openApiBreaks } from '../../scripts/compatibility/openapi-breaks.ts';

type Json = Record<string, unknown>;

/** A small API, with a place for each kind of change. */
function api(): { paths: Record<string, Json> } & Json {
  const object = (properties: Json, required: string[], more: Json = {}) => ({
    type: 'object',
    properties,
    required,
    ...more,
  });
  const sent = object(
    { name: { type: 'string', maxLength: 10 }, kind: { enum: ['a', 'b'] }, size: { type: 'integer', minimum: 1 } },
    ['name'],
    { additionalProperties: false },
  );
  const received = object(
    {
      id: { type: 'string' },
      at: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      tree: { $ref: '#/components/schemas/Tree' },
    },
    ['id', 'at'],
  );
  const json = (schema: Json) => ({ content: { 'application/json': { schema } } });
  return {
    paths: {
      '/things': {
        post: {
          parameters: [{ name: 'dry', in: 'query', schema: { type: 'boolean' } }],
          requestBody: { required: true, ...json(sent) },
          responses: { '200': json(received), '409': json({ type: 'object' }) },
        },
        delete: { responses: { '204': {} } },
      },
    },
    components: {
      schemas: { Tree: object({ children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } }, []) },
    },
  };
}

/** Breaks after a change of one member. The path into the document is written with slashes; no value removes it. */
function afterChange(path: string, value?: unknown): readonly string[] {
  const after = api();
  const steps = path.split(' ').map((step) => (step === '$json' ? ['content', 'application/json', 'schema'] : [step]));
  const all = steps.flat();
  const last = all.pop() ?? '';
  let at: Json = after;
  for (const step of all) at = at[step] as Json;
  if (value === undefined) delete at[last];
  else at[last] = value;
  return openApiBreaks(api() as unknown as ApiDocument, after as unknown as ApiDocument);
}

const post = 'paths /things post';
const sent = `${post} requestBody $json`;
const received = `${post} responses 200 $json`;

it.for([
  ['a path', 'paths /things', undefined, 'DELETE /things: is gone'],
  ['a method', 'paths /things delete', undefined, 'DELETE /things: is gone'],
  ['a parameter', `${post} parameters`, [], 'query dry: is gone'],
  ['a success', `${post} responses 200`, undefined, 'does not answer 200'],
  ['a member of an answer', `${received} properties id`, undefined, '200.id: is gone'],
  ['a member of a request', `${sent} properties size`, undefined, 'body.size: is gone'],
  ['a word of an enum', `${sent} properties kind enum`, ['a'], 'body.kind: "b" is gone'],
  ['the type of a member', `${received} properties id type`, 'integer', '200.id: is integer, not string'],
  ['what is always there', `${received} required`, ['id'], '200.at: may be missing now'],
  ['what may be left out', `${sent} required`, ['name', 'size'], 'body.size: is required now'],
  ['how long it may be', `${sent} properties name maxLength`, 9, 'body.name: maxLength is 9, not 10'],
  ['how small it may be', `${sent} properties size minimum`, 2, 'body.size: minimum is 2, not 1'],
  ['a pattern', `${sent} properties name pattern`, '^a', 'body.name: has another pattern'],
  ['what was any text', `${sent} properties name enum`, ['a'], 'body.name: takes only "a" now'],
  ['null for what never was', `${received} properties id`, { type: ['string', 'null'] }, '200.id: may be'],
  ['what stands deep in itself', 'components schemas Tree properties children type', 'object', '200.tree.children'],
] as const)('fails if it takes away or narrows %s', ([, path, value, expected]) => {
  expect(afterChange(path, value).join('\n')).toContain(expected);
});

it.for([
  ['a path more', 'paths /others', { get: { responses: { '200': {} } } }],
  ['a parameter more', `${post} parameters 1`, { name: 'more', in: 'query', schema: {} }],
  ['a member more in an answer', `${received} properties more`, { type: 'string' }],
  ['an optional member more in a request', `${sent} properties more`, { type: 'string' }],
  ['a word more in an enum', `${sent} properties kind enum`, ['a', 'b', 'c']],
  ['a longer text', `${sent} properties name maxLength`, 11],
  ['a refusal less', `${post} responses 409`, undefined],
  ['null no more', `${received} properties at`, { type: 'string' }],
  ['null in a request', `${sent} properties size`, { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] }],
  ['an answer that always has a member', `${received} required`, ['id', 'at', 'tree']],
] as const)('lets pass %s', ([, path, value]) => {
  expect(afterChange(path, value)).toEqual([]);
});

it('finds nothing between the whole API and itself', () => {
  const document = openApiDocument('1.0.0') as unknown as ApiDocument;
  expect(openApiBreaks(document, structuredClone(document))).toEqual([]);
});
