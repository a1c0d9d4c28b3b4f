import { parse } from 'yaml';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { makeKey, registerAs } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import { FakeServer } from '../harness/fake-server.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';

const policy = `
name: house
default: allow
rules:
  - { name: payments, effect: require_approval, tools: [pay] }
  - { name: wires, effect: require_approval, tools: [wire], approvals: { count: 2 } }
`;

interface ApprovalJson {
  readonly id: string;
  readonly state: string;
  readonly op_id: string;
  readonly verdicts: readonly { readonly verdict: string; readonly reason: string }[];
  readonly grant_id: string | null;
}

let gateway: TestGateway;
let home: TestHome;
let env: Record<string, string>;
let second: Record<string, string>;
let bot: Registered;
let org = 0;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'house.yaml': policy } });
  home = new TestHome();
  const keyOf = async (label: string) => (await makeKey(gateway, { label, scopes: ['read', 'write'] })).key;
  env = { REEVE_API_URL: gateway.http, REEVE_API_KEY: await keyOf('ada') };
  second = { REEVE_API_URL: gateway.http, REEVE_API_KEY: await keyOf('ben') };
});
beforeEach(async () => {
  bot = await gateway.register({ orgId: `org${++org}`, agentId: 'bot' });
});
afterAll(async () => {
  home[Symbol.dispose]();
  await gateway[Symbol.asyncDispose]();
});

const run = (...args: string[]) => home.run(['approvals', ...args], { env });
const json = <Data>(...args: string[]) => home.json<Data>(['approvals', ...args], { env });

/** Requests an action that needs a verdict. Returns the id of the approval. */
async function ask(traceId: string, tool = 'pay', runId = ''): Promise<string> {
  const context = toolCall(tool, { amount: 20, note: `for ${traceId}` });
  const answer = await gateway.check(bot, { traceId, spanId: 's', context, runId, summary: 'pays a bill' });
  expect(answer.approvalId).not.toBe('');
  return answer.approvalId;
}

async function stateOf(op: string): Promise<string> {
  const path = `/api/v1/ops/${encodeURIComponent(op)}`;
  return (await gateway.api.get<{ state: string }>(path, bootstrapKey)).body.state;
}

