import { describe, expect, test } from 'vitest';
import { action } from '../action/action.ts';
import { agentId } from '../testkit/requests.ts';
import type { CompileCondition, Facts } from './condition.ts';
import { decisionCost } from './condition.ts';
import { parsePolicies } from './parse-policies.ts';
import { PolicySet } from './policy-set.ts';

const bot = agentId('acme/search/bot');
const useTool = action('tool_call', { tool: 'search' });
/** No condition looks at more. */
const nobody = { user: () => null } as unknown as Facts;

/** A condition states its cost, in tenths of a decision's limit, and its result: `3 false`. */
function setOf(...texts: string[]): { set: PolicySet; judged: string[] } {
  const judged: string[] = [];
  const compileCondition: CompileCondition = (text) => (_facts, evaluation) => {
    const [tenths, outcome] = text.split(' ');
    evaluation?.charge((Number(tenths) * decisionCost) / 10);
    judged.push(text);
    return outcome === 'true';
  };
  const sources = texts.map((text, at) => ({ file: `p${at}.yaml`, text }));
  const { documents, problems } = parsePolicies(sources, { compileCondition });
  expect(problems).toEqual([]);
  return { set: new PolicySet(documents, 'v'), judged };
}

function verdictOf(set: PolicySet) {
  return set.evaluate(bot, useTool, nobody);
}

const tooMuch = 'as judging the rules of this action costs more than one decision may';

describe('all rules of a decision share what it may cost', () => {
  test('past that, a rule that denies counts as matching, and the reason says so', () => {
    const { set } = setOf(
      'default: allow\nrules:\n- {name: a, effect: deny, when: 6 false}\n- {name: b, effect: deny, when: 6 false}',
    );
    const { effect, rule, reason } = verdictOf(set);
    expect([effect, rule]).toEqual(['deny', 'p0/b']);
    expect(reason).toBe(`denied by rule p0/b, ${tooMuch}; allowed here: what no rule denies`);
  });

  test('so does one that asks, and one that allows counts as not matching', () => {
    const asking = setOf('default: allow\nrules:\n- {name: a, effect: require_approval, when: 11 false}');
    expect(verdictOf(asking.set)).toMatchObject({
      effect: 'require_approval',
      rule: 'p0/a',
      reason: `approval required by rule p0/a, ${tooMuch}`,
    });
    const allowing = setOf(
      'rules:\n- {name: a, effect: allow, when: 6 false}\n- {name: b, effect: allow, when: 6 true}',
    );
    expect(verdictOf(allowing.set)).toMatchObject({ effect: 'deny', rule: 'default' });
  });

  test('what allows is judged last, so that its cost makes nobody denied', () => {
    const { set, judged } = setOf(
      'rules:\n- {name: a, effect: allow, when: 9 true}\n- {name: b, effect: deny, when: 5 false}',
      'scope: org:acme\nrules:\n- {name: c, effect: require_approval, when: 1 false}\n- {name: d, effect: deny, when: 2 false}',
    );
    expect(verdictOf(set)).toMatchObject({ effect: 'deny', rule: 'default' });
    expect(judged).toEqual(['5 false', '2 false', '1 false']);
  });

  test('the rules of wider scopes are judged before those of narrower ones', () => {
    const { set, judged } = setOf(
      'name: z\nrules:\n- {name: a, effect: deny, when: 9 false}',
      'name: a\nscope: agent:acme/search/bot\nrules:\n- {name: a, effect: deny, when: 3 false}',
      'name: b\nscope: org:acme\nrules:\n- {name: a, effect: deny, when: 2 false}',
    );
    expect(verdictOf(set)).toMatchObject({ effect: 'deny', rule: 'b/a' });
    expect(judged).toEqual(['9 false']);
  });

  test('what is observed takes nothing from what is enforced, and is told as far as it could be judged', () => {
    const { set } = setOf(
      'mode: observe\nrules:\n- {name: a, effect: deny, when: 8 false}',
      'name: real\nrules:\n- {name: a, effect: allow, when: 5 true}',
    );
    expect(verdictOf(set)).toMatchObject({
      effect: 'allow',
      rule: 'real/a',
      observed: [{ document: 'p0', rule: 'p0/a', effect: 'deny' }],
    });
  });

  test('a rule that was judged is told rather than one that could not be', () => {
    const { set } = setOf(
      'name: z\nrules:\n- {name: a, effect: deny, when: 6 true}',
      'name: a\nscope: org:acme\nrules:\n- {name: a, effect: deny, when: 6 true}',
    );
    expect(verdictOf(set)).toMatchObject({ effect: 'deny', rule: 'z/a' });
  });

  test('globs cost, too', () => {
    const globs = Array.from({ length: 20_000 }, (_, at) => `"*a*b*${at}?"`).join(', ');
    const { set } = setOf(`default: allow\nrules:\n- {name: a, effect: deny, tools: [${globs}]}`);
    const long = set.evaluate(bot, action('tool_call', { tool: 'ab'.repeat(200) }), nobody);
    expect([long.effect, long.reason]).toEqual(['deny', expect.stringContaining(tooMuch)]);
  });
});

test('a set takes over the index of every scope that is as it was', () => {
  const text = (name: string, scope: string, tool: string) =>
    `name: ${name}\nscope: ${scope}\nrules:\n- {name: r, effect: allow, tools: [${tool}]}`;
  const sources = [text('a', 'global', 'one'), text('b', 'org:acme', 'two'), text('c', 'org:globex', 'three')];
  const documents = parsePolicies(sources.map((one, at) => ({ file: `${at}.yaml`, text: one }))).documents;
  const before = new PolicySet(documents, '1');
  const changed = parsePolicies([{ file: '1.yaml', text: text('b', 'org:acme', 'search') }]).documents;
  const [global, , globex] = documents;
  const after = new PolicySet(
    [global, ...changed, globex].filter((document) => document !== undefined),
    '2',
    before,
  );
  expect(verdictOf(before).effect).toBe('deny');
  expect(verdictOf(after)).toMatchObject({ effect: 'allow', rule: 'b/r' });
  expect(after.evaluate(agentId('globex/x/y'), action('tool_call', { tool: 'three' }), nobody).rule).toBe('c/r');
});
