import { expect, it } from 'vitest';
import {
  contradicts,
  fieldValue,
  headersOfParams,
  headersOfRequest,
  lacksHeaders,
  paramHeadersOf,
  passedHeaders,
} from './mcp-headers.ts';

const envelope = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } };

it('repeats a request of the stateless revision in headers, and no other', () => {
  expect(headersOfRequest({ id: 1, method: 'tools/call', params: { name: 'größe', ...envelope } })).toEqual({
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': '=?base64?Z3LDtsOfZQ==?=',
  });
  expect(headersOfRequest({ id: 1, method: 'constructor', params: envelope })).not.toHaveProperty('mcp-name');
  expect(headersOfRequest({ id: 1, method: 'tools/call', params: { name: 'x' } })).toEqual({});
});

it.each([
  ['plain', 'plain'],
  [' edge', '=?base64?IGVkZ2U=?='],
  ['a\nb', '=?base64?YQpi?='],
  ['', '=?base64??='],
  ['=?base64?YQ==?=', '=?base64?PT9iYXNlNjQ/WVE9PT89?='],
])('writes %j as %s', (text, value) => expect(fieldValue(text)).toBe(value));

it('finds parameters that are repeated, however deep', () => {
  const schema = {
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      inner: { properties: { count: { type: 'integer', 'x-mcp-header': 'Count' } } },
      bad: { 'x-mcp-header': 'not a token' },
    },
  };
  const headers = headersOfParams(paramHeadersOf(schema), { region: 'eu', inner: { count: 3 }, bad: 'x' });
  expect(headers).toEqual({ 'mcp-param-region': 'eu', 'mcp-param-count': '3' });
  expect(headersOfParams(paramHeadersOf(schema), { region: null, inner: 7 })).toEqual({});
});

it('sees that headers name another tool', () => {
  const request = { id: 1, method: 'tools/call', params: { name: 'größe' } };
  expect(contradicts({}, request)).toBe(false);
  expect(contradicts({ 'mcp-name': fieldValue('größe') }, request)).toBe(false);
  expect(contradicts({ 'mcp-name': 'other' }, request)).toBe(true);
  expect(contradicts({ 'mcp-method': 'ping' }, request)).toBe(true);
  const stateless = { ...request, params: { name: 'x', ...envelope } };
  expect(contradicts({ 'mcp-protocol-version': '2025-11-25' }, request)).toBe(false);
  expect(contradicts({ 'mcp-protocol-version': '2025-11-25' }, stateless)).toBe(true);
  expect(lacksHeaders({}, request)).toBe(false);
  expect(lacksHeaders({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' }, stateless)).toBe(true);
  expect(lacksHeaders(headersOfRequest(stateless), stateless)).toBe(false);
  const call = { id: 1, method: 'tools/call', params: { name: 'a', arguments: { region: 'eu', deep: { size: 7 } } } };
  expect(contradicts({ 'mcp-param-region': 'eu', 'mcp-param-size': '7' }, call)).toBe(false);
  expect(contradicts({ 'mcp-param-region': 'us' }, call)).toBe(true);
});

it('passes on nothing that is not about the message', () => {
  const headers = {
    authorization: 'Bearer x',
    cookie: 'y',
    'mcp-session-id': 'z',
    'mcp-name': 'n',
    'x-reeve-run-id': 'r',
  };
  expect(passedHeaders(headers)).toEqual({ 'mcp-name': 'n' });
});
