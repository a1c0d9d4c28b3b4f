import { describe, expect, test } from 'vitest';
import { action } from '../action/action.ts';
import { agentId, useTool } from '../testkit/requests.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { DenialHints } from './denial-hint.ts';
import type { PolicyDocument } from './document.ts';
import { parsePolicies } from './parse-policies.ts';

const bot = agentId('acme/search/bot');

function documentsOf(text: string): readonly PolicyDocument[] {
  const { documents, problems } = parsePolicies([{ file: 'p.yaml', text }], { compileCondition: () => () => true });
  expect(problems).toEqual([]);
  return documents;
}

function hint(text: string, refuser: 'rule' | 'default' = 'default', type: 'tool_call' | 'llm_call' = 'tool_call') {
  return new DenialHints(documentsOf(text), 'deny').of('global', bot, type, refuser);
}

describe('a denial says what would be allowed', () => {
  test.each([
    ['a tool', 'rules: [{effect: allow, tools: ["docs.*", search]}]', 'tool_call of docs.*, search'],
    [
      'of several rules, each once',
      'rules: [{effect: allow, tools: [a]}, {effect: allow, tools: [b, a]}]',
      'tool_call of a, b',
    ],
    ['a host', 'rules: [{effect: allow, hosts: ["*.example.com"]}]', 'tool_call of *.example.com'],
    [
      'a tool with a host',
      'rules: [{effect: allow, tools: [fetch], hosts: [a.com, b.com]}]',
      'tool_call of fetch with a.com or b.com',
    ],
    [
      'under a condition',
      'rules: [{effect: allow, tools: [pay], when: "secret"}]',
      'tool_call of pay under a condition',
    ],
    [
      'anything under a condition',
      'rules: [{effect: allow, when: "secret"}]',
      'tool_call of anything under a condition',
    ],
  ])('%s', (_, text, items) => {
    expect(hint(text)).toBe(`; allowed here: ${items}`);
    expect(hint(text, 'rule')).toBe(`; allowed here unless denied: ${items}`);
  });

  test.each([
    ['rules for other actions', 'rules: [{effect: allow, models: ["*"]}, {effect: allow, actions: [process_exec]}]'],
    [
      'rules that deny or ask',
      'rules: [{effect: deny, tools: [a], when: "x"}, {effect: require_approval, tools: [b]}]',
    ],
    ['documents that are only observed', 'mode: observe\nrules: [{effect: allow, tools: [a]}]'],
    ['other orgs', 'scope: org:globex\nrules: [{effect: allow, tools: [a]}]'],
    ['other teams', 'scope: team:acme/red\nrules: [{effect: allow, tools: [a]}]'],
    ['other agents', 'scope: agent:acme/search/other\nrules: [{effect: allow, tools: [a]}]'],
  ])('but nothing of %s', (_, text) => {
    expect(hint(text)).toBe('');
  });

  test('in few words, however much there is', () => {
    const tools = Array.from({ length: 500 }, (_, index) => `a-tool-with-a-name-${index}`).join(', ');
    const many = hint(`rules: [{effect: allow, tools: [${tools}]}]`);
    expect(many).toMatch(/^; allowed here: tool_call of a-tool-with-a-name-0, .*[^,], …$/);
    expect(many.length).toBeLessThanOrEqual(160);
    expect(many).not.toContain('more');
    const long = hint(`rules: [{effect: allow, tools: [${'x'.repeat(1000)}, b]}]`);
    expect(long.length).toBeLessThanOrEqual(160);
    expect(long).toMatch(/x…$/);
  });

  test('and where everything else is allowed, that', () => {
    const hints = new DenialHints(documentsOf('default: allow\nrules: [{effect: allow, tools: [a]}]'), 'allow');
    expect(hints.of('global', bot, 'tool_call', 'rule')).toBe('; allowed here: what no rule denies');
  });

  test('made once for agents under the same documents', () => {
    let looks = 0;
    const [document] = documentsOf('rules: [{effect: allow, tools: [a]}]');
    const watched = {
      ...document,
      get rules() {
        looks++;
        return document?.rules ?? [];
      },
    } as PolicyDocument;
    const hints = new DenialHints([watched], 'deny');
    for (const name of ['a', 'b', 'c']) hints.of('global', agentId(`acme/x/${name}`), 'tool_call', 'default');
    expect(looks).toBe(1);
    hints.of('global', bot, 'llm_call', 'default');
    hints.of('global org:acme', bot, 'tool_call', 'default');
    expect(looks).toBe(3);
  });
});

test('an agent is told of its own scopes only, in the answer and in the log', async () => {
  const test = await testGovernance();
  await test.policies(
    'rules: [{effect: allow, tools: [search]}, {effect: deny, tools: [rm]}]',
    'scope: org:acme\nrules: [{effect: allow, tools: [acme-only]}]',
    'scope: org:globex\nrules: [{effect: allow, tools: [globex-only]}]',
  );
  const acme = await test.register(bot);
  const other = await test.register(agentId('initech/x/bot'));
  const denied = await test.check(acme, { action: useTool('rm') });
  expect(denied.reason).toBe(
    'denied by rule policy-1/rule-2; allowed here unless denied: tool_call of search, acme-only',
  );
  expect((await test.check(other, { action: useTool('nothing') })).reason).toBe(
    'no rule allows tool_call of "nothing", and the default is deny; allowed here: tool_call of search',
  );
  expect((await test.check(acme, { action: action('llm_call', { model: 'm' }) })).reason).toBe(
    'no rule allows llm_call of "m", and the default is deny',
  );
  expect((await test.audit()).filter(({ reason }) => reason === denied.reason)).toHaveLength(1);
});

describe('a document with hints: false', () => {
  const open = 'name: open\nrules: [{effect: allow, tools: [docs]}]';
  const closed = 'name: closed\nhints: false\nrules: [{effect: allow, tools: [secret]}, {effect: deny, tools: [rm]}]';

  test('is left out of what others tell', () => {
    expect(hint(closed)).toBe('');
    expect(hint(`${open}\n---\n${closed}`)).toBe('; allowed here: tool_call of docs');
  });

  test('says nothing where it has decided, by a rule or by its default', async () => {
    const on = await testGovernance();
    await on.policies(open, closed);
    const agent = await on.register(bot);
    expect((await on.check(agent, { action: useTool('rm') })).reason).toBe('denied by rule closed/rule-2');
    expect((await on.check(agent, { action: useTool('other') })).reason).toContain('docs');
    await on.policies(open, `${closed}\ndefault: deny`);
    expect((await on.check(agent, { action: useTool('other') })).reason).toMatch(/the default is deny$/);
    await on.policies('name: open\nrules: [{effect: deny, tools: [rm]}]', 'name: closed\nhints: false\ndefault: allow');
    expect((await on.check(agent, { action: useTool('rm') })).reason).toBe('denied by rule open/rule-1');
  });

  test('says so by true or false only', () => {
    const problems = (text: string) => parsePolicies([{ file: 'p', text }]).problems.map(({ message }) => message);
    expect(problems('hints: true')).toEqual([]);
    expect(problems('hints: "no"')).toEqual(['"hints" must be true or false']);
  });
});
