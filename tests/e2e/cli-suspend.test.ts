import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { makeKey } from '../harness/credentials.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

let gateway: TestGateway;
let home: TestHome;
let env: Record<string, string>;
beforeAll(async () => {
  gateway = await TestGateway.start({
    policies: { 'all.yaml': allowAll },
    env: { SVC_CONTROL_ACK_SECS: '1', SVC_OPS_TTL_SECS: '600' },
  });
  home = new TestHome();
  env = { REEVE_API_URL: gateway.http };
  await home.run(['login', '--api-key', bootstrapKey], { env });
});
afterAll(async () => {
  home[Symbol.dispose]();
  await gateway[Symbol.asyncDispose]();
});

const run = (...args: string[]) => home.run(args, { env });
const json = <Data>(...args: string[]) => home.json<Data>(args, { env });

test('suspend asks, holds, and says how to lift it; resume lifts it', async () => {
  const agent = await gateway.register({ orgId: 'held', agentId: 'bot' });
  const asked = await home.run(['suspend', '--org', 'held', '--reason', 'incident'], { env, input: 'n\n' });
  expect([asked.code, asked.stdout]).toEqual([1, '']);
  expect(asked.stderr).toContain('In org held: 0 operations in flight.');
  expect(asked.stderr).toContain('deny every check until it is resumed? [y/N]');
  expect(await gateway.check(agent)).toMatchObject({ decision: 1 });

  const held = await home.run(['suspend', '--org', 'held', '--reason', 'incident', '--wait', '0'], {
    env,
    input: 'y\n',
  });
  expect(held.stderr).toContain('Suspended org held. To lift it: reeve resume --org held');
  expect(await gateway.check(agent)).toMatchObject({ decision: 2, reason: 'org is suspended: incident' });
  const listed = await run('suspensions');
  expect(listed.stdout).toMatch(/^ID +ORG +TEAM +ACTION +BY +SINCE +REASON/m);
  expect(listed.stdout).toMatch(/^sus_\w+ +held +.*pause +bootstrap +.*incident$/m);
  const lifted = await run('resume', '--org', 'held', '--reason', 'over', '--yes');
  expect([lifted.code, lifted.stdout]).toEqual([0, 'Lifted 1 suspension of org held.\n']);
  expect(await gateway.check(agent)).toMatchObject({ decision: 1 });
  expect((await run('suspensions')).stdout).toBe('Nothing is suspended.\n');
});

test('suspend --terminate ends what runs, and the data say what became of it', async () => {
  const agent = await gateway.register({ orgId: 'ended', agentId: 'bot' });
  await gateway.check(agent, { traceId: 'ended', spanId: 'op' });
  const args = [
    'suspend',
    '--org',
    'ended',
    '--team',
    'core',
    '--terminate',
    '--reason',
    'leak',
    '--yes',
    '-o',
    'json',
  ];
  const { stdout } = await home.run([...args, '--wait', '0'], { env });
  expect(JSON.parse(stdout)).toMatchObject({
    org_id: 'ended',
    team_id: 'core',
    action: 'terminate',
    operations: { matched: 1, changed: 1, skipped: 0 },
    receipts: [{ op_id: 'ended:op', action: 'terminate' }],
  });
  const none = await run('resume', '--org', 'ended');
  expect(none.code).toBe(4);
  expect(none.stderr).toContain('org ended is not suspended; still suspended: team ended/core');
  expect(await json('resume', '--org', 'ended', '--team', 'core')).toMatchObject({
    lifted: [{ org_id: 'ended' }],
    in_force: [],
  });
});

test('everything is suspended and resumed with --all', async () => {
  const agent = await gateway.register({ orgId: 'any', agentId: 'bot' });
  await run('suspend', '--all', '--reason', 'drill', '--yes', '--wait', '0');
  expect(await gateway.check(agent)).toMatchObject({ reason: 'everything is suspended: drill' });
  expect(await run('resume', '--all')).toMatchObject({ code: 0 });
  expect(await gateway.check(agent)).toMatchObject({ decision: 1 });
});

test('a mistyped scope, and resuming what is not suspended, end with 4; misuse ends with 2', async () => {
  for (const args of [
    ['suspend', '--org', 'nobody', '--reason', 'x', '--yes'],
    ['stop', '--org', 'nobody', '--yes'],
    ['stop', '--org', 'nobody', '--dry-run'],
    ['resume', '--org', 'nobody'],
    ['resume', '--all'],
  ]) {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout], `${args.join(' ')}: ${stderr}`).toEqual([4, '']);
  }
  for (const args of [
    ['suspend', '--reason', 'x'],
    ['suspend', '--org', 'held'],
    ['suspend', '--team', 'core', '--reason', 'x'],
    ['suspend', '--all', '--org', 'held', '--reason', 'x'],
    ['resume'],
  ]) {
    expect((await run(...args)).code, args.join(' ')).toBe(2);
  }
});

test('stop says that new operations may begin, and how to suspend instead', async () => {
  const agent = await gateway.register({ orgId: 'stopped', agentId: 'bot' });
  const { stderr } = await run('stop', '--org', 'stopped', '--action', 'terminate', '--yes', '--wait', '0');
  expect(stderr).toContain('New operations may begin.');
  expect(stderr).toContain('reeve suspend --org stopped --reason');
  expect(await gateway.check(agent)).toMatchObject({ decision: 1 });
  const run_ = await run('stop', '--run', 'r', '--yes', '--wait', '0');
  expect(run_.stderr).not.toContain('New operations may begin');
});

test('resume lifts what it may, says what it may not, and ends with 1', async () => {
  await gateway.register({ orgId: 'shared', agentId: 'bot' });
  const { key } = await makeKey(gateway, { scopes: ['admin'], org_id: 'shared' });
  using tenant = new TestHome();
  const asTenant = (...args: string[]) => tenant.run([...args, '--api-key', key], { env });
  await run('suspend', '--org', 'shared', '--reason', 'from above', '--yes', '--wait', '0');
  await asTenant('suspend', '--org', 'shared', '--reason', 'own', '--yes', '--wait', '0');
  const { code, stdout, stderr } = await asTenant('resume', '--org', 'shared');
  expect([code, stdout]).toEqual([1, 'Lifted 1 suspension of org shared; still suspended: org shared.\n']);
  expect(stderr).toContain('cannot lift it');
  expect(await run('resume', '--org', 'shared')).toMatchObject({ code: 0 });
});
