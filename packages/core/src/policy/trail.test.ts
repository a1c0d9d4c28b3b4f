import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Action } from '../action/action.ts';
import { action, actionTypes } from '../action/action.ts';
import { unregisteredAgent } from '../tenancy/agent.ts';
import type { AgentId } from '../kernel/ids.ts';
import { agentId, useTool } from '../testkit/requests.ts';
import type { Condition, Facts } from './condition.ts';
import { NotRecorded } from './condition.ts';
import type { Effect, PolicyDocument, PolicyRule, PolicyScope } from './document.ts';
import { effects } from './document.ts';
import { compileGlob } from '../kernel/glob.ts';
import { PolicySet } from './policy-set.ts';
import { considerRules, decidingRule } from './trail.ts';

const bot = agentId('acme/search/bot');

function factsOf(id: AgentId, asked: Action): Facts {
  const nothing = { day_usd: 0, month_usd: 0 };
  return {
    agent: unregisteredAgent(id),
    depth: 0,
    action: asked,
    now: 0,
    costUsd: 0,
    args: () => ({}),
    run: () => ({ id: '', checks: 0, spent_usd: 0, labels: [] }),
    annotations: () => ({}),
    user: () => null,
    spend: () => ({ global: nothing, org: nothing, team: nothing, agent: nothing }),
  };
}

function globs(...sources: string[]) {
  return sources.map((source) => compileGlob(source));
}

function documentOf(rule: Omit<PolicyRule, 'name'>, members: Partial<PolicyDocument> = {}): PolicyDocument {
  return { name: 'p', scope: { tier: 'global' }, rules: [{ name: 'r', ...rule }], ...members };
}

/** The outcome for one rule. */
function consider(rule: Omit<PolicyRule, 'name'>, asked: Action = useTool('rm'), open = true) {
  const set = new PolicySet([documentOf(rule)], 'v');
  const [found] = considerRules(set, bot, asked, factsOf(bot, asked), () => open);
  return found;
}

const failing: Condition = () => {
  throw new Error('there is no member "amount"');
};

const forgetful: Condition = () => {
  throw new NotRecorded('spend is not recorded');
};

describe('why a rule does not match', () => {
  test.each<[string, Omit<PolicyRule, 'name'>, Action, string]>([
    [
      'it is about other actions',
      { effect: 'deny', matchers: { actions: new Set(['llm_call', 'network_call']) } },
      useTool('rm'),
      'it is about llm_call, network_call, and this is a tool_call',
    ],
    [
      'the action has no such thing',
      { effect: 'deny', matchers: { hosts: globs('*') } },
      useTool('rm'),
      'it asks for a host, and this tool_call names none',
    ],
    [
      'the tool is another',
      { effect: 'allow', matchers: { tools: globs('docs.*', 'search') } },
      useTool('rm'),
      'the tool "rm" matches none of docs.*, search',
    ],
    [
      'the model is another',
      { effect: 'allow', matchers: { models: globs('gpt-*') } },
      action('llm_call', { model: 'claude' }),
      'the model "claude" matches none of gpt-*',
    ],
    [
      'the path is another, as it is resolved',
      { effect: 'allow', matchers: { paths: globs('/data/**') } },
      action('file_operation', { path: '/data/../etc/passwd' }),
      'the path "/etc/passwd" matches none of /data/**',
    ],
    [
      'the command is another, with its arguments',
      { effect: 'allow', matchers: { commands: globs('git *') } },
      action('process_exec', { command: 'rm', commandArgs: ['-rf'] }),
      'the command "rm -rf" matches none of git *',
    ],
    [
      'the host is another, though the tool fits',
      { effect: 'allow', matchers: { tools: globs('fetch'), hosts: globs('*.example.com') } },
      action('tool_call', { tool: 'fetch', url: 'https://evil.example/x' }),
      'the host "evil.example" matches none of *.example.com',
    ],
    [
      'its condition is false',
      { effect: 'deny', matchers: {}, when: () => false, whenText: 'args.amount >\n  5' },
      useTool('rm'),
      'its condition does not hold: args.amount > 5',
    ],
    [
      'its condition failed, and it allows',
      { effect: 'allow', matchers: {}, when: failing, whenText: 'args.amount > 5' },
      useTool('rm'),
      'its condition failed (there is no member "amount"), and for allow that counts as not matching: args.amount > 5',
    ],
  ])('%s', (_, rule, asked, why) => {
    expect(consider(rule, asked)).toMatchObject({ matched: false, unknown: false, why });
  });

  test('what it asks for is not known any more', () => {
    for (const effect of effects) {
      expect(consider({ effect, matchers: {}, when: forgetful })).toMatchObject({
        matched: false,
        unknown: true,
        why: 'could not be judged again: spend is not recorded',
      });
    }
  });

  test('very many globs are counted and not listed', () => {
    const many = Array.from({ length: 40 }, (_, index) => `tool-${index}`);
    const why = consider({ effect: 'allow', matchers: { tools: globs(...many) } })?.why ?? '';
    expect(why).toContain('tool-11 and 28 more');
    expect(why).not.toContain('tool-12');
  });

  test('a secret in what was asked is not told', () => {
    const asked = action('process_exec', { command: 'curl', commandArgs: ['--password', 'hunter2'] });
    expect(consider({ effect: 'allow', matchers: { commands: globs('git *') } }, asked)?.why).not.toContain('hunter2');
  });
});

