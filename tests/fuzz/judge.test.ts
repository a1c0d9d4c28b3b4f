import { describe, expect, test } from 'vitest';
import type { ApiDocument } from './document.ts';
import { Judge } from './judge.ts';
import type { WireAnswer, WireRequest } from './wire.ts';
import type { FuzzCredential } from './world.ts';

/** A passing answer proves something only if a wrong one fails. */
const problem = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
const document: ApiDocument = {
  schemas: {
    Problem: {
      type: 'object',
      properties: { status: { type: 'integer' }, code: { type: 'string' }, detail: { type: 'string' } },
      required: ['status', 'code', 'detail'],
    },
  },
  operations: [
    {
      method: 'POST',
      path: '/things/{id}',
      access: 'write',
      tenancy: 'own',
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'string', maxLength: 3 } },
        { name: 'per_page', in: 'query', required: false, schema: { type: 'integer', minimum: 1 } },
      ],
      body: { type: 'object', properties: { name: { type: 'string' } }, additionalProperties: false },
      answers: {
        200: { content: { 'application/json': { schema: { type: 'object', required: ['id'] } } } },
        ...Object.fromEntries([400, 401, 403, 404, 421, 422, 500].map((status) => [status, { content: problem }])),
      },
    },
  ],
};

const writer: FuzzCredential = { authorization: 'Bearer x', level: 'write', isKey: true, isBound: false };
const good: WireRequest = {
  method: 'POST',
  target: '/things/a?per_page=5',
  headers: [],
  body: Buffer.from('{"name":"x"}'),
};
const always = { 'x-content-type-options': 'nosniff', 'x-request-id': 'r1' };

function answer(status: number, body: unknown, headers: Record<string, string> = {}): WireAnswer {
  const type = status < 400 ? 'application/json; charset=utf-8' : 'application/problem+json';
  const all = Object.entries({ 'content-type': type, ...always, ...headers });
  return { status, headers: new Map(all.filter(([, value]) => value !== '')), body: Buffer.from(JSON.stringify(body)) };
}

const accepted = answer(200, { id: 'a' });
const refused = (status: number, code: string, headers = {}) => answer(status, { status, code, detail: '' }, headers);

function faults(reply: WireAnswer, request: Partial<WireRequest> = {}, credential: Partial<FuzzCredential> = {}) {
  return new Judge(document).faults({ ...good, ...request }, { ...writer, ...credential }, reply);
}

test('a right answer has no fault', () => {
  expect(faults(accepted)).toEqual([]);
  expect(faults(refused(404, 'key_not_found'))).toEqual([]);
  expect(faults(refused(401, 'unauthenticated', { 'www-authenticate': 'Bearer' }), {}, { level: 'bad' })).toEqual([]);
  expect(faults(refused(404, 'not_found'), { target: '/nothing' })).toEqual([]);
});

describe('a wrong answer has one', () => {
  const unfit = { ...refused(404, 'not_found'), body: Buffer.from('{"status":404,"code":"not_found"}') };
  test.each<[string, WireAnswer, RegExp]>([
    ['500', refused(500, 'internal'), /the status is 500/],
    ['a status that is not declared', refused(409, 'key_revoked'), /409 is not declared/],
    ['a body that does not fit', answer(200, {}), /the body must have required property 'id'/],
    ['a type that is not declared', answer(200, { id: 'a' }, { 'content-type': 'text/csv' }), /text\/csv is not among/],
    ['a problem that does not fit', unfit, /the problem must have required property 'detail'/],
    ['a problem of another type', refused(404, 'not_found', { 'content-type': 'text/html' }), /type text\/html/],
    ['a code that does not go with the status', refused(404, 'internal'), /internal does not go with 404/],
    ['another status in the problem', answer(404, { status: 403, code: 'not_found', detail: '' }), /says 403/],
    ['a 401 without a challenge', refused(401, 'unauthenticated'), /401 without WWW-Authenticate/],
    ['a good credential refused', refused(401, 'unauthenticated', { 'www-authenticate': 'Bearer' }), /good credential/],
    ['no request id', answer(200, { id: 'a' }, { 'x-request-id': '' }), /without a request id/],
    ['no nosniff', answer(200, { id: 'a' }, { 'x-content-type-options': '' }), /without nosniff/],
    ['an injected header', answer(200, { id: 'a' }, { 'x-injected': '1' }), /header was injected/],
  ])('%s', (_what, reply, fault) => {
    expect(faults(reply)).toContainEqual(expect.stringMatching(fault));
  });
});

describe('accepting what the document does not allow is a fault', () => {
  test.each<[string, Partial<WireRequest>, RegExp]>([
    ['a parameter in the path', { target: '/things/abcd' }, /path has id=abcd/],
    ['a parameter in the query', { target: '/things/a?per_page=0' }, /query has per_page=0/],
    ['a parameter twice', { target: '/things/a?per_page=1&per_page=2' }, /query has per_page=1,2/],
    ['a member of the body', { body: Buffer.from('{"name":1}') }, /accepted body\/name must be string/],
    ['an unknown member', { body: Buffer.from('{"other":1}') }, /must NOT have additional properties/],
    ['no JSON', { body: Buffer.from('{') }, /accepted body must be object/],
  ])('%s', (_what, request, fault) => {
    expect(faults(accepted, request)).toContainEqual(expect.stringMatching(fault));
  });

  test('a credential that is bad, or too weak', () => {
    expect(faults(accepted, {}, { level: 'bad' })).toContainEqual('a bad credential was answered with 200');
    expect(faults(accepted, {}, { level: 'read' })).toContainEqual(
      'a credential without the scope was answered with 200',
    );
  });

  test('a request for another host that is answered, and one for this host that is not', () => {
    const elsewhere: Partial<WireRequest>[] = [
      { headers: [['host', 'elsewhere.example']] },
      { target: 'http://elsewhere.example/things/a' },
    ];
    for (const request of elsewhere) {
      expect(faults(accepted, request)).toContainEqual('a request for another host was answered with 200');
      expect(faults(refused(421, 'misdirected_request'), request)).toEqual([]);
    }
    expect(faults(refused(421, 'misdirected_request'))).toContainEqual('a request was called misdirected');
  });

  test('a path that leads nowhere', () => {
    expect(faults(accepted, { target: '/things' })).toContainEqual('200 at a path with the methods none');
  });
});
