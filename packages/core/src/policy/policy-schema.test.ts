import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { parsePolicies } from './parse-policies.ts';
import { policySchema } from './policy-schema.ts';

const ajv = new Ajv2020({ allErrors: true, strict: true, strictRequired: false, strictTypes: false });
const validate = ajv.compile(policySchema());

function problems(text: string): string[] {
  return [...parseAllDocuments(text)]
    .map((document): unknown => document.toJS())
    .flatMap((value) => (validate(value) ? [] : (validate.errors ?? []).map((error) => error.instancePath)));
}

/** The policy files of a folder, without files of test cases. */
function folder(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ya?ml$/.test(name) && !/(?:cases|test)/.test(name))
    .map((name) => `${path}/${name}`);
}

const examples = [...folder('examples/policies'), ...folder('packages/cli/starter')];

test('every example and every starter file fits the schema', () => {
  expect(examples.length).toBeGreaterThan(1);
  for (const file of examples) expect(problems(readFileSync(file, 'utf8')), file).toEqual([]);
});

const right = [
  '{}',
  'name: a.b_c-1\nscope: global\nmode: enforce\ndefault: allow\nrules: []',
  'scope: org:acme\nmode: observe\nrules: [{effect: deny, tools: ["*"], when: "true"}]',
  'scope: team:acme/red\nbudget: {daily_limit_usd: 1.5, monthly_limit_usd: 0}',
  'scope: agent://bot',
  'scope: org:acme\nrates: [{per: agent, window_secs: 60, max: 5, actions: [tool_call], tools: ["pay*"]}]',
  'scope: agent:acme//bot',
  'budget: {agent_daily_limit_usd: 1, timezone: Europe/Berlin, action_on_exceed: require_approval}',
  'pricing: {unknown_price: worst, "gpt-*": {input_per_mtok_usd: 1, output_per_mtok_usd: 2}}',
  'pricing: {m: {input_per_mtok_usd: 1, output_per_mtok_usd: 2, cached_input_per_mtok_usd: 0.1}}',
  'rules: [{effect: require_approval, approvals: {count: 2, ttl_secs: 60}, actions: [tool_call]}]',
  'rules: [{effect: mask, actions: [llm_call], models: [m], when: "true", mask: {detect: [email], with: ""}}]',
  'rules: [{on: result, effect: mask, tools: [t], mask: {detect: [email]}, labels: [pii]}]',
  'rules: [{effect: require_approval, approvals: {by: {roles: [owner], emails: ["*@x.y"]}, not_user: true}}]',
];

const wrong = [
  'rates: [{per: agent, window_secs: 1}]',
  'rates: [{per: run, window_secs: 1, max: 1}]',
  'rates: [{per: agent, window_secs: 86401, max: 1}]',
  'mode: observe\nrates: [{per: agent, window_secs: 1, max: 1}]',
  'rules: [{effect: require_approval, approvals: {by: {}}}]',
  'rules: [{effect: require_approval, approvals: {by: {roles: [boss]}}}]',
  'rules: [{effect: require_approval, approvals: {by: {emails: []}}}]',
  'nmae: a',
  'name: ""',
  'name: "a b"',
  'scope: org:',
  'scope: team:acme',
  'scope: galaxy',
  'mode: watch',
  'default: ask',
  'scope: org:acme\ndefault: deny',
  'scope: org:acme\npricing: {}',
  'scope: org:acme\nbudget: {timezone: UTC}',
  'scope: org:acme\nbudget: {team_daily_limit_usd: 1}',
  'mode: observe\nbudget: {daily_limit_usd: 1}',
  'mode: observe\npricing: {}',
  'budget: {daily_limit_usd: -1}',
  'budget: {daily_limit_usd: "1"}',
  'budget: {daily_limit_usd: 1e12}',
  'budget: {action_on_exceed: shout}',
  'pricing: {a: {input_per_mtok_usd: 1}}',
  'pricing: {a: {output_per_mtok_usd: 1, cached_input_per_mtok_usd: 1}}',
  'pricing: {a: {input_per_mtok_usd: 1, output_per_mtok_usd: 1, cached_input_per_mtok_usd: -1}}',
  'pricing: {unknown_price: free}',
  'rules: {}',
  'rules: [{effect: mask, mask: {detect: [email]}}]',
  'rules: [{effect: mask, actions: [llm_call, tool_call], mask: {detect: [email]}}]',
  'rules: [{effect: mask, actions: [llm_call], mask: {detect: [email]}, labels: [pii]}]',
  'rules: [{effect: mask, actions: [llm_call]}]',
  'rules: [{effect: allow, actions: [llm_call], mask: {detect: [email]}}]',
  'rules: [{on: result, effect: require_approval}]',
  'rules: [{}]',
  'rules: [{effect: perhaps}]',
  'rules: [{effect: allow, tools: []}]',
  'rules: [{effect: allow, tools: search}]',
  'rules: [{effect: allow, tools: [""]}]',
  'rules: [{effect: allow, actions: [swim]}]',
  'rules: [{effect: allow, when: ""}]',
  'rules: [{effect: allow, approvals: {count: 2}}]',
  'rules: [{effect: require_approval, approvals: {count: 6}}]',
  'rules: [{effect: require_approval, approvals: {ttl_secs: 0.5}}]',
  'rules: [{effect: allow, unknown: 1}]',
];

const features = { compileCondition: () => () => true };

describe('schema and parser agree', () => {
  test.each(right)('on what is right: %j', (text) => {
    expect(parsePolicies([{ file: 'p.yaml', text }], features).problems).toEqual([]);
    expect(problems(text)).toEqual([]);
  });

  test.each(wrong)('on what is wrong: %j', (text) => {
    expect(parsePolicies([{ file: 'p.yaml', text }], features).problems).not.toEqual([]);
    expect(problems(text)).not.toEqual([]);
  });
});
