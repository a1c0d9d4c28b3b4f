import type { IncomingMessage } from 'node:http';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { HostCheck } from '../front/host-check.ts';
import { conceal, ConcealedParts } from './conceal.ts';
import { agentTokenOf } from './credential.ts';
import { answerHeaders, requestHeaders } from './forward-headers.ts';
import { modelConfigOf } from './model-config.ts';
import { traceOf } from './model-call.ts';
import { upstreamPath } from './upstream-path.ts';

const [upstream] = modelConfigOf(
  { upstreams: [{ name: 'u', kind: 'anthropic', base_url: 'https://up.example', api_key_env: 'K', models: ['**'] }] },
  () => 'sk-provider',
);

function message(headers: Readonly<Record<string, string>>): IncomingMessage {
  const distinct = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
  const rawHeaders = Object.entries(headers).flat();
  return { headers, headersDistinct: distinct, rawHeaders, url: '/', socket: {} } as unknown as IncomingMessage;
}

test('the upstream gets its key in place of the token, and nothing of one connection only', () => {
  const request = message({
    host: 'localhost:1',
    authorization: 'Bearer rva_token',
    'x-api-key': 'rva_token',
    'x-other': 'has rva_token within',
    'x-reeve-run-id': 'run',
    'anthropic-version': '2023-06-01',
    'accept-encoding': 'gzip',
    connection: 'keep-alive, X-Private',
    'x-private': '1',
    cookie: 'a=b',
    te: 'trailers',
  });
  expect(requestHeaders(request, 'rva_token', upstream, 3)).toEqual({
    'anthropic-version': ['2023-06-01'],
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    host: 'up.example',
    'content-length': '3',
    'x-api-key': 'sk-provider',
  });
});

test('the client gets the headers as they are, without the key', () => {
  const answer = message({ 'Content-Type': 'a/b', Connection: 'close', 'X-Echo': 'sk-provider', 'Request-Id': '7' });
  expect(answerHeaders(answer, 'sk-provider', [])).toEqual(['Content-Type', 'a/b', 'Request-Id', '7']);
});

test('a key within an answer is concealed, wherever it stands', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('sk-provider', 'sk-', 'x', '"', 'é')), (parts) => {
      const text = parts.join('');
      const concealed = conceal(Buffer.from(text), 'sk-provider').toString();
      expect(concealed).toBe(text.replaceAll('sk-provider', '*'.repeat('sk-provider'.length)));
    }),
  );
});

test('a key within an answer that passes in parts is concealed, however it is cut', () => {
  const letters = fc.array(fc.constantFrom('aab', 'aaé', 'a', 'b', 'é', '"'));
  fc.assert(
    fc.property(letters, fc.constantFrom('aab', 'aabaaé', 'a', undefined), fc.array(fc.nat(5)), (all, key, cuts) => {
      const bytes = Buffer.from(all.join(''));
      const parts = new ConcealedParts(key);
      let at = 0;
      const passed = cuts.map((length) => parts.push(bytes.subarray(at, (at += length))));
      passed.push(parts.push(bytes.subarray(at)), parts.end());
      expect(Buffer.concat(passed).toString()).toBe(conceal(bytes, key).toString());
    }),
  );
});

test.each([
  ['openai', 'https://api.openai.com/v1', '/v1/chat/completions', '/v1/chat/completions'],
  ['openai', 'https://api.openai.com/v1/', '/v1/models', '/v1/models'],
  ['openai', 'http://127.0.0.1:9', '/v1/responses', '/v1/responses'],
  ['openai', 'https://x.example/v1beta/openai', '/v1/embeddings', '/v1beta/openai/embeddings'],
  ['anthropic', 'https://api.anthropic.com', '/v1/messages', '/v1/messages'],
  ['anthropic', 'https://api.anthropic.com/v1', '/v1/messages', '/v1/messages'],
  ['anthropic', 'https://x.example/claude', '/v1/messages', '/claude/v1/messages'],
] as const)('%s at %s: %s is %s', (kind, base, path, expected) => {
  expect(upstreamPath({ kind, baseUrl: new URL(base) }, path, '?beta=true')).toBe(`${expected}?beta=true`);
});

test.each([
  [{ authorization: 'Bearer rva_a' }, 'rva_a'],
  [{ authorization: 'bearer rva_a ' }, 'rva_a'],
  [{ 'x-api-key': 'rva_b' }, 'rva_b'],
  [{ authorization: 'Bearer dummy', 'x-api-key': 'rva_b' }, 'rva_b'],
  [{ authorization: 'Bearer own-token', 'x-api-key': 'dummy' }, 'own-token'],
])('%j has the token %s', (headers, token) => {
  expect(agentTokenOf(headers)).toBe(token);
});

test.each([{}, { authorization: 'Basic eA==' }, { authorization: 'Bearer' }, { 'x-api-key': ' ' }])(
  '%j has none',
  (headers) => {
    expect(() => agentTokenOf(headers)).toThrow('The agent token is not accepted');
  },
);

test('a trace is taken from a well-formed traceparent, and each call has its own span', () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const traceparent = `00-${trace}-00f067aa0ba902b7-01`;
  const [first, second] = [traceOf(message({ traceparent })), traceOf(message({ traceparent }))];
  expect([first.traceId, second.traceId]).toEqual([trace, trace]);
  expect(first.spanId).not.toBe(second.spanId);
  for (const bad of ['', 'x', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, `00-${trace}`]) {
    expect(traceOf(message({ traceparent: bad })).traceId).not.toBe(trace);
  }
});

test.each([
  ['localhost:8090', true],
  ['127.0.0.1', true],
  ['[::1]:1', true],
  ['proxy.example:8090', true],
  ['proxy.internal', true],
  ['attacker.example', false],
  ['localhost.attacker.example', false],
  ['localhost@attacker.example', false],
  ['', false],
])('the host %j is answered: %s', (host, isAnswered) => {
  const check = new HostCheck('proxy.internal', ['Proxy.Example']);
  const require = () => check.require(message({ host }));
  if (isAnswered) expect(require).not.toThrow();
  else expect(require).toThrow('does not answer for the host');
});
