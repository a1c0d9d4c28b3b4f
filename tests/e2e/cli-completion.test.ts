import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { allowAll, bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';

const asking = 'rules: [{ name: payments, effect: require_approval, tools: [pay] }]\n';

let gateway: TestGateway;
let home: TestHome;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll, 'asking.yaml': asking } });
  const bot = await gateway.register({ agentId: 'bot' });
  await gateway.check(bot, { traceId: 'trace1', spanId: 'span1' });
  await gateway.check(bot, { traceId: 'trace1', spanId: 'span2' });
  home = new TestHome();
  home.writeConfig({
    current_context: 'prod',
    contexts: {
      prod: { api_url: gateway.http, api_key: bootstrapKey },
      staging: { api_url: 'http://127.0.0.1:9' },
      'od $(touch x)': {},
    },
  });
});
afterAll(async () => {
  home[Symbol.dispose]();
  await gateway[Symbol.asyncDispose]();
});

/** What Bash itself offers for a line. */
function inBash(line: string): string[] {
  const script = `
    eval "$(reeve completion bash)"
    COMP_LINE="$1" COMP_POINT=\${#1} _reeve
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { PATH } = process.env;
  const env = { PATH: `${resolve('node_modules/.bin')}:${PATH}`, HOME: home.path };
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script, 'bash', line], { env, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((word) => word !== '');
}

describe('in bash', () => {
  test.each<[string, string[]]>([
    ['reeve who', ['whoami']],
    ['reeve cl', ['cluster']],
    ['reeve ops p', ['pause']],
    ['reeve --output json ops te', ['terminate']],
    ['reeve whoami --out', ['--output']],
    ['reeve whoami --output ', ['table', 'json', 'yaml']],
    ['reeve whoami --output=y', ['yaml']],
    ['reeve login --scope a', ['admin']],
    ['reeve whoami --context ', ['prod', 'staging']],
    ['reeve context use st', ['staging']],
    ['reeve agents suspend ', ['acme/core/bot']],
    ['reeve ops pause ', ['trace1:span2', 'trace1:span1']],
    // Bash treats the text before the colon as a word of its own.
    ['reeve ops pause trace1:span1', ['span1']],
    ['reeve keys revoke abc', ['abcdefghijkl']],
    ['reeve ops pause x --context staging ', []],
    ['reeve --context staging ops pause ', []],
    ['reeve logs --op trace1:', ['span2', 'span1']],
    ['reeve completion ', ['bash', 'zsh', 'fish']],
    ['reeve policy show ', ['asking', 'test']],
    ['reeve policy history as', ['asking']],
    ['reeve approvals rev', ['revoke-grant']],
    ['reeve approvals list --state re', ['rejected']],
    ['reeve nonsense ', []],
    ['reeve whoami ', []],
  ])('%j offers %j', (line, expected) => {
    expect(inBash(line)).toEqual(expected);
  });

  test('offers all commands, and files where a file is asked for', () => {
    expect(inBash('reeve ')).toEqual(expect.arrayContaining(['login', 'ops', 'stop', 'doctor']));
    expect(inBash('reeve ')).not.toContain('complete');
    expect(inBash('reeve audit verify package.j')).toEqual(['package.json']);
    expect(inBash('reeve serve --config package.j')).toEqual(['package.json']);
    expect(inBash('reeve policy validate package.j')).toEqual(['package.json']);
    expect(inBash('reeve policy backtest --candidate package.j')).toEqual(['package.json']);
  });
});

const installed = new Set(['zsh', 'fish'].filter((shell) => spawnSync(shell, ['--version']).error === undefined));

test.each(['bash', 'zsh', 'fish'])('the script for %s is one that the shell can read', async (shell) => {
  const { code, stdout, stderr } = await home.run(['completion', shell]);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('reeve complete -- ');
  if (shell !== 'bash' && !installed.has(shell)) return;
  home.write('script', stdout);
  const parsed = spawnSync(shell, ['-n', join(home.path, '.reeve', 'script')], { encoding: 'utf8' });
  expect([parsed.status, parsed.stderr]).toEqual([0, '']);
});

test('a shell that there is not is a mistake', async () => {
  const { code, stderr } = await home.run(['completion', 'tcsh']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('SHELL must be one of bash, zsh, fish')]);
});

test('a gateway that does not answer makes a completion empty, not wrong', async () => {
  const { code, stdout, stderr } = await home.run(['complete', '--', 'ops', 'pause', '']);
  expect([code, stderr, stdout]).toEqual([0, '', 'trace1:span2\t\ntrace1:span1\t\n']);
  const away = await home.run(['complete', '--', '--context', 'staging', 'ops', 'pause', '']);
  expect([away.code, away.stderr, away.stdout]).toEqual([0, '', '']);
});

test('offers the approvals that are open, and the grants in force', async () => {
  const bot = await gateway.register({ agentId: 'payer' });
  const { approvalId } = await gateway.check(bot, { context: toolCall('pay'), traceId: 'p1', spanId: 's' });
  expect(inBash('reeve approvals approve ')).toEqual([approvalId]);
  const approve = `/api/v1/approvals/${approvalId}/approve`;
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const { body } = await gateway.api.post<{ grant_id: string }>(approve, bootstrapKey, {
    grant: { reach: 'until', until },
  });
  expect(inBash('reeve approvals show ')).toEqual([]);
  expect(inBash('reeve approvals revoke-grant ')).toEqual([body.grant_id]);
});
