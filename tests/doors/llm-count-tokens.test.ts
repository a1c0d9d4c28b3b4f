import type { ServerResponse } from 'node:http';
import {
  AuthenticationError as AnthropicAuthenticationError,
  PermissionDeniedError as AnthropicPermissionDeniedError,
} from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { sendJson } from '../harness/send-answer.ts';
import { LlmWorld, prices } from './llm-world.ts';

const policy = `
name: test
default: allow
rules:
  - {name: no-four, effect: deny, models: [claude-4]}
  - {name: ask, effect: require_approval, models: [claude-ask]}
${prices}`;

let world: LlmWorld;
beforeAll(async () => {
  world = await LlmWorld.start({ policy, proxyArgs: ['--approval-wait', '1'] });
});
afterAll(() => world[Symbol.asyncDispose]());
afterEach(() => {
  world.upstream.script = () => false;
});

const messages = [{ role: 'user' as const, content: 'How long do refunds take?' }];

function count(model: string, more: { token?: string; signal?: AbortSignal } = {}) {
  const { token, signal } = more;
  return world.anthropic(token).messages.countTokens({ model, messages }, signal === undefined ? {} : { signal });
}

/** The error of a count that must not reach the upstream. */
async function refused(model: string, token?: string): Promise<unknown> {
  const calls = world.upstream.seen.length;
  const error = await count(model, token === undefined ? {} : { token }).then(
    () => 'it was counted',
    (failed: unknown) => failed,
  );
  expect(world.upstream.seen).toHaveLength(calls);
  return error;
}

/** The upstream gets the next call, and waits for the test. */
function heldUpstream(): Promise<ServerResponse> {
  const begun = Promise.withResolvers<ServerResponse>();
  world.upstream.script = (_, response) => {
    begun.resolve(response);
    return true;
  };
  return begun.promise;
}

/** How the newest call was reported. */
const outcome = () =>
  world.gateway.audit().findLast(({ payload }) => payload['outcome'] !== undefined)?.payload['outcome'];

test('a count is a check that reserves its prompt, and is settled with nothing', async () => {
  const [before, checks] = [await world.spent(), world.checks().length];
  const begun = heldUpstream();
  const counted = count('claude-5');
  const upstream = await begun;
  const { body, url } = world.upstream.last;
  expect(url).toBe('/v1/messages/count_tokens');
  const decided = world.checks().slice(checks);
  expect(decided).toMatchObject([{ event_type: 'ActionAllowed', decision: 'allow' }]);
  const action = decided[0]?.payload['action'];
  expect(action).toMatchObject({ type: 'llm_call', model: 'claude-5', prompt_tokens: Buffer.byteLength(body) });
  expect(action).not.toHaveProperty('max_output_tokens');
  // A dollar for a million tokens.
  expect(Number((await world.budget()).reserved) * 1e6).toBeCloseTo(Buffer.byteLength(body));
  sendJson(upstream, { input_tokens: 12 });
  expect(await counted).toEqual({ input_tokens: 12 });
  expect(await world.spent()).toBe(before);
  await eventually(() => expect(outcome()).toBe('succeeded'));
  expect(world.checks()).toHaveLength(checks + 1);
});

test('a count that breaks off, or that the upstream does not answer well, costs nothing either', async () => {
  const before = await world.spent();
  const begun = heldUpstream();
  const abort = new AbortController();
  const counted = count('claude-5', { signal: abort.signal });
  await begun;
  abort.abort();
  await expect(counted).rejects.toThrow();
  await eventually(() => expect(outcome()).toBe('cancelled'));
  expect(await world.spent()).toBe(before);
  world.upstream.script = (_, response) => {
    sendJson(response, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 529);
    return true;
  };
  await expect(count('claude-5')).rejects.toMatchObject({ status: 529, type: 'overloaded_error' });
  await eventually(() => expect(outcome()).toBe('failed'));
  expect(await world.spent()).toBe(before);
});

test('a count with a model that policy denies does not happen', async () => {
  const checks = world.checks().length;
  const error = await refused('claude-4');
  expect(error).toBeInstanceOf(AnthropicPermissionDeniedError);
  expect(error).toMatchObject({ status: 403, type: 'permission_error', errorCode: 'policy_denied' });
  expect(String(error)).toContain('no-four');
  expect(world.checks().slice(checks)).toMatchObject([{ event_type: 'ActionDenied', decision: 'deny' }]);
});

test('a count by a suspended agent does not happen, and neither does one by nobody', async () => {
  const agent = '/api/v1/agents/acme/core/writer';
  await world.gateway.api.post(`${agent}/suspend`, bootstrapKey, { reason: 'looked odd' });
  const error = await refused('claude-5');
  await world.gateway.api.post(`${agent}/resume`, bootstrapKey, { reason: 'it was not' });
  expect(error).toMatchObject({ status: 403, type: 'permission_error', errorCode: 'policy_denied' });
  expect(String(error)).toContain('agent is suspended');
  expect(await refused('claude-5', 'rva_nobody')).toBeInstanceOf(AnthropicAuthenticationError);
});

test('a count that needs an approval is held, and called off if nobody decides in time', async () => {
  const error = await refused('claude-ask');
  expect(error).toMatchObject({ status: 403, type: 'permission_error', errorCode: 'approval_pending' });
  await world.spent();
});

test('TERMINATE stops a count', async () => {
  const begun = heldUpstream();
  const stopped = expect(count('claude-5')).rejects.toMatchObject({ status: 403, errorCode: 'operation_terminated' });
  await begun;
  const op = world.checks().at(-1)?.op_id ?? '';
  const path = `/api/v1/ops/${encodeURIComponent(op)}/terminate`;
  expect((await world.gateway.api.post(path, bootstrapKey, { reason: 'enough' })).status).toBe(202);
  await stopped;
  await eventually(() => expect(world.upstream.last.wasAborted).toBe(true));
});

test('without a gateway nothing is counted', async () => {
  await world.gateway.kill('SIGKILL');
  expect(await refused('claude-5')).toMatchObject({ status: 503, type: 'api_error' });
});
