import { Decision } from '@reeve/contract';
import { expect, test } from 'vitest';
import { startClient } from '../test/client.ts';
import { answering } from '../test/scripted-answers.ts';
import type { CheckActionRequest as CheckRequest } from '@reeve/contract';
import type { Operation } from './index.ts';
import { ReeveInternal } from './index.ts';

const action = { tool: 'search', args: { limit: 50 } };

/** Rewrites for those who say that they can, and says what it was told. */
function rewriting(argsJson = '{"limit":10}') {
  return (request: CheckRequest) =>
    answering(Decision.ALLOW, request, request.canRewrite ? { argsJson: Buffer.from(argsJson) } : {});
}

test('work gets the arguments to act with', async () => {
  await using client = await startClient({ checkAction: rewriting() });
  expect(await client.agent.run(action, ({ args }) => args)).toEqual({ limit: 10 });
  const answer = await client.agent.check(action, { canRewrite: true });
  expect(answer.rewrittenArgs).toEqual({ limit: 10 });
});

test('work that does not look at its operation does not say that it could', async () => {
  await using client = await startClient({ checkAction: rewriting() });
  await client.agent.run(action, () => undefined);
  await client.agent.run(action, ({ args }) => expect(args).toBe(action.args), { canRewrite: false });
  await client.agent.check(action);
  await client.agent.run(action, () => undefined, { canRewrite: true });
  const said = client.gateway.messages('checkAction').map(({ canRewrite }) => canRewrite);
  expect(said).toEqual([false, false, false, true]);
});

test('a guarded function gets its one argument as it was rewritten, or says that it cannot', async () => {
  await using client = await startClient({ checkAction: rewriting() });
  const { agent, gateway } = client;
  const one = agent.guard('search', ({ limit }: { limit: number }) => limit);
  expect(await one({ limit: 50 })).toBe(10);
  const seen = agent.guard('search', (limit: number) => limit, { args: (limit) => ({ limit }) });
  expect(await seen(50)).toBe(50);
  const several = agent.guard('search', (limit: number, q: string) => `${q}${limit}`);
  expect(await several(50, 'x')).toBe('x50');
  const passed = agent.guard('search', (limit: number, { args }: Operation) => [limit, args], {
    args: (limit: number) => ({ limit }),
    passOperation: true,
  });
  expect(await passed(50)).toEqual([50, { limit: 10 }]);
  expect(gateway.messages('checkAction').map(({ canRewrite }) => canRewrite)).toEqual([true, false, false, true]);
});

test('work never begins with arguments that cannot be read', async () => {
  for (const text of ['{', '[1]', 'null', '"x"']) {
    await using client = await startClient({ checkAction: rewriting(text) });
    let hasRun = false;
    const run = client.agent.run(action, (operation) => {
      hasRun = operation.args !== undefined;
    });
    await expect(run).rejects.toThrow(ReeveInternal);
    expect(hasRun).toBe(false);
  }
});
