import { expect, test } from 'vitest';
import { buildCall, nothingElse } from './build-call.ts';
import type { Operation } from './operations.ts';
import { operationsOf } from './operations.ts';
import type { ParameterSlot } from './parameter-slots.ts';
import { slotsOf, unknownNames } from './parameter-slots.ts';

const own = {
  org: 'a',
  team: 'one',
  agent: 'root',
  key: 'k',
  op: 't:s',
  run: 'r',
  control: 'c',
  approval: 'apr_1',
  grant: 'grt_1',
  invite: 'inv_1',
  policy: 'p',
  source: 'rules: []',
  text: 'name',
};

function operationWith(path: string, more: object = {}): Operation {
  const [operation] = operationsOf({ paths: { [path]: { post: { 'x-reeve-tenancy': 'own', ...more } } } });
  if (operation === undefined) throw new Error('there is no operation');
  return operation;
}

const body = (schema: object) => ({ requestBody: { content: { 'application/json': { schema } } } });
const control = operationWith('/control', {
  ...body({
    type: 'object',
    required: ['action', 'count', 'agent'],
    properties: {
      action: { type: 'string', enum: ['pause', 'stop'] },
      count: { type: 'integer', minimum: 7 },
      at: { type: 'string', format: 'date-time' },
      agent: { type: 'object', required: ['agent_id'], properties: { agent_id: { type: 'string' } } },
      scope: {
        type: 'object',
        required: ['all'],
        properties: { all: { type: 'boolean' }, org_id: { anyOf: [{ type: 'null' }, { type: 'string' }] } },
      },
    },
  }),
});

const at = (operation: Operation, where: ParameterSlot['where'], name: string, value: string) => {
  const slot = slotsOf(operation).find((candidate) => candidate.where === where && candidate.name === name);
  if (slot === undefined) throw new Error(`there is no ${name} in the ${where}`);
  return { at: new Map([[slot, value]]) };
};

test('a body holds what is required, and its own names where it must name something', () => {
  expect(buildCall(control, own, nothingElse).body).toEqual({ action: 'pause', count: 7, agent: { agent_id: 'root' } });
});

test('a substitution brings the optional object it stands in, with what that requires', () => {
  expect(buildCall(control, own, at(control, 'body', 'org_id', 'b')).body).toEqual({
    action: 'pause',
    count: 7,
    agent: { agent_id: 'root' },
    scope: { all: false, org_id: 'b' },
  });
});

test('where something must be named, it is the narrowest of its own, unless something else is', () => {
  const text = { type: 'string' };
  const properties = { org_id: text, run_id: text, size: text, all: { const: true } };
  const scope = { type: 'object', minProperties: 1, properties };
  const scoped = operationWith('/control', body({ type: 'object', required: ['scope'], properties: { scope } }));
  expect(buildCall(scoped, own, nothingElse).body).toEqual({ scope: { run_id: 'r' } });
  expect(buildCall(scoped, own, at(scoped, 'body', 'org_id', 'b')).body).toEqual({ scope: { org_id: 'b' } });
  const members = { dry_run: true };
  expect(buildCall(scoped, own, { at: new Map(), members }).body).toEqual({ scope: { run_id: 'r' }, dry_run: true });
});

test('paths are filled in and encoded, queries only where asked or required', () => {
  const list = operationWith('/agents/{org}/{agent}', {
    parameters: [
      { name: 'org_id', in: 'query', required: false, schema: { type: 'string' } },
      { name: 'from', in: 'query', required: true, schema: { type: 'string', format: 'date-time' } },
    ],
  });
  expect(buildCall(list, own, nothingElse).path).toBe('/agents/a/root?from=2000-01-01T00%3A00%3A00.000Z');
  const changed = at(list, 'path', 'agent', 'x/y');
  expect(buildCall(list, own, changed).path).toBe('/agents/a/x%2Fy?from=2000-01-01T00%3A00%3A00.000Z');
  const filtered = { ...at(list, 'query', 'org_id', 'b'), query: { per_page: '3' } };
  expect(buildCall(list, own, filtered).path).toBe(
    '/agents/a/root?per_page=3&org_id=b&from=2000-01-01T00%3A00%3A00.000Z',
  );
});

test('what an id in a path names follows from the path before it', () => {
  expect(slotsOf(operationWith('/iam/api-keys/{id}/revoke'))).toEqual([{ where: 'path', name: 'id', kind: 'key' }]);
  expect(unknownNames(operationWith('/iam/api-keys/{id}/revoke'))).toEqual([]);
  expect(unknownNames(operationWith('/widgets/{id}'))).toEqual(['id']);
  expect(unknownNames(operationWith('/widgets/{name}'))).toEqual(['name']);
});

test('members that may name something are known, or asked about', () => {
  const schema = {
    type: 'object',
    properties: { label: {}, nested: { properties: { session_id: {}, team_id: {}, trace_id: {} } } },
  };
  expect(unknownNames(operationWith('/x', body(schema)))).toEqual(['session_id']);
});
