import { beforeEach, expect, test } from 'vitest';
import { action } from '../action/action.ts';
import { delegateAgent } from '../testkit/commands.ts';
import { agentId } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';

let g: TestGovernance;
let bot: TestAgent;

beforeEach(async () => {
  g = await testGovernance();
  await g.policies('default: allow');
  bot = await g.register(agentId('acme/search/bot'));
});

const call = (host: string) => action('network_call', { host, port: 80, protocol: 'http', namedOnly: true });
const decision = async (host: string, by = bot) => (await g.check(by, { action: call(host) })).decision;
const policy = (rules: string) => g.policies(`name: house\ndefault: allow\nrules: [${rules}]`);

test('neither a default nor a rule with wildcards allows it', async () => {
  expect(await g.check(bot, { action: call('10.0.0.5') })).toMatchObject({
    decision: 'deny',
    policyRule: 'default',
    reason: 'no rule names the host "10.0.0.5" itself, and nothing else allows this call',
  });
  for (const hosts of ['"*"', '"10.*"', '"10.0.0.?"', '"10.0.0.[5]"', '"**"']) {
    await policy(`{name: any, effect: allow, hosts: [${hosts}]}`);
    expect(await decision('10.0.0.5'), hosts).toBe('deny');
  }
  await policy('{name: any, effect: allow, actions: [network_call]}, {name: asked, effect: require_approval}');
  expect(await decision('10.0.0.5')).toBe('deny');
});

test('a rule that names it allows it, or asks; what denies or asks besides counts as ever', async () => {
  const named = '{name: named, effect: allow, hosts: ["*.example.com", 10.0.0.5, "::1"]}';
  await policy(named);
  expect(await g.check(bot, { action: call('10.0.0.5') })).toMatchObject({
    decision: 'allow',
    policyRule: 'house/named',
  });
  expect([await decision('::1'), await decision('[::1]'), await decision('10.0.0.6')]).toEqual([
    'allow',
    'allow',
    'deny',
  ]);
  await policy(`${named}, {name: asked, effect: require_approval, hosts: ["10.*"]}`);
  expect(await decision('10.0.0.5')).toBe('pending');
  await policy(`${named}, {name: no, effect: deny, hosts: ["10.*"]}`);
  expect(await g.check(bot, { action: call('10.0.0.5') })).toMatchObject({ decision: 'deny', policyRule: 'house/no' });
  await policy('{name: asked, effect: require_approval, hosts: [10.0.0.5]}');
  expect(await decision('10.0.0.5')).toBe('pending');
  await policy('{name: never, effect: allow, hosts: [10.0.0.5], users: ["ada@example.com"]}');
  expect(await decision('10.0.0.5')).toBe('deny');
});

test('a host that nobody can read is named by nobody', async () => {
  await policy('{name: named, effect: allow, hosts: ["a b"]}');
  expect(await decision('a b')).toBe('deny');
});

test('a rule for everybody above a delegate must name it, too', async () => {
  await g.policies(
    'default: allow',
    'scope: agent:acme/search/child\nname: of-child\nrules: [{name: named, effect: allow, hosts: [10.0.0.5]}]',
  );
  const { agentId: id, token } = await g.settle(delegateAgent(g.gov, bot, 'child'));
  expect(await decision('10.0.0.5', { id, token })).toBe('deny');
  await policy('{name: named, effect: allow, hosts: [10.0.0.5]}');
  expect(await decision('10.0.0.5', { id, token })).toBe('allow');
});

test('the same call without that is another request', async () => {
  await policy('{name: named, effect: allow, hosts: [10.0.0.5]}');
  const ids = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };
  expect(await g.check(bot, { action: call('10.0.0.5'), ...ids })).toMatchObject({ decision: 'allow' });
  const wider = { ...call('10.0.0.5'), namedOnly: false };
  expect(await g.check(bot, { action: wider, ...ids })).toMatchObject({
    decision: 'deny',
    reason: 'operation id was used for another request',
  });
});
