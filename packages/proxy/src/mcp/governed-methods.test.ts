import type { CheckActionRequest, CheckActionResponse, CompleteActionRequest } from '@reeve/contract';
import { Decision, outcomeNames } from '@reeve/contract';
import { describe, expect, it } from 'vitest';
import { allowing, answering, denying, judging, unavailable } from '../../../sdk/test/scripted-answers.ts';
import { PipedProxy } from '../../test/piped-proxy.ts';
import { governedMethods } from './govern/governed-methods.ts';

const all = { methods: governedMethods(['all']) };
const secret = 'anna@example.com';

const toolOf = ({ context }: CheckActionRequest) =>
  context?.action?.$case === 'toolCall' ? context.action.value.toolName : '';
/** Allows calls of tools without judging their results, and answers the rest so. */
const besides = (play: (request: CheckActionRequest) => CheckActionResponse) => (request: CheckActionRequest) =>
  toolOf(request).includes('/') ? play(request) : allowing(request);
const answerText = async (proxy: PipedProxy, id: number) => {
  const { result } = await proxy.answer(id);
  return (result?.['content'] as { text: string }[] | undefined)?.[0]?.text;
};

describe('what a client asks for, besides tools', () => {
  it('passes unless somebody governs it', async () => {
    await using proxy = await PipedProxy.start();
    expect(JSON.stringify(await proxy.ask('resources/read', { uri: 'note://one' }))).toContain(secret);
    expect(proxy.checked).toEqual([]);
  });

  it('is a check, with the parameters as arguments, and brings back a result', async () => {
    await using proxy = await PipedProxy.start({}, all);
    const meta = { _meta: { progressToken: 1 } };
    expect((await proxy.ask('resources/read', { uri: 'note://one', ...meta })).result).toEqual({
      contents: [{ uri: 'note://one', text: 'of [email]' }],
    });
    const { result } = await proxy.ask('prompts/get', { name: 'hi', arguments: { city: 'Ulm' } });
    expect(JSON.stringify(result)).toContain('hi [email]');
    await proxy.ask('resources/subscribe', { uri: 'note://one' });
    await proxy.ask('resources/unsubscribe', { uri: 'note://one' });
    expect(proxy.checked).toEqual([
      ['resources/read', 'talkative', { uri: 'note://one' }],
      ['prompts/get', 'talkative', { name: 'hi', arguments: { city: 'Ulm' } }],
      ['resources/subscribe', 'talkative', { uri: 'note://one' }],
    ]);
  });

  it.each([
    ['is denied', denying('no'), /^Denied by policy: no$/],
    [
      'waits for an approval too long',
      (request: CheckActionRequest) => answering(Decision.PENDING, request),
      /^Waiting for approval/,
    ],
    ['finds no gateway', () => unavailable(), /^Reeve is not reachable/],
  ] as const)('is an error if it %s', async (_what, checkAction, message) => {
    await using proxy = await PipedProxy.start({ checkAction }, all);
    for (const method of ['resources/read', 'resources/subscribe', 'prompts/get']) {
      const { error } = await proxy.ask(method, { uri: 'note://one', name: 'hi' });
      expect(error).toMatchObject({ code: -32_001, message: expect.stringMatching(message) as string });
    }
    expect(proxy.lines.join('\n')).not.toContain(secret);
  });

  it('is an error if its result is denied, or no result is left', async () => {
    await using proxy = await PipedProxy.start({}, all);
    const { error } = await proxy.ask('prompts/get', { name: 'forbidden' });
    expect(error).toMatchObject({ code: -32_001, message: 'Denied by policy: it is forbidden' });
    proxy.client.gateway.script.checkResult = () => ({
      ...{ decision: Decision.ALLOW, reason: '', policyRule: '', labels: [] },
      resultJson: Buffer.from('{"contents":"***"}'),
    });
    const left = await proxy.ask('resources/read', { uri: 'note://one' });
    expect(left.error).toMatchObject({
      code: -32_001,
      message: expect.stringMatching(/^Denied by policy: /) as string,
    });
  });

  it('means one thing to all readers, and is a request', async () => {
    await using proxy = await PipedProxy.start({}, all);
    const { error } = await proxy.ask('resources/read', { uri: 'note://one', URI: 'note://two' });
    expect(error?.code).toBe(-32_602);
    proxy.send({ method: 'resources/read', params: { uri: 'note://one' } });
    const listen = (resourceSubscriptions: unknown) =>
      proxy.ask('subscriptions/listen', { notifications: { resourceSubscriptions } });
    expect((await listen(['note://one', 'note://two'])).error?.message).toMatch(/^Denied by policy: .*one resource/);
    await listen(['note://one']);
    expect(proxy.checked).toEqual([['resources/subscribe', 'talkative', { uri: 'note://one' }]]);
  });
});

