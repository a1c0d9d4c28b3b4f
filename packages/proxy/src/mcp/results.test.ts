import type { CheckResultRequest, CompleteActionRequest } from '@reeve/contract';
import { outcomeNames } from '@reeve/contract';
import { describe, expect, it } from 'vitest';
import { allowing, judging, masking, unavailable } from '../../../sdk/test/scripted-answers.ts';
import { PipedProxy } from '../../test/piped-proxy.ts';

const secret = 'anna@example.com';
const textOf = (result: Record<string, unknown> | undefined) =>
  (result?.['content'] as { text?: string }[] | undefined)?.[0]?.text;
const judged = ({ client }: PipedProxy) =>
  client.gateway
    .messages<CheckResultRequest>('checkResult')
    .map(({ resultJson, isError }) => [JSON.parse(Buffer.from(resultJson).toString()) as unknown, isError]);

describe('a result that policy judges', () => {
  it('is judged whole, before the client sees a byte, and passes as masks leave it', async () => {
    await using proxy = await PipedProxy.start();
    const id = proxy.start('tools/call', { name: 'lookup', arguments: {} });
    await proxy.answer(id);
    const line = proxy.lines.find((each) => each.includes(`"id":${id},"result"`));
    const content = '[{"type":"text","text":"mail [email]"},{"type":"image","data":"AAAA","mimeType":"image/png"}]';
    const result = `{"content":${content},"structuredContent":{"mail":"[email]","n":1.50}}`;
    expect(line).toBe(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
    expect(judged(proxy)).toEqual([[expect.objectContaining({ structuredContent: { mail: secret, n: 1.5 } }), false]]);
    await proxy.ask('ping');
    expect(proxy.lines.join('\n')).not.toContain(secret);
  });

  it('passes as it came where nobody wants to judge it, and so does all that the server says', async () => {
    await using proxy = await PipedProxy.start({ checkAction: allowing });
    await proxy.call('lookup');
    await proxy.find(({ params }) => params?.['data'] === `gave ${secret}`);
    await proxy.find(({ method }) => method === 'notifications/x');
    expect(judged(proxy)).toEqual([]);
  });

  it('has progress in numbers, and changes of lists, but no words beside it', async () => {
    await using proxy = await PipedProxy.start();
    await proxy.call('lookup', {}, { _meta: { progressToken: 'p' } });
    await proxy.ask('ping');
    const said = proxy.messages.filter(({ method }) => method !== undefined);
    expect(said).toEqual([
      { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: {} },
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'p', progress: 1, total: 2 } },
    ]);
  });

  it('is told by no number of a cancellation, which may name what the server has asked for, in a batch as well', async () => {
    await using proxy = await PipedProxy.start();
    await proxy.ask('x/ask', { ids: ['s1', 7] });
    await proxy.call('nothing');
    await proxy.ask('x/cancel', { ids: [4_111_111_111_111_111, 's1', '7', 7, secret] });
    const said = proxy.messages.filter(({ method }) => method === 'notifications/cancelled');
    expect(said.map(({ params }) => params)).toEqual([{ requestId: 's1' }, { requestId: 7 }]);
  });

  it('is told by no notification that names another request', async () => {
    await using proxy = await PipedProxy.start();
    await proxy.call('nothing');
    const notifications = { promptsListChanged: true, resourceSubscriptions: ['note://one'] };
    const id = proxy.start('subscriptions/listen', { notifications });
    const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
    const { params } = await proxy.find(({ method }) => method === 'notifications/subscriptions/acknowledged');
    expect(params).toEqual({ notifications, _meta });
    await proxy.call('lookup');
    const changed = await proxy.find(({ method }) => method === 'notifications/prompts/list_changed');
    expect(changed.params).toEqual({ _meta });
    expect(proxy.messages.filter(({ method }) => method === 'notifications/message')).toEqual([]);
    expect(proxy.lines.join('\n')).not.toContain(secret);
  });

  it('may be an error', async () => {
    await using proxy = await PipedProxy.start();
    const { error } = await proxy.call('error');
    expect(error).toEqual({ code: -32_050, message: 'no [email]', data: { secret: '[email]' } });
    const { result } = await proxy.call('failed');
    expect([result?.['isError'], textOf(result)]).toEqual([true, 'no [email]']);
    expect(judged(proxy).map(([, isError]) => isError)).toEqual([true, true]);
  });

  it('is an error result if it is denied, and the operation says how the call itself ended', async () => {
    await using proxy = await PipedProxy.start();
    const { result } = await proxy.call('echo', { a: 'forbidden' });
    expect(result).toMatchObject({ isError: true, _meta: { 'reeve.dev/decision': { policy_rule: 'test/no' } } });
    expect(textOf(result)).toBe('Denied by policy: it is forbidden');
    const [completed] = proxy.client.gateway.messages<CompleteActionRequest>('completeAction');
    expect(outcomeNames.nameOf(completed?.outcome ?? 0)).toBe('succeeded');
    expect(proxy.lines.join('\n')).not.toContain('"a');
  });

  it.each([
    ['the gateway is gone', () => unavailable()],
    ['the answer makes no sense', () => masking('no JSON')],
    ['what is left is no result', () => masking('"gone"')],
  ])('is denied if %s', async (_what, checkResult) => {
    await using proxy = await PipedProxy.start({ checkResult });
    const { result } = await proxy.call('lookup');
    expect(textOf(result)).toMatch(/^Denied by policy: /);
    await proxy.ask('ping');
    expect(proxy.lines.join('\n')).not.toContain(secret);
  });

  it('is valid after masks that take away what the protocol needs', async () => {
    const checkResult = () =>
      masking(
        '{"content":[{"type":"text","text":"***"},{"type":"image","data":"*","mimeType":"image/png"}],"structuredContent":"***"}',
      );
    await using proxy = await PipedProxy.start({ checkResult });
    const { result } = await proxy.call('lookup');
    expect(result).toEqual({
      content: [
        { type: 'text', text: '***' },
        { type: 'text', text: 'masked by policy' },
      ],
    });
    proxy.client.gateway.script.checkResult = () =>
      masking('{"content":"***","structuredContent":{"mail":"x","n":"y"}}');
    expect((await proxy.call('lookup')).result).toEqual({
      content: [{ type: 'text', text: '***' }],
      structuredContent: { mail: 'x', n: 'y' },
    });
  });

  it('does not come as the result of a task, asked for or not', async () => {
    await using proxy = await PipedProxy.start();
    const asked = await proxy.call('nothing', {}, { task: { ttl: 1000 } });
    expect(textOf(asked.result)).toMatch(/^Denied by policy: .*task/);
    expect(textOf((await proxy.call('late')).result)).toMatch(/^Denied by policy: .*task/);
    const { error } = await proxy.ask('tasks/result', { taskId: 'task-1' });
    expect([error?.code, error?.message]).toEqual([-32_001, expect.stringMatching(/^Denied by policy: /)]);
    expect(proxy.lines.join('\n')).not.toContain(secret);
  });

  it('leaves tasks alone that calls have begun whose results nobody judges', async () => {
    await using proxy = await PipedProxy.start({ checkAction: allowing });
    await proxy.call('late');
    proxy.client.gateway.script.checkAction = judging;
    await proxy.call('nothing');
    expect(textOf((await proxy.ask('tasks/result', { taskId: 'task-1' })).result)).toBe(secret);
  });

  it('does not hide news of a resource that the client itself has named', async () => {
    await using proxy = await PipedProxy.start();
    await proxy.ask('resources/subscribe', { uri: 'note://one' });
    await proxy.call('update', { uri: 'note://one' });
    await proxy.call('update', { uri: `note://${secret}` });
    const news = proxy.messages.filter(({ method }) => method === 'notifications/resources/updated');
    expect(news.map(({ params }) => params)).toEqual([{ uri: 'note://one' }]);
  });
});
