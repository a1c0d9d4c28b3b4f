import { beforeEach, describe, expect, test } from 'vitest';
import { action } from '../action/action.ts';
import type { RawCheckRequest } from '../action/check-request.ts';
import type { Facts, PolicyFeatures } from '../policy/condition.ts';
import { simulate } from '../simulation/simulate.ts';
import { delegateAgent } from '../testkit/commands.ts';
import { agentId, checkOf, operator, useTool } from '../testkit/requests.ts';
import { askAbout } from '../testkit/results.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { ticks } from '../testkit/two-gateways.ts';
import { mustBeMasked } from './mask-prompt.ts';

const conditions: Readonly<Record<string, (facts: Facts) => boolean>> = {
  'the model is big': (facts) => facts.action.model.startsWith('big'),
  'the run is new': (facts) => facts.run().checks < 1,
  fails: () => {
    throw new Error('it fails');
  },
};

const features: PolicyFeatures = {
  compileCondition: (text) => (facts) => conditions[text]?.(facts) ?? false,
  compileResultCondition: () => () => true,
};

const policy = `
name: p
default: allow
rules:
  - { name: never, effect: deny, models: [never] }
  - { name: ask, effect: require_approval, models: [held] }
  - { name: emails, effect: mask, actions: [llm_call], models: ["gpt-*", held, never], mask: { detect: [email] } }
  - { name: cards, effect: mask, actions: [llm_call], models: ["gpt-*"], mask: { detect: [card], with: "#" } }
  - { name: big, effect: mask, actions: [llm_call], models: ["big*", small], when: the model is big, mask: { fields: [a] } }
  - { name: new, effect: mask, actions: [llm_call], models: [new], when: the run is new, mask: { detect: [email] } }
  - { name: frail, effect: mask, actions: [llm_call], models: [frail], when: fails, mask: { detect: [ip] } }
  - { name: answers, on: result, effect: mask, models: ["gpt-*"], mask: { detect: [phone] } }
`;

let g: TestGovernance;
let bot: TestAgent;

beforeEach(async () => {
  g = await testGovernance({ features });
  await g.policies(policy);
  bot = await g.register(agentId('acme/search/bot'));
});

const callOf = (model: string, over: Partial<RawCheckRequest> = {}): Partial<RawCheckRequest> => {
  return { action: action('llm_call', { model }), canMaskPrompt: true, ...over };
};

async function answered<Result>(work: Promise<Result>): Promise<Result> {
  const watch = { isOver: false };
  const end = () => {
    watch.isOver = true;
  };
  work.then(end, end);
  while (!watch.isOver) {
    await ticks();
    g.turn();
  }
  return work;
}

async function judged(opId: string, text: string, part: 'prompt' | 'result' = 'prompt', by = bot) {
  const { result, ...answer } = await answered(askAbout(g, by, opId, text, { request: { part } }));
  return { ...answer, passed: result === undefined ? undefined : new TextDecoder().decode(result) };
}

const entries = async (opId: string) => (await g.audit()).filter((entry) => entry.op_id === opId);

describe('a check of a model call whose prompt rules mask', () => {
  test('says so to a caller that can have it masked', async () => {
    const answer = await g.check(bot, callOf('gpt-5'));
    expect(answer).toMatchObject({ decision: 'allow', policyRule: 'default', judgePrompt: true, judgeResult: true });
    const [decided] = await entries(answer.opId);
    expect(decided?.payload['masks_prompt']).toBe(true);
  });

  test('denies it to any other, by the rule that masks', async () => {
    const refused = await g.check(bot, callOf('gpt-5', { canMaskPrompt: false }));
    expect(refused).toMatchObject({
      decision: 'deny',
      reason: mustBeMasked,
      policyRule: 'p/emails',
      judgePrompt: false,
    });
    expect(await g.check(bot, callOf('held', { canMaskPrompt: false }))).toMatchObject({ decision: 'deny' });
  });

  test('is not denied, and not allowed, by a rule that masks', async () => {
    expect(await g.check(bot, callOf('never'))).toMatchObject({ decision: 'deny', policyRule: 'p/never' });
    expect(await g.check(bot, callOf('held'))).toMatchObject({ decision: 'pending', judgePrompt: true });
    await g.policies(policy.replace('default: allow', 'default: deny'));
    expect(await g.check(bot, callOf('gpt-5'))).toMatchObject({ decision: 'deny', policyRule: 'default' });
  });

  test('looks at the condition, which counts as matching where it fails', async () => {
    expect(await g.check(bot, callOf('big-1'))).toMatchObject({ judgePrompt: true });
    expect(await g.check(bot, callOf('small', { canMaskPrompt: false }))).toMatchObject({ decision: 'allow' });
    expect(await g.check(bot, callOf('frail'))).toMatchObject({ judgePrompt: true });
    expect(await g.check(bot, callOf('other', { canMaskPrompt: false }))).toMatchObject({
      decision: 'allow',
      judgePrompt: false,
    });
    expect(await g.check(bot, { action: useTool('gpt-5') })).toMatchObject({ decision: 'allow', judgePrompt: false });
  });

  test('asked again says the same, and refuses a caller that cannot', async () => {
    const ids = { traceId: 't', spanId: 's' };
    await g.check(bot, callOf('gpt-5', ids));
    expect(await g.check(bot, callOf('gpt-5', ids))).toMatchObject({
      decision: 'allow',
      tier: 'replay',
      judgePrompt: true,
    });
    const unable = await g.check(bot, callOf('gpt-5', { ...ids, canMaskPrompt: false }));
    expect(unable).toMatchObject({ decision: 'deny', reason: mustBeMasked, judgePrompt: false });
    const held = { traceId: 't', spanId: 'held' };
    await g.check(bot, callOf('held', held));
    expect(await g.check(bot, callOf('held', held))).toMatchObject({ decision: 'pending', judgePrompt: true });
  });

  test('asked again is judged although its condition does not hold any more', async () => {
    await g.policies(`name: p\ndefault: allow\nrules:
  - { name: m, effect: mask, actions: [llm_call], when: the run is new, mask: { detect: [email] } }`);
    const ids = { traceId: 't', spanId: 's', runId: 'r' };
    expect(await g.check(bot, callOf('x', ids))).toMatchObject({ judgePrompt: true });
    expect(await g.check(bot, callOf('x', ids))).toMatchObject({ decision: 'allow', judgePrompt: true });
    expect(await g.check(bot, callOf('x', { ...ids, canMaskPrompt: false }))).toMatchObject({ decision: 'deny' });
  });

  test('counts the rules of those on whose behalf the agent acts', async () => {
    await g.policies(`default: allow\n---\nname: q\nscope: agent:acme/search/bot\nrules:
  - { name: m, effect: mask, actions: [llm_call], mask: { detect: [email] } }`);
    const { agentId: id, token } = await g.settle(delegateAgent(g.gov, bot, 'child'));
    const delegate: TestAgent = { id, token };
    expect(await g.check(delegate, callOf('x', { canMaskPrompt: false }))).toMatchObject({ decision: 'deny' });
    const { opId, judgePrompt } = await g.check(delegate, callOf('x'));
    expect(judgePrompt).toBe(true);
    expect(await judged(opId, '"a@b.example"', 'prompt', delegate)).toMatchObject({ passed: '"[masked]"' });
  });
});

