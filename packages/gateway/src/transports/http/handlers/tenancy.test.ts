import { setImmediate as nextTurn } from 'node:timers/promises';
import { executorOf } from '@reeve/core';
import { agentId, operator, testGovernance } from '@reeve/core/testkit';
import { expect, test } from 'vitest';
import { tenancyHandlers } from './tenancy.ts';

test('a suspension that is durable is answered as such, also where the agent leaves in the same turn', async () => {
  const governance = await testGovernance();
  const bot = await governance.register(agentId('acme/search/bot'));
  const execute = executorOf(governance.gov);
  const handlers = tenancyHandlers(governance.gov, execute);
  const call = {
    requestId: 'r',
    hasLeft: () => false,
    from: { address: '', userAgent: '', requestId: 'r' },
    principal: operator,
  };
  const params = { org: 'acme', team: 'search', agent: 'bot' };
  const request = { query: undefined, headers: undefined, params, body: { reason: 'runs wild' } };
  const suspending = Promise.resolve(handlers.suspendAgent(request as never, call));
  const leaving = execute({ kind: 'deregister_agent', agentId: bot.id, token: bot.token, reason: '' });
  const settling = Promise.allSettled([suspending, leaving]);
  await nextTurn();
  governance.turn();
  const [answer] = await settling;
  const { agents } = await governance.store.load();
  expect(agents).toMatchObject([{ suspension: { reason: 'runs wild' } }]);
  expect(answer).toMatchObject({ status: 'fulfilled' });
});
