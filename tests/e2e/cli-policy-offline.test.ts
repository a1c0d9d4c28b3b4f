import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';

let home: TestHome;
let folder: string;
beforeAll(() => {
  home = new TestHome();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-policies-'));
  return () => rmSync(folder, { recursive: true, force: true });
});
afterAll(() => home[Symbol.dispose]());

/** There is no gateway, so a command that called one would fail. */
const env = { REEVE_API_URL: 'http://127.0.0.1:9' };
const run = (...args: string[]) => home.run(args, { env });
const at = (...names: string[]) => join(folder, ...names);

function write(name: string, text: string): string {
  const path = at(name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
}

interface TestReport {
  readonly passed: number;
  readonly failed: number;
  readonly cases: readonly {
    readonly case: string;
    readonly passed: boolean;
    readonly line: number;
    readonly actual: { readonly decision: string; readonly rule: string; readonly reason: string };
  }[];
  readonly coverage: { readonly rules: number; readonly reached: number; readonly unreached: readonly string[] };
}

describe('policy init', () => {
  test('writes a pack of policies and cases, and names what comes next', async () => {
    const { code, stdout, stderr } = await run('policy', 'init', at('policies'));
    expect(code).toBe(0);
    expect(readdirSync(at('policies')).toSorted()).toEqual([
      '.cases',
      'approvals.yaml',
      'budgets.yaml',
      'everyday.yaml',
      'guardrails.yaml',
      'trial.yaml',
    ]);
    expect(stdout).toContain(`Wrote ${at('policies', 'guardrails.yaml')}\n`);
    expect(stderr).toContain(`reeve policy test ${at('policies')}`);
    expect(stderr).toContain(`reeve serve --policy ${at('policies')}`);
    expect(readFileSync(at('policies', 'guardrails.yaml'), 'utf8')).toMatch(/^# /);
  });

  test('never overwrites, and writes nothing at all where one of its files is there', async () => {
    write('policies/everyday.yaml', '# mine\n');
    const { code, stdout, stderr } = await run('policy', 'init', at('policies'));
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^error: .*everyday\.yaml exists already; nothing was written\n$/);
    expect(readdirSync(at('policies'))).toEqual(['everyday.yaml']);
    expect(readFileSync(at('policies', 'everyday.yaml'), 'utf8')).toBe('# mine\n');
  });

  test('leaves other files of a folder alone', async () => {
    write('policies/own.yaml', 'name: own\n');
    expect((await run('policy', 'init', at('policies'))).code).toBe(0);
    expect(readFileSync(at('policies', 'own.yaml'), 'utf8')).toBe('name: own\n');
    expect((await run('policy', 'validate', at('policies'))).code).toBe(0);
  });

  test('says for programs what it wrote, and to people why it cannot', async () => {
    const data = await home.json<{ folder: string; files: string[] }>(['policy', 'init', at('p')], { env });
    expect(data.folder).toBe(at('p'));
    expect(data.files.every((file) => existsSync(file))).toBe(true);
    write('file', 'x');
    const blocked = await run('policy', 'init', at('file', 'below'));
    expect([blocked.code, blocked.stderr]).toEqual([1, expect.stringMatching(/^error: cannot write .*file/)]);
  });

  test('is a pack that its own cases prove, rule by rule', async () => {
    await run('policy', 'init', at('policies'));
    const { code, stdout, stderr } = await run('policy', 'test', at('policies'));
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^\d+ cases passed; (\d+) of \1 rules reached\.\n$/);
  });

  test.each(['coding-agents', 'mcp', 'models'])(
    'has a pack %s that its own cases prove, rule by rule',
    async (pack) => {
      expect((await run('policy', 'init', at(pack), '--pack', pack)).code).toBe(0);
      const { code, stdout, stderr } = await run('policy', 'test', at(pack));
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(/^\d+ cases passed; (\d+) of \1 rules reached\.\n$/);
    },
  );

  test('writes packs into one folder, which share a file, and refuses a file that differs', async () => {
    for (const pack of ['coding-agents', 'mcp', 'models']) {
      expect((await run('policy', 'init', at('all'), '--pack', pack)).code).toBe(0);
    }
    expect((await run('policy', 'validate', at('all'))).code).toBe(0);
    const again = await run('policy', 'init', at('all'), '--pack', 'mcp');
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/nothing was written/)]);
    write('mine/budgets.yaml', 'name: mine\n');
    expect((await run('policy', 'init', at('mine'), '--pack', 'models')).code).toBe(1);
    expect(readdirSync(at('mine'))).toEqual(['budgets.yaml']);
  });

  test('is a pack that a gateway loads and judges alike', async () => {
    await run('policy', 'init', at('policies'));
    const report = await home.json<TestReport>(['policy', 'test', at('policies')], { env });
    await using gateway = await TestGateway.start({ args: ['--policy', at('policies')] });
    const asked = readdirSync(at('policies', '.cases'))
      .flatMap((file) => parseAllDocuments(readFileSync(at('policies', '.cases', file), 'utf8')))
      .flatMap((document) => (document.toJS() as { cases: CaseJson[] }).cases)
      // A gateway knows past spend, identity and time better than its caller.
      .filter(({ spend, registered, run: of, at: time }) =>
        [spend, registered, of, time].every((it) => it === undefined),
      );
    expect(asked.length).toBeGreaterThan(30);
    for (const one of asked) {
      const answer = await gateway.api.post<{ decision: string; policy_rule: string; reason: string }>(
        '/api/v1/policies/simulate',
        bootstrapKey,
        simulationOf(one),
      );
      const offline = report.cases.find((each) => each.case === one.case && each.actual.rule === one.rule)?.actual;
      expect([one.case, answer.body.decision, answer.body.policy_rule]).toEqual([
        one.case,
        offline?.decision,
        offline?.rule,
      ]);
    }
  });
});