describe('what a server asks the client for', () => {
  const sample = (proxy: PipedProxy, prompt = 'hi') =>
    proxy.start('tools/call', { name: 'sample', arguments: { prompt } });
  const isSampling = ({ method }: { readonly method?: string }) => method === 'sampling/createMessage';
  const sampled = (text: string) => ({ model: 'm', role: 'assistant', content: { type: 'text', text } });

  it('is a check before the client sees it, and the answer is its result', async () => {
    await using proxy = await PipedProxy.start({ checkAction: besides(judging) }, all);
    const call = sample(proxy);
    const { id, params } = await proxy.find(isSampling);
    expect(proxy.checked.at(-1)).toEqual(['sampling/createMessage', 'talkative', params]);
    proxy.send({ id, result: sampled(`write to ${secret}`) });
    expect(await answerText(proxy, call)).toBe(JSON.stringify(sampled('write to [email]')));
    // Whatever else the client says to it goes nowhere.
    proxy.send({ id, result: sampled(secret) });
    const outcomes = proxy.client.gateway.messages<CompleteActionRequest>('completeAction');
    expect(outcomes.map(({ outcome }) => outcomeNames.nameOf(outcome))).toEqual(['succeeded', 'succeeded']);
  });

  it('is never seen if it is denied, and the server hears why', async () => {
    await using proxy = await PipedProxy.start({ checkAction: besides(denying('no sampling')) }, all);
    const text = await answerText(proxy, sample(proxy));
    expect(JSON.parse(text ?? '')).toMatchObject({ code: -32_001, message: 'Denied by policy: no sampling' });
    const elicited = proxy.start('tools/call', { name: 'elicit', arguments: { message: 'hi' } });
    expect(await answerText(proxy, elicited)).toContain('Denied by policy');
    expect(proxy.messages.filter(({ method }) => method !== undefined)).toEqual([]);
  });

  it('brings nothing back if the answer is denied', async () => {
    await using proxy = await PipedProxy.start({ checkAction: besides(judging) }, all);
    const call = proxy.start('tools/call', { name: 'elicit', arguments: { message: 'hi' } });
    const { id } = await proxy.find(({ method }) => method === 'elicitation/create');
    proxy.send({ id, result: { action: 'accept', content: { mail: 'forbidden' } } });
    expect(await answerText(proxy, call)).toContain('Denied by policy: it is forbidden');
  });

  it('passes with its answer if it is no check, and answers to nothing do not', async () => {
    await using proxy = await PipedProxy.start({ checkAction: besides(judging) }, all);
    const call = proxy.start('tools/call', { name: 'roots', arguments: {} });
    const { id } = await proxy.find(({ method }) => method === 'roots/list');
    proxy.send({ id, result: { roots: [{ uri: `file:///${secret}` }] } });
    expect(await answerText(proxy, call)).toContain(secret);
  });
});

describe('what a server asks for within an answer', () => {
  it('passes if it is allowed', async () => {
    await using proxy = await PipedProxy.start({ checkAction: allowing }, all);
    const { result } = await proxy.call('input');
    expect(result?.['inputRequests']).toMatchObject({ mail: { params: { message: 'Your mail?' } }, roots: {} });
    expect(proxy.checked).toEqual([
      ['input', 'talkative', {}],
      ['elicitation/create', 'talkative', expect.objectContaining({ message: 'Your mail?' })],
    ]);
  });

  it.each([
    ['it is denied', denying('do not ask'), 'do not ask'],
    ['nobody could judge the answer', judging, 'nobody judges it'],
  ] as const)('does not pass if %s', async (_what, play, reason) => {
    await using proxy = await PipedProxy.start({ checkAction: besides(play) }, all);
    const { error } = await proxy.call('input');
    expect([error?.code, error?.message]).toEqual([-32_001, expect.stringContaining(reason)]);
    expect(error?.message).toMatch(/^Denied by policy: /);
    expect(proxy.lines.join('')).not.toContain('Your mail?');
  });
});

describe('what policy has rewritten', () => {
  const rewriting = (args: object) => (request: CheckActionRequest) => {
    expect(request.canRewrite).toBe(true);
    return answering(Decision.ALLOW, request, { argsJson: Buffer.from(JSON.stringify(args)) });
  };

  it('is what a tool is called with', async () => {
    await using proxy = await PipedProxy.start({ checkAction: rewriting({ limit: 5 }) });
    const { result } = await proxy.call('echo', { limit: 500, all: true });
    expect(result).toEqual({ content: [{ type: 'text', text: '{"limit":5}' }] });
  });

  it('is what is asked of a server, and of a client, with all that is not an argument', async () => {
    await using proxy = await PipedProxy.start({ checkAction: besides(rewriting({ uri: 'note://two' })) }, all);
    const { result } = await proxy.ask('resources/read', { uri: 'note://one', _meta: { progressToken: 3 } });
    expect(result?.['contents']).toEqual([{ uri: 'note://two', text: `of ${secret}` }]);
    proxy.client.gateway.script.checkAction = besides(rewriting({ messages: [], maxTokens: 1 }));
    const call = proxy.start('tools/call', { name: 'sample', arguments: { prompt: 'hi' } });
    const { id, params } = await proxy.find(({ method }) => method === 'sampling/createMessage');
    expect(params).toEqual({ messages: [], maxTokens: 1 });
    proxy.send({ id, result: {} });
    await proxy.answer(call);
  });

  it('is nothing that happens if it is no object', async () => {
    await using proxy = await PipedProxy.start({ checkAction: rewriting([1]) });
    const { result } = await proxy.call('echo', { limit: 500 });
    expect(result?.['isError']).toBe(true);
    expect(JSON.stringify(result)).not.toContain('500');
  });
});

it('governs what is named, and nothing that is not known', () => {
  expect(() => governedMethods(['tools/list'])).toThrow('"tools/list" cannot be governed');
  expect(() => governedMethods([])).toThrow('name what to govern');
  expect([...governedMethods(['prompts/get']).ofClient]).toEqual(['prompts/get']);
});