describe('why a rule matches', () => {
  test.each<[string, Omit<PolicyRule, 'name'>, string]>([
    ['it has no matchers', { effect: 'deny', matchers: {} }, 'it is about every action'],
    [
      'it is about all of these actions',
      { effect: 'deny', matchers: { actions: new Set(['tool_call']) } },
      'it is about every tool_call',
    ],
    ['a glob fits', { effect: 'deny', matchers: { tools: globs('search', 'r*') } }, 'the tool "rm" matches r*'],
    [
      'its condition holds, too',
      { effect: 'deny', matchers: { tools: globs('rm') }, when: () => true, whenText: 'true' },
      'the tool "rm" matches rm; its condition holds: true',
    ],
    [
      'its condition failed, and it denies',
      { effect: 'deny', matchers: {}, when: failing, whenText: 'x' },
      'its condition failed (there is no member "amount"), and for deny that counts as matching: x',
    ],
    [
      'its condition failed, and it asks for approval',
      { effect: 'require_approval', matchers: {}, when: failing, whenText: 'x' },
      'its condition failed (there is no member "amount"), and for require_approval that counts as matching: x',
    ],
  ])('%s', (_, rule, why) => {
    expect(consider(rule)).toMatchObject({ matched: true, why });
  });
});

describe('whoever may not read a document', () => {
  test.each<[string, Omit<PolicyRule, 'name'>, string]>([
    [
      'sees no globs of a rule that does not match',
      { effect: 'allow', matchers: { tools: globs('docs.*') } },
      'the tool "rm" does not match',
    ],
    ['sees no globs of one that does', { effect: 'deny', matchers: { tools: globs('r*') } }, 'the tool "rm" matches'],
    [
      'sees no condition that holds',
      { effect: 'deny', matchers: {}, when: () => true, whenText: 'secret' },
      'its condition holds',
    ],
    [
      'sees no condition that does not',
      { effect: 'deny', matchers: {}, when: () => false, whenText: 'secret' },
      'its condition does not hold',
    ],
    [
      'sees no condition that failed, nor why',
      { effect: 'deny', matchers: {}, when: failing, whenText: 'secret' },
      'its condition failed, and for deny that counts as matching',
    ],
  ])('%s', (_, rule, why) => {
    expect(consider(rule, useTool('rm'), false)?.why).toBe(why);
  });
});

test('only documents whose scope contains the agent are considered, in their order', () => {
  const named = (name: string, scope: PolicyScope, mode?: 'observe') =>
    documentOf({ effect: 'deny', matchers: {} }, { name, scope, ...(mode === undefined ? {} : { mode }) });
  const set = new PolicySet(
    [
      named('agent', { tier: 'agent', orgId: 'acme', teamId: 'search', agentId: 'bot' }),
      named('global', { tier: 'global' }),
      named('seen', { tier: 'org', orgId: 'acme' }, 'observe'),
      named('team', { tier: 'team', orgId: 'acme', teamId: 'search' }),
      named('other-agent', { tier: 'agent', orgId: 'acme', teamId: 'search', agentId: 'bot2' }),
      named('other-team', { tier: 'team', orgId: 'acme', teamId: 'red' }),
      named('other-org', { tier: 'org', orgId: 'globex' }),
      named('team-elsewhere', { tier: 'team', orgId: 'globex', teamId: 'search' }),
    ],
    'v',
  );
  const asked = useTool('rm');
  const found = considerRules(set, bot, asked, factsOf(bot, asked));
  expect(found.map(({ document, observed }) => [document, observed])).toEqual([
    ['agent', false],
    ['global', false],
    ['seen', true],
    ['team', false],
  ]);
});