describe('approvals', () => {
  test('are listed in every form, and narrowed', async () => {
    const id = await ask(`l${org}`, 'pay', 'run-1');
    const { code, stdout } = await run('list', '--org', bot.id.orgId);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      new RegExp(
        `^${id} +open +${bot.id.orgId}/core/bot +pay\\(amount: 20, note: "for l${org}"\\) +pays a bill +house/payments +0\\.00 +0 of 1 +in `,
        'm',
      ),
    );
    const data = await json<{ items: ApprovalJson[]; total: number }>('list', '--org', bot.id.orgId);
    expect(data).toMatchObject({ total: 1, items: [{ id, state: 'open' }] });
    expect(parse((await run('list', '--org', bot.id.orgId, '-o', 'yaml')).stdout)).toEqual(data);
    expect(await json('list', '--run', 'run-1', '--org', bot.id.orgId)).toMatchObject({ total: 1 });
    expect(await json('list', '--run', 'run-2', '--org', bot.id.orgId)).toMatchObject({ total: 0 });
    expect((await run('list', '--org', bot.id.orgId, '--state', 'rejected')).stdout).toBe(
      'Nothing waits for approval.\n',
    );
    expect((await run('list', '--state', 'perhaps')).code).toBe(2);
  });

  test('are shown whole, with the next commands', async () => {
    const id = await ask(`w${org}`);
    const { code, stdout, stderr } = await run('show', id);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^State +open$/m);
    expect(stdout).toMatch(new RegExp(`^What +pay\\(amount: 20, note: "for w${org}"\\)$`, 'm'));
    expect(stdout).toMatch(/^Rule +house\/payments$/m);
    expect(stdout).toContain(`for w${org}`);
    expect(stderr).toContain(`reeve approvals approve ${id}`);
    const unknown = await run('show', 'apr_nothing');
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('apr_nothing')]);
  });

  test('are given by name, with a reason, and the operation runs', async () => {
    const id = await ask(`a${org}`);
    const { code, stdout } = await run('approve', id, '--reason', 'agreed with finance');
    expect([code, stdout]).toEqual([
      0,
      `${id} is approved: pay(amount: 20, note: "for a${org}"), by ${bot.id.orgId}/core/bot.\n`,
    ]);
    expect(await stateOf(`a${org}:s`)).toBe('running');
    expect(await json('show', id)).toMatchObject({
      state: 'approved',
      verdicts: [{ verdict: 'approve', reason: 'agreed with finance' }],
    });
    const again = await run('reject', id);
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/^error: /)]);
    expect(await stateOf(`a${org}:s`)).toBe('running');
    expect((await run('list', '--state', 'approved', '--org', bot.id.orgId)).stdout).toContain('approve: ada (api_key');
    const decided = (...args: string[]) => json('list', '--decided', '--org', bot.id.orgId, ...args);
    expect(await decided('--by', 'ADA', '--since', '1h')).toMatchObject({ total: 1, items: [{ id }] });
    expect(await decided('--by', 'ben')).toMatchObject({ total: 0 });
    expect(await decided('--until', '2020-01-01')).toMatchObject({ total: 0 });
    expect((await run('list', '--decided', '--by', 'ben')).stdout).toBe('Nothing was decided.\n');
    for (const misuse of [
      ['--by', 'ada'],
      ['--decided', '--state', 'open'],
      ['--decided', '--since', 'soon'],
    ]) {
      expect((await run('list', ...misuse)).code).toBe(2);
    }
  });

  test('are refused, and the operation is terminated', async () => {
    const id = await ask(`r${org}`);
    expect(await json('reject', id, '--reason', 'wrong account')).toMatchObject({
      id,
      state: 'rejected',
      verdicts: [{ verdict: 'reject', reason: 'wrong account' }],
    });
    expect(await stateOf(`r${org}:s`)).toBe('terminated');
  });

  test('of two people need both', async () => {
    const id = await ask(`t${org}`, 'wire');
    const first = await run('approve', id);
    expect([first.code, first.stdout]).toEqual([
      0,
      `${id} is approved by you, 1 of 2; 1 more person must approve: wire(amount: 20, note: "for t${org}"), by ${bot.id.orgId}/core/bot.\n`,
    ]);
    expect(await stateOf(`t${org}:s`)).toBe('pending');
    const same = await run('approve', id);
    expect([same.code, same.stderr]).toEqual([1, expect.stringMatching(/^error: /)]);
    const other = await home.run(['approvals', 'approve', id], { env: second });
    expect(other.stdout).toContain(`${id} is approved: `);
    expect(await stateOf(`t${org}:s`)).toBe('running');
  });

  test('are not given by the credential that registered the agent', async () => {
    const own = { ...env, REEVE_API_KEY: (await makeKey(gateway, { scopes: ['read', 'write'] })).key };
    const { credentialToken } = await registerAs(gateway, own.REEVE_API_KEY, { orgId: `org${org}`, agentId: 'mine' });
    bot = { id: { orgId: `org${org}`, teamId: 'core', agentId: 'mine' }, token: credentialToken };
    const id = await ask(`o${org}`);
    const { code, stderr } = await home.run(['approvals', 'approve', id], { env: own });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: .*registered with this credential/)]);
    expect(await stateOf(`o${org}:s`)).toBe('pending');
  });

  test.each([
    [['--grant', 'always'], /--grant must be "run" or "until=TIME", not "always"/],
    [['--grant', 'until=soon'], /--grant until must be a time to come/],
    [['--grant', 'until=2020-01-01'], /--grant until must be a time to come.*that is over/],
  ])('%j is a mistake', async (args, words) => {
    const { code, stderr } = await run('approve', 'apr_x', ...args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(words)]);
  });
});

describe('standing grants', () => {
  test('let the same happen again in a run, are listed, and end when they are revoked', async () => {
    const id = await ask(`g${org}`, 'pay', 'run-9');
    const { stdout } = await run('approve', id, '--grant', 'run', '--reason', 'all bills of today');
    const grant = /Grant (\S+) lets it do so again/.exec(stdout)?.[1] ?? '';
    expect(grant).not.toBe('');
    const answer = await gateway.check(bot, {
      traceId: `g${org}again`,
      spanId: 's',
      runId: 'run-9',
      context: toolCall('pay', { amount: 21 }),
    });
    expect(answer.approvalId).toBe('');
    const listed = await run('grants', '--org', bot.id.orgId);
    expect(listed.stdout).toMatch(
      new RegExp(
        `^${grant} +active +${bot.id.orgId}/core/bot +tool_call +pay +house/payments +run run-9 +in .* 1 `,
        'm',
      ),
    );
    expect(await json('grants', '--org', bot.id.orgId)).toMatchObject({ total: 1, items: [{ id: grant, uses: 1 }] });
    const revoked = await run('revoke-grant', grant);
    expect([revoked.code, revoked.stdout]).toEqual([0, expect.stringMatching(`^${grant} is revoked: `)]);
    expect((await run('grants', '--org', bot.id.orgId)).stdout).toBe('No standing grants.\n');
    expect(await json('grants', '--org', bot.id.orgId, '--state', 'revoked')).toMatchObject({ total: 1 });
    await ask(`g${org}asked`, 'pay', 'run-9');
    expect((await run('revoke-grant', 'grt_nothing')).code).toBe(1);
  });

  test('are asked for until a time', async () => {
    const id = await ask(`u${org}`);
    const before = Date.now();
    const { grant_id: grant } = await json<ApprovalJson>('approve', id, '--grant', 'until=2h');
    const { items } = await json<{ items: { id: string; expires_at: string; reach: string }[] }>(
      ...['grants', '--org', bot.id.orgId],
    );
    expect(items).toMatchObject([{ id: grant, reach: 'until' }]);
    const left = Date.parse(items[0]?.expires_at ?? '') - before;
    expect(left).toBeGreaterThan(7_100_000);
    expect(left).toBeLessThan(7_400_000);
  });
});