interface CaseJson {
  readonly case: string;
  readonly agent: string;
  readonly action: Readonly<Record<string, unknown>>;
  readonly arguments?: unknown;
  readonly rule: string;
  readonly spend?: unknown;
  readonly registered?: unknown;
  readonly run?: unknown;
  readonly at?: unknown;
}

function simulationOf({ agent, action, arguments: given }: CaseJson): unknown {
  const [org_id, team_id, agent_id] = agent.split('/');
  const { type, tool, ...rest } = action;
  return {
    agent: { org_id, team_id, agent_id },
    action_type: type,
    context: {
      ...rest,
      ...(tool === undefined ? {} : { tool_name: tool }),
      ...(given === undefined ? {} : { args_json: JSON.stringify(given) }),
    },
  };
}

describe('policy validate', () => {
  test('says that all is in order, of a file and of a folder', async () => {
    const file = write('p/a.yaml', 'name: a\nrules:\n  - { name: r, effect: allow }\n---\nname: b\n');
    write('p/below/c.yml', 'scope: org:acme\n');
    write('p/.hidden/bad.yaml', '}{');
    write('p/notes.txt', '}{');
    const one = await run('policy', 'validate', file);
    expect([one.code, one.stdout, one.stderr]).toEqual([0, 'In order: 2 documents, 1 rule, 1 file.\n', '']);
    const all = await home.json(['policy', 'validate', at('p')], { env });
    expect(all).toEqual({
      valid: true,
      files: ['a.yaml', 'below/c.yml'],
      documents: [
        { name: 'a', file: 'a.yaml', scope: 'global', mode: 'enforce', rules: 1 },
        { name: 'b', file: 'a.yaml', scope: 'global', mode: 'enforce', rules: 0 },
        { name: 'c', file: 'below/c.yml', scope: 'org:acme', mode: 'enforce', rules: 0 },
      ],
      errors: [],
    });
  });

  test('names every mistake with file, line and column, as the gateway does', async () => {
    write('p/a.yaml', 'name: a\nsurprise: 1\nrules:\n  - { name: r, effect: perhaps, when: "args.x > " }\n');
    write('p/b.yaml', 'name: a\nrules:\n  - { effect: deny, tools: ["[oops"] }\n');
    const { code, stdout, stderr } = await run('policy', 'validate', at('p'));
    expect([code, stderr]).toEqual([1, '']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toContainEqual(expect.stringMatching(/^a\.yaml:2:1: unknown key "surprise"/));
    expect(lines).toContainEqual(expect.stringMatching(/^a\.yaml:4:24: "effect" must be/));
    expect(lines).toContainEqual(expect.stringMatching(/^a\.yaml:4:\d+: bad "when"/));
    expect(lines).toContainEqual(expect.stringMatching(/^b\.yaml:1:7: a document named "a" exists already/));
    expect(lines).toContainEqual(expect.stringMatching(/^b\.yaml:3:30: bad glob/));
    const data = await home.run(['policy', 'validate', at('p'), '--output', 'yaml'], { env });
    expect(data.code).toBe(1);
    const { valid, errors } = parse(data.stdout) as { valid: boolean; errors: { file: string; message: string }[] };
    expect([valid, errors.length]).toEqual([false, lines.length]);
    await expect(TestGateway.start({ args: ['--policy', at('p')] })).rejects.toThrow(lines.join('\n'));
  });

  test('keeps a file from acting on the terminal', async () => {
    const file = write('p.yaml', '"a\\e[31mb": 1\n');
    const { code, stdout } = await run('policy', 'validate', file);
    expect(code).toBe(1);
    expect(stdout).toContain('unknown key "a[31mb"');
    expect(stdout).not.toContain('\u001b');
  });

  test('says what is not there, and what is empty', async () => {
    const gone = await run('policy', 'validate', at('gone'));
    expect([gone.code, gone.stderr]).toEqual([1, `error: the policy path ${at('gone')} does not exist\n`]);
    write('p/empty.yaml', '# nothing yet\n');
    expect((await run('policy', 'validate', at('p'))).stdout).toBe(
      'No policy in 1 file: everything would be denied.\n',
    );
    expect((await run('policy', 'validate')).code).toBe(2);
  });
});

const pay = `
name: money
rules:
  - { name: small, effect: allow, tools: [pay], when: args.amount <= 10 }
  - { name: asked, effect: require_approval, tools: [pay], when: args.amount > 10 }
  - { name: nights, effect: deny, tools: [pay], when: now.getHours() < 6 }
  - { name: forgotten, effect: deny, tools: [burn] }
budget: { agent_daily_limit_usd: 5 }
`;

const good = `
about: Payments
cases:
  - case: small
    agent: acme/pay/bot
    action: { type: tool_call, tool: pay }
    arguments: { amount: 3 }
    decision: allow
    rule: money/small
    reason: allowed by rule money/small
  - case: large
    agent: acme/pay/bot
    action: { type: tool_call, tool: pay }
    arguments: { amount: 30 }
    decision: pending
  - case: at night
    agent: //bot
    action: { type: tool_call, tool: pay }
    arguments: { amount: 3 }
    at: '2026-11-15T03:00:00Z'
    decision: deny
    rule: money/nights
  - case: past the cap
    agent: acme/pay/bot
    action: { type: tool_call, tool: pay }
    arguments: { amount: 3 }
    cost_usd: 2
    spend: { agent: { day_usd: 3.5 } }
    decision: deny
    rule: budget/agent.day
`;

describe('policy test', () => {
  beforeEach(() => {
    write('p/money.yaml', pay);
  });

  test('judges the cases of the folder, and names the rules that no case reaches', async () => {
    write('p/.cases/money.yaml', good);
    const { code, stdout, stderr } = await run('policy', 'test', at('p'));
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toBe('No case reaches:\n  money/forgotten\n\n4 cases passed; 3 of 4 rules reached.\n');
    const report = await home.json<TestReport>(['policy', 'test', at('p')], { env });
    expect(report).toMatchObject({
      passed: 4,
      failed: 0,
      coverage: { rules: 4, reached: 3, unreached: ['money/forgotten'] },
    });
    expect(report.cases[3]?.actual).toMatchObject({
      decision: 'deny',
      rule: 'budget/agent.day',
      reason: "2.00 USD would pass the agent's cap of 5.00 USD a day; 1.50 USD are left until 2026-01-06T00:00:00.000Z",
    });
  });

  test('shows where an answer is another, with the rules that match, and ends with 1', async () => {
    const cases = write('cases.yaml', good.replace('decision: allow', 'decision: deny').replaceAll('money/small', 'x'));
    const { code, stdout } = await run('policy', 'test', at('p', 'money.yaml'), '--cases', cases);
    expect(code).toBe(1);
    expect(stdout).toContain(`${cases}:4: small (Payments)\n`);
    expect(stdout).toContain('  - decision  deny\n  + decision  allow\n');
    expect(stdout).toContain('  - rule      x\n  + rule      money/small\n');
    expect(stdout).toMatch(
      /allow by money\/small: the tool "pay" matches pay; its condition holds: args\.amount <= 10/,
    );
    expect(stdout).toMatch(/1 of 4 cases failed; 3 of 4 rules reached\.\n$/);
    expect(stdout).not.toContain('large');
    const data = await home.run(['policy', 'test', at('p'), '--cases', cases, '-o', 'json'], { env });
    expect(data.code).toBe(1);
    const { passed, failed, cases: results } = JSON.parse(data.stdout) as TestReport;
    expect([passed, failed, results.filter((one) => !one.passed).map((one) => one.line)]).toEqual([3, 1, [4]]);
  });

  test('judges groups that bring their own policies, and mistakes that must be told', async () => {
    const cases = write(
      'cases.yaml',
      `
about: Its own policy
policies:
  own.yaml: "default: allow"
cases:
  - { case: anything, agent: a/b/c, action: { type: agent_spawn }, decision: allow, rule: default }
---
about: A mistake is told
policies:
  own.yaml: "defualt: allow"
problems:
  - 'own.yaml:1:1: unknown key'
`,
    );
    const { code, stdout } = await run('policy', 'test', at('p'), '--cases', cases);
    expect(code).toBe(1);
    expect(stdout).toMatch(/- own\.yaml:1:1: unknown key\n {2}\+ own\.yaml:1:1: unknown key "defualt" in a policy/);
    expect(stdout).toMatch(/1 of 2 cases failed; 0 of 4 rules reached/);
  });

  test('judges the cases of the repository as the gateway’s own tests do', async () => {
    // The cases of mistakes.yaml are for a parser without conditions.
    const files = readdirSync('packages/core/cases').filter(
      (name) => name.endsWith('.yaml') && name !== 'mistakes.yaml',
    );
    expect(files.length).toBeGreaterThan(8);
    const paths = files.map((name) => join('packages/core/cases', name)).join(',');
    const { code, stdout } = await run('policy', 'test', at('p'), '--cases', paths);
    expect(stdout).toMatch(/\d{3} cases passed; 0 of 4 rules reached\.\n$/);
    expect(code).toBe(0);
  });

  test('goes through what came before a case, and says where that went otherwise', async () => {
    const cases = write(
      'cases.yaml',
      `
cases:
  - case: the third payment
    agent: acme/pay/bot
    before:
      - { agent: acme/pay/bot, action: { type: tool_call, tool: pay }, arguments: { amount: 3 }, cost_usd: 2, times: 2 }
    action: { type: tool_call, tool: pay }
    arguments: { amount: 3 }
    cost_usd: 2
    decision: deny
    rule: budget/agent.day
    limit: { spent_micros: 4000000 }
    audited: BudgetLimitExceeded
    reserved_micros: 0
  - case: what came before was refused
    agent: acme/pay/bot
    before: [{ agent: acme/pay/bot, action: { type: tool_call, tool: burn } }]
    action: { type: tool_call, tool: pay }
    arguments: { amount: 3 }
    decision: allow
    observed: []
  - case: the answer is another in more than its decision
    agent: acme/pay/bot
    action: { type: tool_call, tool: pay }
    arguments: { amount: 3 }
    cost_micros: 7
    decision: allow
    reserved_micros: 8
`,
    );
    const { code, stdout } = await run('policy', 'test', at('p'), '--cases', cases);
    expect(code).toBe(1);
    expect(stdout).not.toContain('the third payment');
    expect(stdout).toMatch(
      /what came before \(the 1\. of it\) was answered deny, not allow: denied by rule money\/forgotten/,
    );
    expect(stdout).toContain('  - reserved_micros  8\n  + reserved_micros  7\n');
    expect(stdout).toMatch(/2 of 3 cases failed/);
  });

  test('judges what rules make of arguments, and by that what becomes of the call', async () => {
    const cases = write(
      'cases.yaml',
      `
about: Few rows.
policies:
  few.yaml: |
    rules:
      - { name: few, effect: allow, tools: [find, dump], rewrite: { limit: "10" }, labels: [rows] }
      - { name: no, effect: deny, tools: [dump], when: has(args.limit) && args.limit == 10.0 }
      - { name: ten, effect: allow, actions: [llm_call] }
cases:
  - case: rewritten
    agent: acme/pay/bot
    action: { type: tool_call, tool: find }
    arguments: { limit: 500, q: x }
    decision: allow
    rewritten_args: { limit: 10, q: x }
  - case: as it was
    agent: acme/pay/bot
    action: { type: tool_call, tool: find }
    arguments: { limit: 10 }
    decision: allow
    rewritten_args: null
  - case: denied once it is rewritten
    agent: acme/pay/bot
    action: { type: tool_call, tool: dump }
    arguments: { limit: 500 }
    decision: deny
    rule: few/no
  - case: mistaken
    agent: acme/pay/bot
    action: { type: tool_call, tool: find }
    decision: allow
    rewritten_args: { limit: 11 }
`,
    );
    const { code, stdout } = await run('policy', 'test', at('p'), '--cases', cases);
    expect(stdout).toContain('  - rewritten_args  {"limit":11}\n  + rewritten_args  {"limit":10}\n');
    expect(stdout).toMatch(/1 of 4 cases failed/);
    expect(code).toBe(1);
  });

  test('judges what calls bring back, whose labels count for later calls', async () => {
    const cases = write(
      'results.yaml',
      `
about: Mail.
policies:
  mail.yaml: |
    rules:
      - { name: all, effect: allow, tools: ["*"] }
      - { name: tidy, on: result, effect: mask, tools: [read], mask: { detect: [email] }, labels: [pii] }
      - { name: found, on: result, effect: allow, tools: [read], when: result.secret == true, labels: [secret] }
      - { name: bad, on: result, effect: deny, tools: [read], when: result_text.contains("virus") }
      - { name: staff, on: result, effect: deny, tools: [ask], when: '!("staff" in user.groups)' }
      - { name: no-post, effect: deny, tools: [post], when: '"secret" in run.labels' }
cases:
  - case: masked
    agent: acme/pay/bot
    action: { type: tool_call, tool: read }
    result: { secret: false, from: ann@acme.example }
    decision: allow
    judge_result: true
    labels: []
    on_result:
      { effect: mask, rule: mail/tidy, masked: { secret: false, from: "[masked]" }, labels: [pii], counts: { email: 1 } }
  - case: a text
    agent: acme/pay/bot
    action: { type: tool_call, tool: read }
    result: "a virus"
    decision: allow
    on_result: { effect: deny, rule: mail/bad, masked: null }
  - case: what nobody asks about
    agent: acme/pay/bot
    action: { type: tool_call, tool: post }
    decision: allow
    judge_result: false
  - case: after a result that gives a label
    agent: acme/pay/bot
    run: r
    action: { type: tool_call, tool: post }
    before: [{ agent: acme/pay/bot, run: r, action: { type: tool_call, tool: read }, result: { secret: true } }]
    decision: deny
    rule: mail/no-post
  - case: after one that gives none
    agent: acme/pay/bot
    run: r
    action: { type: tool_call, tool: post }
    before: [{ agent: acme/pay/bot, run: r, action: { type: tool_call, tool: read }, result: { secret: false } }]
    decision: allow
  - case: after one that is over, and nobody had it judged
    agent: acme/pay/bot
    run: r
    action: { type: tool_call, tool: post }
    before: [{ agent: acme/pay/bot, run: r, action: { type: tool_call, tool: read }, settled_micros: 0 }]
    decision: deny
  - case: what no condition on the call has asked for is not known of the user afterwards
    agent: acme/pay/bot
    action: { type: tool_call, tool: ask }
    user: { sub: ann, groups: [staff] }
    result: "1"
    decision: allow
    on_result: { effect: deny, rule: mail/staff }
  - case: mistaken
    agent: acme/pay/bot
    action: { type: tool_call, tool: read }
    result: "a virus"
    decision: allow
    on_result: { effect: allow }
`,
    );
    const { code, stdout } = await run('policy', 'test', at('p'), '--cases', cases);
    expect(stdout).toContain('  - on_result  {"effect":"allow"}\n  + on_result  {"effect":"deny","rule":"mail/bad"');
    expect(stdout).toContain('deny by mail/bad: the tool "read" matches read; its condition holds');
    expect(stdout).toMatch(/1 of 8 cases failed/);
    expect(code).toBe(1);
  });

  test.each([
    ['- [', /cases\.yaml:\d+:\d+: /],
    ['cases: [{ case: x }]', /cases\.yaml:1:9: a case needs "agent"/],
    ['cases: []\nextra: 1', /cases\.yaml:2:1: unknown key "extra" in a group of cases; known: about, policies/],
    ['about: nothing', /a group needs "cases"/],
    [
      'cases: [{ case: x, agent: bot, action: { type: tool_call }, decision: allow }]',
      /"agent" must be "org\/team\/agent"/,
    ],
    [
      'cases: [{ case: x, agent: a/b/c, action: { type: tool_call, tol: y }, decision: maybe }]',
      /unknown key "tol" in "action".*\n.*"decision" must be "allow", "deny" or "pending"/,
    ],
    [
      'cases: [{ case: x, agent: a/b/c!, action: { type: tool_call }, decision: allow }]',
      /no agent could send this: .*agent_id/,
    ],
    [
      'cases: [{ case: x, agent: a/b/c, action: { type: tool_call }, at: noon, decision: allow }]',
      /"at" must be a time such as/,
    ],
    [
      'cases: [{ case: x, agent: a/b/c, action: { type: network_call, port: -1 }, cost_usd: -1, decision: allow }]',
      /"port" must be a whole number.*\n.*"cost_usd" must be a number that is not negative/,
    ],
  ])('tells what is wrong with cases: %s', async (text, words) => {
    const cases = write('cases.yaml', text);
    const { code, stdout, stderr } = await run('policy', 'test', at('p'), '--cases', cases);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(words);
    expect(stderr).not.toContain('error: ');
  });

  test('tells what is wrong with the policies, and that there are no cases', async () => {
    const none = await run('policy', 'test', at('p'));
    expect([none.code, none.stderr]).toEqual([1, expect.stringMatching(/^error: there are no cases: .*--cases\n$/)]);
    write('p/bad.yaml', 'nam: x\n');
    write('p/.cases/c.yaml', good);
    const wrong = await run('policy', 'test', at('p'));
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringMatching(/^bad\.yaml:1:1: unknown key "nam"/)]);
    const data = await home.run(['policy', 'test', at('p'), '-o', 'json'], { env });
    expect([data.code, JSON.parse(data.stdout)]).toMatchObject([1, { errors: [{ file: 'bad.yaml', line: 1 }] }]);
    const gone = await run('policy', 'test', at('p'), '--cases', at('gone.yaml'));
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('gone.yaml does not exist')]);
  });
});