describe('a prompt', () => {
  test('is masked by all rules that match, and the log does not hold it', async () => {
    const { opId } = await g.check(bot, callOf('gpt-5'));
    const answer = await judged(opId, '{"messages":[{"content":"a@b.example, 4111 1111 1111 1111, +49 30 901820"}]}');
    expect(answer).toMatchObject({
      decision: 'allow',
      policyRule: 'p/emails',
      reason: 'prompt masked by rule p/emails',
      labels: [],
      passed: '{"messages":[{"content":"[masked], #, +49 30 901820"}]}',
    });
    const [, entry] = await entries(opId);
    expect(entry).toMatchObject({ event_type: 'PromptMasked', decision: 'allow' });
    expect(entry?.payload).toMatchObject({ counts: { email: 1, card: 1 }, resource: 'gpt-5' });
    expect(JSON.stringify(await g.audit())).not.toContain('a@b.example');
  });

  test('is masked by what held at the check, whatever the run has counted since', async () => {
    const { opId, judgePrompt } = await g.check(bot, callOf('new', { runId: 'r' }));
    expect(judgePrompt).toBe(true);
    expect(await g.check(bot, callOf('new', { runId: 'r' }))).toMatchObject({ judgePrompt: false });
    expect(await judged(opId, '"a@b.example"')).toMatchObject({ policyRule: 'p/new', passed: '"[masked]"' });
  });

  test('in which nothing is found passes as it is', async () => {
    const { opId } = await g.check(bot, callOf('gpt-5'));
    expect(await judged(opId, '["hi"]')).toMatchObject({ decision: 'allow', passed: undefined });
    expect((await entries(opId)).at(-1)?.event_type).toBe('PromptAllowed');
  });

  test('is no result: nobody has judged that by it, and no rule on results looks at it', async () => {
    const { opId } = await g.check(bot, callOf('gpt-5'));
    await judged(opId, '"+49 30 901820"');
    await g.settle(g.complete(bot, opId));
    expect((await entries(opId)).at(-1)?.payload).toMatchObject({ result_not_judged: true });
  });

  test('of a result, rules on prompts know nothing', async () => {
    const { opId } = await g.check(bot, callOf('gpt-5'));
    expect(await judged(opId, '"a@b.example +49 30 901820"', 'result')).toMatchObject({
      passed: '"a@b.example [masked]"',
    });
  });

  test('that cannot be masked is denied', async () => {
    const { opId } = await g.check(bot, callOf('big-1'));
    const odd = await judged(opId, '{"a": 1');
    expect(odd).toMatchObject({ decision: 'deny', policyRule: 'p/big' });
    expect(odd.reason).toContain('the prompt cannot be masked');
    expect((await entries(opId)).at(-1)?.event_type).toBe('PromptDenied');
  });

  test('too large to be judged between decisions is judged aside', async () => {
    const { opId } = await g.check(bot, callOf('gpt-5'));
    const { passed } = await judged(opId, JSON.stringify(['a@b.example', 'x'.repeat(100_000)]));
    expect(passed?.slice(0, 14)).toBe('["[masked]","x');
  });
});

test('a simulation says that the prompt would be masked, and by which rules', () => {
  const ask = (model: string, canMaskPrompt: boolean) =>
    simulate(g.gov, operator, checkOf({ agentId: bot.id, ...callOf(model, { canMaskPrompt }) }), undefined);
  const found = ask('gpt-5', true);
  expect(found).toMatchObject({ decision: 'allow', masksPrompt: true });
  expect(found.rules.filter(({ matched }) => matched).map(({ rule, effect }) => [rule, effect])).toEqual([
    ['emails', 'mask'],
    ['cards', 'mask'],
  ]);
  expect(ask('gpt-5', false)).toMatchObject({ decision: 'deny', policyRule: 'p/emails', masksPrompt: false });
  expect(ask('other', false)).toMatchObject({ decision: 'allow', masksPrompt: false });
});