describe('the rules considered and the decision', () => {
  const names = ['a', 'b', 'ab', 'a/b'];
  const patterns = ['a', 'b', '*', 'a*', '**', '?', 'a/*', '/a', '/*'];
  const ids = fc.constantFrom('x', 'y');
  const scope: fc.Arbitrary<PolicyScope> = fc.oneof(
    fc.constant<PolicyScope>({ tier: 'global' }),
    ids.map((orgId): PolicyScope => ({ tier: 'org', orgId })),
    fc.tuple(ids, ids).map(([orgId, teamId]): PolicyScope => ({ tier: 'team', orgId, teamId })),
    fc
      .tuple(ids, ids, ids)
      .map(([orgId, teamId, agent]): PolicyScope => ({ tier: 'agent', orgId, teamId, agentId: agent })),
  );
  const someGlobs = fc
    .array(fc.constantFrom(...patterns), { minLength: 1, maxLength: 3 })
    .map((list) => globs(...list));
  const dimension = fc.constantFrom('tools', 'models', 'hosts', 'paths', 'commands');
  const condition = fc.constantFrom<Condition | undefined>(
    undefined,
    undefined,
    () => true,
    () => false,
    failing,
  );
  const rule = fc
    .record({
      effect: fc.constantFrom<Effect>(...effects),
      actions: fc.option(fc.uniqueArray(fc.constantFrom(...actionTypes), { minLength: 1 }), { nil: undefined }),
      // Rules with many matchers would hardly ever match.
      lists: fc.uniqueArray(fc.tuple(dimension, someGlobs), { maxLength: 2, selector: ([name]) => name }),
      when: condition,
    })
    .map(({ effect, actions, when, lists }): Omit<PolicyRule, 'name'> => {
      const given = Object.fromEntries(lists);
      const matchers = { ...given, ...(actions === undefined ? {} : { actions: new Set(actions) }) };
      return { effect, matchers, ...(when === undefined ? {} : { when }) };
    });
  const documents = fc
    .array(
      fc.record({ scope, rules: fc.array(rule, { maxLength: 4 }), observed: fc.boolean(), allows: fc.boolean() }),
      {
        maxLength: 6,
      },
    )
    .map((list) =>
      list.map(
        ({ scope: of, rules, observed, allows }, index): PolicyDocument => ({
          name: `d${index}`,
          scope: of,
          rules: rules.map((members, place) => ({ name: `r${place}`, ...members })),
          ...(observed ? { mode: 'observe' as const } : {}),
          ...(of.tier === 'global' && allows ? { default: 'allow' as const } : {}),
        }),
      ),
    );
  const text = fc.constantFrom(...names);
  const asked = fc
    .record({
      type: fc.constantFrom(...actionTypes),
      text,
      withUrl: fc.boolean(),
      args: fc.array(text, { maxLength: 2 }),
    })
    .map(({ type, text: what, withUrl, args }) =>
      action(type, {
        tool: what,
        model: what,
        host: what,
        path: `/${what}`,
        command: what,
        commandArgs: args,
        url: withUrl ? `https://${what.replaceAll('/', '.')}/x` : '',
      }),
    );
  const agent = fc.tuple(ids, ids, ids).map(([orgId, teamId, id]) => ({ orgId, teamId, agentId: id }));

  test('agree: the strongest rule that matches and is enforced is the verdict', () => {
    fc.assert(
      fc.property(documents, agent, asked, (made, id, request) => {
        const set = new PolicySet(made, 'v');
        const facts = factsOf(id, request);
        const verdict = set.evaluate(id, request, facts);
        const decided = decidingRule(considerRules(set, id, request, facts));
        expect(verdict.rule).toBe(decided === undefined ? 'default' : `${decided.document}/${decided.rule}`);
        if (decided !== undefined) expect(verdict.effect).toBe(decided.effect);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('a host that cannot be read', () => {
  const odd = action('network_call', { host: '1.2.3.4.5' });

  test.each<[Effect, boolean, string]>([
    ['deny', true, 'the host "1.2.3.4.5" cannot be read, and for deny that counts as matching'],
    ['require_approval', true, 'the host "1.2.3.4.5" cannot be read, and for require_approval that counts as matching'],
    ['allow', false, 'the host "1.2.3.4.5" cannot be read, and for allow that counts as matching only word by word'],
  ])('is told of a rule to %s', (effect, matched, why) => {
    const rule = { effect, matchers: { hosts: globs('*.example') } };
    expect(consider(rule, odd)).toMatchObject({ matched, why });
    const set = new PolicySet([documentOf(rule, { default: 'allow' })], 'v');
    expect(set.evaluate(bot, odd, factsOf(bot, odd)).rule).toBe(matched ? 'p/r' : 'default');
  });
});
