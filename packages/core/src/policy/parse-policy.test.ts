import { cpuMs } from '../testkit/cpu-time.ts';
import { describe, expect, test } from 'vitest';
import type { Condition, PolicyFeatures } from './condition.ts';
import type { PolicyDocument } from './document.ts';
import { describeProblem } from './document.ts';
import type { PolicySource } from './parse-source.ts';
import { parsePolicies } from './parse-policies.ts';

const amount = 'must be a number of US dollars from 0 to 1000000000.00';
const budgetKeys =
  'daily_limit_usd, monthly_limit_usd, org_daily_limit_usd, org_monthly_limit_usd, team_daily_limit_usd, ' +
  'team_monthly_limit_usd, agent_daily_limit_usd, agent_monthly_limit_usd, timezone, action_on_exceed';
const here = '«';

/** The text without its mark, and the line and column of the mark. */
function marked(text: string): { source: string; line: number; column: number } {
  const at = text.indexOf(here);
  if (at < 0) throw new Error('the text has no mark');
  const before = text.slice(0, at).split('\n');
  return { source: text.replace(here, ''), line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

function file(text: string, name = 'policy.yaml'): PolicySource {
  return { file: name, text };
}

function documentsOf(...texts: string[]): readonly PolicyDocument[] {
  const { documents, problems } = parsePolicies(texts.map((text, index) => file(text, `file-${index + 1}.yaml`)));
  expect(problems).toEqual([]);
  return documents;
}

/** Mistakes, with a mark at the place that the problem must name. */
const wrong: readonly (readonly [string, string, string])[] = [
  [
    'an unknown key of a document',
    '«nmae: x',
    'unknown key "nmae" in a policy document; known: scope, name, mode, default, hints, rules, rates, budget, pricing',
  ],
  [
    'an unknown key further down',
    'name: x\n\n  \n«rule: []',
    'unknown key "rule" in a policy document; known: scope, name, mode, default, hints, rules, rates, budget, pricing',
  ],
  [
    'an unknown key of a rule',
    'rules:\n  - effect: allow\n    «tool: [x]',
    'unknown key "tool" in a rule; known: name, on, effect, actions, tools, models, hosts, paths, commands, users, when, approvals, mask, labels, labels_of, rewrite',
  ],
  [
    'an unknown key of a rule in braces',
    'rules: [{ effect: allow, «efect: x }]',
    'unknown key "efect" in a rule; known: name, on, effect, actions, tools, models, hosts, paths, commands, users, when, approvals, mask, labels, labels_of, rewrite',
  ],
  ['what a rule is on', 'rules: [{ on: «answer, effect: allow }]', '"on" must be "call" or "result"'],
  [
    'an approval of a result',
    'rules: [{ on: result, effect: «require_approval }]',
    '"effect" must be "allow", "deny" or "mask"',
  ],
  [
    'a mask of every call',
    'rules:\n  - «effect: mask\n    mask: { detect: [email] }',
    'on calls, the effect "mask" is for the prompts of model calls: write "actions: [llm_call]", or "on: result" for what comes back',
  ],
  [
    'a mask of prompts and of other calls',
    'rules:\n  - «effect: mask\n    actions: [llm_call, tool_call]\n    mask: { detect: [email] }',
    'on calls, the effect "mask" is for the prompts of model calls: write "actions: [llm_call]", or "on: result" for what comes back',
  ],
  [
    'a mask of prompts that labels',
    'rules: [{ effect: mask, actions: [llm_call], mask: { detect: [email] }, «labels: [pii] }]',
    '"labels" belongs to no rule that masks prompts; write another rule for it',
  ],
  [
    'a mask of prompts that masks nothing',
    'rules:\n  - «effect: mask\n    actions: [llm_call]',
    'a rule with the effect "mask" needs a "mask" that says what it replaces',
  ],
  [
    'an observed document that masks prompts',
    'mode: observe\n«rules: [{ effect: mask, actions: [llm_call], mask: { detect: [email] } }]',
    '"effect: mask" has no effect in a document that is only observed; enforce it or leave it out',
  ],
  [
    'a rule on a call with a mask',
    'rules: [{ effect: allow, «mask: { detect: [email] } }]',
    '"mask" belongs to rules with the effect "mask" only',
  ],
  [
    'approvals of a result',
    'rules: [{ on: result, effect: deny, «approvals: { count: 2 } }]',
    '"approvals" belongs to rules on calls only, not to "on: result"',
  ],
  [
    'a rule that masks nothing',
    'rules:\n  - «on: result\n    effect: mask',
    'a rule with the effect "mask" needs a "mask" that says what it replaces',
  ],
  [
    'a mask where nothing is masked',
    'rules: [{ on: result, effect: deny, «mask: { detect: [email] } }]',
    '"mask" belongs to rules with the effect "mask" only',
  ],
  [
    'an unknown detector',
    'rules: [{ on: result, effect: mask, mask: { detect: [email, «name] } }]',
    'a detector must be "email", "phone", "card", "iban", "us_ssn", "ip" or "secret"',
  ],
  [
    'an unknown key of a mask',
    'rules: [{ on: result, effect: mask, mask: { detect: [email], «field: [a] } }]',
    'unknown key "field" in "mask"; known: detect, patterns, fields, with',
  ],
  [
    'a mask of nothing',
    'rules: [{ on: result, effect: mask, «mask: { with: x } }]',
    '"mask" must name what it replaces: "detect", "patterns" or "fields"',
  ],
  [
    'a bad path of a mask',
    'rules: [{ on: result, effect: mask, mask: { fields: [«$.a] } }]',
    'bad path "$.a": a name is missing',
  ],
  [
    'a bad path further on',
    'rules: [{ on: result, effect: mask, mask: { fields: ["a.«[b]"] } }]',
    'bad path "a.[b]": a name is missing',
  ],
  [
    'no detectors',
    'rules: [{ on: result, effect: mask, mask: { «detect: [] } }]',
    '"detect" must not be empty; leave it out if nothing is meant',
  ],
  [
    'a rule on results that can never match',
    'rules: [«{ on: result, effect: deny, tools: [a], paths: [b] }]',
    'this rule can never match: no action has all that its matchers ask for',
  ],
  [
    'rules on results in an observed document',
    'mode: observe\n«rules: [{ on: result, effect: deny }]',
    '"on: result" has no effect in a document that is only observed; enforce it or leave it out',
  ],
  ['a document that is a text', '«hello', 'a policy document must be a mapping'],
  ['a document that is a list', '«- a\n- b', 'a policy document must be a mapping'],
  ['rules that are a text', 'rules: «none', '"rules" must be a list'],
  ['rules that are a mapping', 'rules:\n  «a: b', '"rules" must be a list'],
  ['rules that are an alias to nothing', 'name: x\nrules: «*none', '"rules" must be a list'],
  ['tools that are left open', 'rules:\n  - effect: allow\n    tools:«', '"tools" must be a list'],
  ['a rule that is a text', 'rules:\n  - «deny', 'a rule must be a mapping'],
  [
    'a rule without an effect',
    'rules:\n  - «name: x',
    'a rule needs an "effect": "allow", "deny", "require_approval" or "mask"',
  ],
  [
    'an effect that does not exist',
    'rules:\n  - effect: «block',
    '"effect" must be "allow", "deny", "require_approval" or "mask"',
  ],
  [
    'an effect that is a list',
    'rules:\n  - effect: «[deny]',
    '"effect" must be "allow", "deny", "require_approval" or "mask"',
  ],
  ['a default that does not exist', 'default: «maybe', '"default" must be "allow" or "deny"'],
  ['a default that is a boolean', 'default: «true', '"default" must be "allow" or "deny"'],
  [
    'a default outside the global scope',
    'scope: org:acme\n«default: allow',
    '"default" belongs to documents with the scope "global" only',
  ],
  [
    'a default before its scope',
    '«default: allow\nscope: org:acme',
    '"default" belongs to documents with the scope "global" only',
  ],
  [
    'an action that does not exist',
    'rules:\n  - effect: allow\n    actions: [tool_call, «tool-call]',
    'an action must be "llm_call", "tool_call", "file_operation", "network_call", "process_exec", "agent_spawn" or "tool_result"',
  ],
  ['actions that are a text', 'rules:\n  - effect: allow\n    actions: «tool_call', '"actions" must be a list'],
  ['tools that are a text', 'rules:\n  - effect: allow\n    tools: «search', '"tools" must be a list'],
  [
    'a glob that is a number',
    'rules:\n  - effect: allow\n    tools: [a, «7]',
    'a glob must be a text that is not empty',
  ],
  ['a glob that is empty', 'rules:\n  - effect: allow\n    tools: [«""]', 'a glob must be a text that is not empty'],
  [
    'a glob with an open set',
    'rules:\n  - effect: allow\n    tools:\n      - abc«[de',
    'bad glob "abc[de": "[" has no matching "]"',
  ],
  [
    'a glob with an open set in double quotes',
    'rules:\n  - effect: allow\n    tools: ["abc«[de"]',
    'bad glob "abc[de": "[" has no matching "]"',
  ],
  [
    'a glob with an open set in single quotes',
    "rules:\n  - effect: allow\n    tools: [x, '«[de']",
    'bad glob "[de": "[" has no matching "]"',
  ],
  [
    'a glob with a range that runs backwards',
    'rules:\n  - effect: deny\n    hosts: ["a[«z-a]"]',
    'bad glob "a[z-a]": the range "z-a" runs backwards',
  ],
  [
    'a glob that ends with a backslash',
    "rules:\n  - effect: deny\n    paths: ['/a«\\']",
    'bad glob "/a\\": a glob must not end with "\\"',
  ],
  [
    'no tools',
    'rules:\n  - effect: allow\n    «tools: []',
    '"tools" must not be empty; leave it out to match everything',
  ],
  [
    'no actions',
    'rules:\n  - effect: allow\n    «actions: []',
    '"actions" must not be empty; leave it out to match everything',
  ],
  ['a scope that does not exist', 'scope: «everyone', scopeRule()],
  ['an org scope without an org', 'scope: «"org:"', scopeRule()],
  ['an org scope with a team', 'scope: «org:acme/search', scopeRule()],
  ['a team scope without a team', 'scope: «team:acme', scopeRule()],
  ['a team scope without an org', 'scope: «team:/search', scopeRule()],
  ['an agent scope without an agent', 'scope: «agent:acme/search/', scopeRule()],
  ['an agent scope of two parts', 'scope: «agent:acme/search', scopeRule()],
  ['a scope with a blank', 'scope: «org:a b', scopeRule()],
  ['a scope that is a list', 'scope: «[global]', '"scope" must be a text that is not empty'],
  ['a name with a slash', 'name: «a/b', '"name" must be 1 to 128 letters, digits, ".", "_" or "-"'],
  ['a name that is a number', 'name: «7', '"name" must be a text that is not empty'],
  [
    'a rule with a bad name',
    'rules:\n  - name: «"no deletes"\n    effect: deny',
    '"name" must be 1 to 128 letters, digits, ".", "_" or "-"',
  ],
  ['two documents with one name', 'name: a\n---\nname: «a', 'a document named "a" exists already'],
  [
    'two rules with one name',
    'rules:\n  - {name: x, effect: allow}\n  - {name: «x, effect: deny}',
    'a rule named "x" exists already in this document',
  ],
  [
    'a rule named as another is by default',
    'rules:\n  - {name: rule-2, effect: allow}\n  - «{effect: deny}',
    'a rule named "rule-2" exists already in this document',
  ],
  ['a budget that is no mapping', 'budget: «5', '"budget" must be a mapping'],
  [
    'an unknown key of a budget',
    'budget:\n  «dayly_limit_usd: 5',
    `unknown key "dayly_limit_usd" in "budget"; known: ${budgetKeys}`,
  ],
  ['a negative limit', 'budget: { daily_limit_usd: «-1 }', `"daily_limit_usd" ${amount}`],
  ['a limit that is no number', 'budget: { daily_limit_usd: «.nan }', `"daily_limit_usd" ${amount}`],
  ['a limit beyond all measure', 'budget: { org_monthly_limit_usd: «1e300 }', `"org_monthly_limit_usd" ${amount}`],
  ['a limit in a text', 'budget: { daily_limit_usd: «"5" }', `"daily_limit_usd" ${amount}`],
  [
    'a time zone that nobody knows',
    'budget: { timezone: «Mars/Olympus }',
    '"timezone" must be a name of the IANA database such as "Europe/Berlin", not "Mars/Olympus"',
  ],
  [
    'an action on exceeding that does not exist',
    'budget: { action_on_exceed: «shrug }',
    '"action_on_exceed" must be "deny" or "require_approval"',
  ],
  [
    'a time zone in a scoped budget',
    'scope: org:acme\nbudget: { «timezone: UTC }',
    '"timezone" belongs to the budget of a document with the scope "global" only',
  ],
  [
    'a uniform cap in a scoped budget',
    'scope: org:acme\nbudget: { «team_daily_limit_usd: 1 }',
    '"team_daily_limit_usd" belongs to the budget of a document with the scope "global" only',
  ],
  [
    'a second global budget',
    'budget: { daily_limit_usd: 5 }\n---\n«budget: { daily_limit_usd: 6 }',
    'another global document has a "budget"',
  ],
  [
    'prices in a scoped document',
    'scope: org:acme\n«pricing: {}',
    '"pricing" belongs to documents with the scope "global" only',
  ],
  ['half a price', 'pricing:\n  «gpt-*: { input_per_mtok_usd: 1 }', 'the price of "gpt-*" needs "output_per_mtok_usd"'],
  [
    'a price beyond what is possible',
    'pricing:\n  gpt-*: { input_per_mtok_usd: «1000001, output_per_mtok_usd: 1000000 }',
    '"input_per_mtok_usd" must be a number of US dollars from 0 to 1000000.00',
  ],
  [
    'what to assume of unknown prices, misspelt',
    'pricing: { unknown_price: «wurst }',
    '"unknown_price" must be "deny", "zero" or "worst"',
  ],
  [
    'approvals of a rule that asks for none',
    'rules:\n  - effect: deny\n    «approvals: { count: 2 }',
    '"approvals" belongs to rules with the effect "require_approval" only',
  ],
  [
    'no people',
    'rules: [{ effect: require_approval, approvals: { count: «0 } }]',
    '"count" must be a whole number from 1 to 5',
  ],
  [
    'half a person',
    'rules: [{ effect: require_approval, approvals: { count: «1.5 } }]',
    '"count" must be a whole number from 1 to 5',
  ],
  [
    'no time to approve',
    'rules: [{ effect: require_approval, approvals: { ttl_secs: «0 } }]',
    '"ttl_secs" must be a whole number from 1 to 86400',
  ],
  [
    'an unknown key of approvals',
    'rules: [{ effect: require_approval, approvals: { «people: 2 } }]',
    'unknown key "people" in "approvals"; known: count, ttl_secs, grants, self, by, not_user',
  ],
  [
    'an empty by',
    'rules: [{ effect: require_approval, approvals: { «by: {} } }]',
    '"by" must name "roles" or "emails"; leave it out if everybody counts who may decide',
  ],
  [
    'an unknown key of by',
    'rules: [{ effect: require_approval, approvals: { by: { roles: [owner], «groups: [x] } } }]',
    'unknown key "groups" in "by"; known: roles, emails',
  ],
  [
    'an unknown role',
    'rules: [{ effect: require_approval, approvals: { by: { roles: [owner, «boss] } } }]',
    'a role must be "owner", "admin", "developer" or "viewer"',
  ],
  [
    'no roles',
    'rules: [{ effect: require_approval, approvals: { by: { «roles: [] } } }]',
    '"roles" must not be empty; leave it out if all of them count',
  ],
  [
    'a bad glob of emails',
    'rules: [{ effect: require_approval, approvals: { by: { emails: ["*@«[x"] } } }]',
    'bad glob "*@[x": "[" has no matching "]"',
  ],
  [
    'too many emails',
    `rules: [{ effect: require_approval, approvals: { by: { «emails: [${Array.from({ length: 51 }, () => 'a').join()}] } } }]`,
    '"emails" holds at most 50 globs',
  ],
  [
    'a long glob of emails',
    `rules: [{ effect: require_approval, approvals: { by: { emails: [«${'a'.repeat(255)}] } } }]`,
    'a glob of emails has at most 254 characters',
  ],
  [
    'not_user that is neither true nor false',
    'rules: [{ effect: require_approval, approvals: { not_user: «maybe } }]',
    '"not_user" must be true or false',
  ],
  [
    'grants that are neither true nor false',
    'rules: [{ effect: require_approval, approvals: { grants: «never } }]',
    '"grants" must be true or false',
  ],
  [
    'approvals that are a number',
    'rules: [{ effect: require_approval, approvals: «2 }]',
    '"approvals" must be a mapping',
  ],
  ['rates that are no list', 'rates: «{ per: agent }', '"rates" must be a list'],
  ['a rate without per', 'rates: [«{ window_secs: 1, max: 1 }]', 'a rate needs "per"'],
  ['a rate without a window', 'rates: [«{ per: org, max: 1 }]', 'a rate needs "window_secs"'],
  ['a rate without a maximum', 'rates: [«{ per: org, window_secs: 1 }]', 'a rate needs "max"'],
  [
    'a rate per run',
    'rates: [{ per: «run, window_secs: 1, max: 1 }]',
    '"per" must be "agent", "team", "org" or "global"',
  ],
  [
    'a window of more than a day',
    'rates: [{ per: org, window_secs: «86401, max: 1 }]',
    '"window_secs" must be a whole number from 1 to 86400',
  ],
  [
    'a maximum of nothing',
    'rates: [{ per: org, window_secs: 1, max: «0 }]',
    '"max" must be a whole number from 1 to 1000000000',
  ],
  [
    'an unknown key of a rate',
    'rates: [{ per: org, window_secs: 1, max: 1, «hosts: [x] }]',
    'unknown key "hosts" in a rate; known: per, window_secs, max, actions, tools',
  ],
  [
    'a rate that counts nothing',
    'rates: [«{ per: org, window_secs: 1, max: 1, actions: [llm_call], tools: [x] }]',
    'this rate counts nothing: no action has all that its matchers ask for',
  ],
  [
    'too many rates',
    `rates: «[${Array.from({ length: 21 }, () => '{ per: org, window_secs: 1, max: 1 }').join()}]`,
    'a document holds at most 20 rates, which count as rules of its source',
  ],
  [
    'a rule with the name of a rate',
    'rules: [{ name: rate-0, effect: allow }]\n«rates: [{ per: org, window_secs: 1, max: 1 }]',
    'a rule is named "rate-0", as the rate in that place is; rename it',
  ],
  [
    'rates of an observed document',
    'mode: observe\n«rates: [{ per: org, window_secs: 1, max: 1 }]',
    '"rates" has no effect in a document that is only observed; enforce it or leave it out',
  ],
  [
    'a condition',
    'rules:\n  - effect: allow\n    «when: "true"',
    '"when" is not available in this version of Reeve; remove it',
  ],
];

function scopeRule(): string {
  return '"scope" must be "global", "org:<org>", "team:<org>/<team>" or "agent:<org>/<team>/<agent>"';
}

test.each(wrong)('%s is told with its place', (_, text, message) => {
  const { source, line, column } = marked(text);
  expect(parsePolicies([file(source)]).problems).toEqual([{ file: 'policy.yaml', line, column, message }]);
});

describe('broken YAML', () => {
  test.each([
    ['a bracket that is never closed', 'rules: [«'],
    ['a tab for indentation', 'rules:\n«\t- effect: allow'],
    ['a quote that is never closed', 'name: "a«'],
  ])('%s is told with its place', (_, text) => {
    const { source, line, column } = marked(text);
    const { documents, problems } = parsePolicies([file(source)]);
    expect(problems[0]).toMatchObject({ file: 'policy.yaml', line, column });
    expect(problems[0]?.message).not.toBe('');
    expect(documents).toEqual([]);
  });

  test('in the second document holds back the whole file', () => {
    const { documents, problems } = parsePolicies([file('name: a\n---\nrules: [')]);
    expect(problems).not.toEqual([]);
    expect(documents).toEqual([]);
  });
});

test('everything that is wrong is told at once, file by file', () => {
  const { problems } = parsePolicies([
    file('nmae: x\ndefault: maybe', 'a.yaml'),
    file('name: ok', 'b.yaml'),
    file('scope: x', 'c.yaml'),
  ]);
  expect(problems.map(describeProblem)).toEqual([
    'a.yaml:1:1: unknown key "nmae" in a policy document; known: scope, name, mode, default, hints, rules, rates, budget, pricing',
    'a.yaml:2:10: "default" must be "allow" or "deny"',
    `c.yaml:1:8: ${scopeRule()}`,
  ]);
});

test('a name that another file has is told where it stands the second time', () => {
  const { problems } = parsePolicies([file('name: a', 'one.yaml'), file('# again\nname: a', 'two.yaml')]);
  expect(problems.map(describeProblem)).toEqual(['two.yaml:2:7: a document named "a" exists already']);
});

test('places are right in files with Windows line ends and a byte order mark', () => {
  const { problems } = parsePolicies([file('\ufeffname: a\r\n\r\nnmae: x\r\n')]);
  expect(problems).toMatchObject([{ line: 3, column: 1 }]);
});

describe('a file', () => {
  test.each([
    ['nothing', ''],
    ['blank lines', '\n\n'],
    ['comments', '# nothing yet\n# to see\n'],
    ['a document mark', '---\n'],
    ['comments and document marks', '# a\n---\n# b\n---\n'],
    ['null', 'null'],
  ])('of %s is no document and no problem', (_, text) => {
    expect(parsePolicies([file(text)])).toEqual({ documents: [], problems: [] });
  });

  test('gives its name to its documents, where they have none', () => {
    const { documents } = parsePolicies([
      file('default: allow\n---\nrules: []\n---\nname: own', 'policies/My rules.yml'),
    ]);
    expect(documents.map((document) => document.name)).toEqual(['My-rules', 'My-rules-2', 'own']);
  });

  test('whose name cannot be one gives "policy"', () => {
    expect(parsePolicies([file('default: deny', '.yaml')]).documents[0]?.name).toBe('policy');
  });

  test('with several documents has them in order', () => {
    expect(documentsOf('name: a\n---\nname: b\n---\nname: c').map((document) => document.name)).toEqual([
      'a',
      'b',
      'c',
    ]);
  });
});

describe('a document', () => {
  test('is global unless it says otherwise', () => {
    expect(documentsOf('name: a')).toEqual([{ name: 'a', scope: { tier: 'global' }, rules: [] }]);
  });

  test.each([
    ['global', { tier: 'global' }],
    ['org:acme', { tier: 'org', orgId: 'acme' }],
    ['team:acme/search', { tier: 'team', orgId: 'acme', teamId: 'search' }],
    ['agent:acme/search/bot', { tier: 'agent', orgId: 'acme', teamId: 'search', agentId: 'bot' }],
    ['agent://bot', { tier: 'agent', orgId: '', teamId: '', agentId: 'bot' }],
    ['agent:acme//bot', { tier: 'agent', orgId: 'acme', teamId: '', agentId: 'bot' }],
  ])('has the scope %s', (text, scope) => {
    expect(documentsOf(`scope: ${text}`)[0]?.scope).toEqual(scope);
  });

  test('has its rules, with names by number where they have none', () => {
    const [document] = documentsOf('rules:\n  - effect: allow\n  - {name: no, effect: deny}\n  - effect: deny');
    expect(document?.rules.map(({ name, effect }) => [name, effect])).toEqual([
      ['rule-1', 'allow'],
      ['no', 'deny'],
      ['rule-3', 'deny'],
    ]);
  });

  test('has matchers as they are written', () => {
    const [document] = documentsOf(
      'rules:\n  - effect: allow\n    actions: [tool_call, llm_call]\n    tools: ["read_*", search]\n    hosts: ["*.Example.com"]',
    );
    const matchers = document?.rules[0]?.matchers;
    expect([...(matchers?.actions ?? [])]).toEqual(['tool_call', 'llm_call']);
    expect(matchers?.tools?.map((glob) => glob.source)).toEqual(['read_*', 'search']);
    expect(matchers?.hosts?.[0]?.matches('api.example.COM')).toBe(true);
    expect(matchers?.tools?.[0]?.matches('READ_x')).toBe(false);
    expect(Object.keys(matchers ?? {}).toSorted()).toEqual(['actions', 'hosts', 'tools']);
  });

  test('may use anchors', () => {
    const [document] = documentsOf(
      'rules:\n  - effect: allow\n    tools: &safe [search]\n  - effect: deny\n    tools: *safe',
    );
    expect(document?.rules[1]?.matchers.tools?.map((glob) => glob.source)).toEqual(['search']);
  });
});

describe('a condition', () => {
  const text = 'rules:\n  - effect: allow\n    when: agent.depth == 0';

  test('is compiled where that is available', () => {
    const compiled: Condition = () => true;
    const features: PolicyFeatures = {
      compileCondition: (source) => {
        expect(source).toBe('agent.depth == 0');
        return compiled;
      },
    };
    const { documents, problems } = parsePolicies([file(text)], features);
    expect(problems).toEqual([]);
    expect(documents[0]?.rules[0]?.when).toBe(compiled);
  });

  test('that does not compile is told with its place', () => {
    const features: PolicyFeatures = {
      compileCondition: () => {
        throw new Error('no such member: dept');
      },
    };
    expect(parsePolicies([file(text)], features).problems).toEqual([
      { file: 'policy.yaml', line: 3, column: 11, message: 'bad "when": no such member: dept' },
    ]);
  });
});

test('a text that repeats too much by aliases is refused, and soon', () => {
  const list = Array.from({ length: 1000 }, (_, index) => `t${index}`).join(', ');
  const text = `rules:\n  - {effect: deny, tools: &t [${list}]}\n${'  - {effect: deny, tools: *t}\n'.repeat(1000)}`;
  const { problems } = parsePolicies([file(text)]);
  expect(problems[0]?.message).toContain('aliases');
});

test('a key that is there twice is told where it stands again, also among many', () => {
  const keys = Array.from({ length: 5000 }, (_, index) => `k${index}: 1`).join('\n');
  const { problems } = parsePolicies([file(`${keys}\nname: a\nname: b\n`)]);
  expect(problems).toContainEqual({ file: 'policy.yaml', line: 5002, column: 1, message: 'Map keys must be unique' });
});

describe('how much one source may hold', () => {
  const rules = (count: number) =>
    Array.from({ length: count }, (_, at) => `- {name: r${at}, effect: deny}`).join('\n');

  test('2,000 rules, in all of its documents together', () => {
    expect(parsePolicies([file(`rules:\n${rules(2000)}`)]).problems).toEqual([]);
    const { problems } = parsePolicies([file(`rules:\n${rules(1500)}\n---\nname: b\nrules:\n${rules(501)}`)]);
    expect(problems.map(({ message }) => message)).toEqual([
      'one source holds at most 2000 rules, those of aliases included; divide it',
    ]);
  });

  test('a rule that an alias repeats counts each time', () => {
    const repeated = Array.from({ length: 2000 }, () => '- *r').join('\n');
    const { problems } = parsePolicies([file(`rules:\n- &r {effect: deny}\n${repeated}`)]);
    expect(problems[0]?.message).toContain('at most 2000 rules');
  });

  test('a condition that aliases repeat is compiled once, and told where it is wrong each time', () => {
    const compiled: string[] = [];
    const compileCondition = (text: string): Condition => {
      compiled.push(text);
      if (text === 'bad') throw new Error('it is bad');
      return () => true;
    };
    const text = `rules:\n- {name: a, effect: deny, when: &w good}\n- {name: b, effect: deny, when: *w}
- {name: c, effect: deny, when: &x bad}\n- {name: d, effect: deny, when: *x}\n- {name: e, effect: deny, when: good}`;
    const { documents, problems } = parsePolicies([file(text)], { compileCondition });
    expect(compiled).toEqual(['good', 'bad']);
    expect(problems.map(({ message }) => message)).toEqual(['bad "when": it is bad', 'bad "when": it is bad']);
    expect(documents[0]?.rules.filter(({ when }) => when !== undefined).map(({ name }) => name)).toEqual([
      'a',
      'b',
      'e',
    ]);
  });

  test('an alias stands for the last node before it that has its anchor', () => {
    const [document] = documentsOf(
      'rules:\n- {name: a, effect: &e deny}\n- {name: b, effect: *e}\n- {name: c, effect: &e allow}\n- {name: d, effect: *e}',
    );
    expect(document?.rules.map(({ effect }) => effect)).toEqual(['deny', 'deny', 'allow', 'allow']);
  });

  test('many aliases to many anchors take about as long as the same without aliases', () => {
    const anchors = Array.from({ length: 4000 }, (_, at) => `&a${at} x`).join(',');
    const best = (item: string) => cpuMs(() => parsePolicies([file(`rules: [${anchors}${`,${item}`.repeat(4000)}]`)]));
    // A look-up that scans the whole text each time would take more than fifty times as long.
    expect(best('*a0')).toBeLessThan(10 * best('xyz'));
  });

  test('a thousand problems are told, however many there are', () => {
    expect(parsePolicies([file('a: 1\n'.repeat(5000))]).problems).toHaveLength(1000);
  });
});
