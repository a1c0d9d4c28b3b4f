import { ActionType, CheckResultRequest, CheckResultResponse, Decision, JudgedPart, paths } from '@reeve/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';

const policy = `
name: base
default: allow
rules:
  - { name: emails, effect: mask, actions: [llm_call], models: ["gpt-*"], when: action.model != "gpt-own", mask: { detect: [email], patterns: ["ACC-[0-9]+"] } }
  - { name: answers, on: result, effect: mask, models: ["gpt-*"], mask: { detect: [phone] } }
`;

let gateway: TestGateway;
let bot: Registered;

beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'base.yaml': policy } });
  bot = await gateway.register({ agentId: 'bot' });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const callOf = (model: string) => {
  const value = { model, promptTokens: 1, maxOutputTokens: 1 };
  return { actionType: ActionType.LLM_CALL, context: { action: { $case: 'llmCall' as const, value } } };
};

function judge(opId: string, text: string, part?: JudgedPart) {
  return gateway.client.call(paths.checkResult, CheckResultRequest, CheckResultResponse, {
    agentId: bot.id,
    credentialToken: bot.token,
    opId,
    resultJson: Buffer.from(text),
    isError: false,
    part,
  });
}

async function running(model = 'gpt-5'): Promise<string> {
  const { opId, decision, judgePrompt } = await gateway.check(bot, { ...callOf(model), canMaskPrompt: true });
  expect([decision, judgePrompt]).toEqual([Decision.ALLOW, true]);
  return opId;
}

const textOf = ({ resultJson }: CheckResultResponse) =>
  resultJson === undefined ? undefined : Buffer.from(resultJson).toString();

test('only a caller that can have a prompt masked may make the call', async () => {
  const refused = await gateway.check(bot, callOf('gpt-5'));
  expect(refused).toMatchObject({
    decision: Decision.DENY,
    reason: 'must be masked, which this caller cannot do: the model proxy can (reeve llm serve)',
    policyRule: 'base/emails',
  });
  expect(refused.judgePrompt ?? false).toBe(false);
  for (const model of ['gpt-own', 'other']) {
    const free = await gateway.check(bot, callOf(model));
    expect([free.decision, free.judgePrompt ?? false]).toEqual([Decision.ALLOW, false]);
  }
});

test('the answer says that it is about the prompt, and a result is another matter', async () => {
  const opId = await running();
  const prompt = await judge(opId, '{"a":"a@b.de ACC-12 +49 30 901820"}', JudgedPart.PROMPT);
  expect([prompt.decision, prompt.part, textOf(prompt)]).toEqual([
    Decision.ALLOW,
    JudgedPart.PROMPT,
    '{"a":"[masked] [masked] +49 30 901820"}',
  ]);
  const result = await judge(opId, '{"a":"a@b.de ACC-12 +49 30 901820"}');
  expect([result.part, textOf(result)]).toEqual([undefined, '{"a":"a@b.de ACC-12 [masked]"}']);
  const types = gateway.audit().flatMap((entry) => (entry.op_id === opId ? [entry.event_type] : []));
  expect(types).toEqual(['ActionAllowed', 'PromptMasked', 'ResultMasked']);
});

test('a large prompt is masked apart from decisions, by the same rules', async () => {
  const opId = await running();
  const answer = await judge(opId, JSON.stringify(['x'.repeat(300_000), 'ACC-1']), JudgedPart.PROMPT);
  expect(textOf(answer)?.slice(-14)).toBe('","[masked]"]'.padStart(14, 'x'));
});

test('a part that is not known is refused', async () => {
  const opId = await running();
  await expect(judge(opId, '1', 7 as JudgedPart)).rejects.toMatchObject({ code: 3 });
});

test('a simulation tells of it, and what an explanation says of a refusal', async () => {
  const body = {
    agent: { org_id: 'acme', team_id: 'core', agent_id: 'bot' },
    action_type: 'llm_call',
    context: { model: 'gpt-5' },
  };
  const ask = (more: object) =>
    gateway.api.post<Simulated>('/api/v1/policies/simulate', bootstrapKey, { ...body, ...more });
  const { body: masked } = await ask({});
  expect(masked).toMatchObject({ decision: 'allow', masks_prompt: true });
  expect(masked.rules).toMatchObject([{ rule: 'emails', effect: 'mask', matched: true }]);
  const { body: refused } = await ask({ can_mask_prompt: false });
  expect(refused).toMatchObject({ decision: 'deny', policy_rule: 'base/emails', masks_prompt: false });
  const { opId } = await gateway.check(bot, callOf('gpt-5'));
  const { body: explained } = await gateway.api.get<Simulated>(`/api/v1/decisions/${opId}/explain`, bootstrapKey);
  expect(explained).toMatchObject({ decision: 'deny', policy_rule: 'base/emails' });
  expect(explained.rules[0]?.why).toMatch(/^it decided: /);
});

interface Simulated {
  readonly rules: readonly { readonly why: string }[];
}