describe('live', () => {
  test('the open ones are lines, and then each change, until it is interrupted', async () => {
    const first = await ask(`f${org}`);
    await using cli = home.start(['approvals', 'list', '--follow', '--org', bot.id.orgId], { env });
    await cli.says(
      new RegExp(`open +${first} +${bot.id.orgId}/core/bot +pay\\(amount: 20, note: "for f${org}"\\) +house/payments`),
    );
    const next = await ask(`f${org}next`);
    await cli.says(new RegExp(`open +${next}`));
    await run('reject', next);
    await cli.says(new RegExp(`rejected +${next}`));
    cli.child.kill('SIGINT');
    await cli.ended();
    expect([cli.child.exitCode, cli.stderr]).toEqual([0, '']);
    expect(cli.stdout.trimEnd().split('\n')).toHaveLength(3);
    const misuse = await run('list', '--follow', '--state', 'open');
    expect([misuse.code, misuse.stderr]).toEqual([2, expect.stringContaining('--follow goes on')]);
  });

  test('they are JSON for programs', async () => {
    await using cli = home.start(['approvals', 'watch', '--org', bot.id.orgId, '-o', 'json'], { env });
    let asked = 0;
    await eventually(async () => {
      await ask(`j${org}-${asked++}`);
      expect(cli.stdout).toContain('"open"');
    }, 40);
    cli.child.kill('SIGTERM');
    await cli.ended();
    const [line = ''] = cli.stdout.split('\n');
    expect(JSON.parse(line)).toMatchObject({ state: 'open', agent: { org_id: bot.id.orgId } });
  });

  test('on a terminal the request is seen before it is decided, with keys', async () => {
    const first = await ask(`s${org}one`);
    const second = await ask(`s${org}two`);
    await using cli = home.startOnTerminal(['approvals', 'watch', '--org', bot.id.orgId], { env, columns: 200 });
    await cli.says(/2 approvals open/);
    await cli.says(new RegExp(`> ${first}`));
    cli.type('a');
    await cli.says(new RegExp(`approve ${first}\\? y or n`));
    expect(cli.stdout).toContain(`for s${org}one`);
    cli.type('y');
    await cli.says(new RegExp(`${first} is approved`));
    expect(await stateOf(`s${org}one:s`)).toBe('running');
    cli.type('\u001b[A');
    cli.type('r');
    await cli.says(new RegExp(`reject ${second}\\? y or n`));
    cli.type('n');
    cli.type('r');
    cli.type('y');
    await cli.says(new RegExp(`${second} is rejected`));
    expect(await stateOf(`s${org}two:s`)).toBe('terminated');
    cli.type('q');
    await cli.ended();
    expect(cli.child.exitCode).toBe(0);
  });
});

test('what an agent asks for does not act on the terminal', async () => {
  const evil = '\u001b[31mred\u0007';
  const approval = {
    id: 'apr_1',
    state: 'open',
    op_id: evil,
    agent: { org_id: evil, team_id: '', agent_id: 'x' },
    title: evil,
    action_type: 'tool_call',
    resource: evil,
    summary: evil,
    run_id: '',
    action: { args: evil },
    digest: '',
    policy_rule: evil,
    rules: [evil],
    grantable: true,
    policy_version: '',
    reason: evil,
    cost_micros: 0,
    cost_usd: '0.00',
    requested_at: evil,
    expires_at: evil,
    required: 1,
    verdicts: [{ verdict: 'approve', actor: { kind: 'api_key', id: 'x', label: evil }, reason: evil, at: evil }],
    decided_at: null,
    grant_id: evil,
  };
  await using fake = await FakeServer.start(({ path }) => ({
    json: path.includes('apr_1') ? approval : { items: [approval], next_cursor: null, total: 1 },
  }));
  for (const args of [['list'], ['show', 'apr_1'], ['approve', 'apr_1'], ['list', '-o', 'json']]) {
    const { code, stdout } = await home.run(['approvals', ...args], { env: { REEVE_API_URL: fake.url } });
    expect(code).toBe(0);
    expect(stdout).toContain(args[0] === 'approve' ? 'apr_1' : 'red');
    // oxlint-disable-next-line no-control-regex
    expect(stdout).not.toMatch(/[\u001b\u0007]/);
  }
});
