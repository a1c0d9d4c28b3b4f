import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { TokenIssuer } from '../harness/token-issuer.ts';

let issuer: TokenIssuer;
let folder: string;
let workloads: string;
beforeAll(async () => {
  issuer = await TokenIssuer.start();
  folder = mkdtempSync(join(tmpdir(), 'reeve-doctor-'));
  workloads = join(folder, 'workloads.yaml');
  const of = `issuer: ${issuer.url}\n  audience: reeve\n  jwks_uri: ${issuer.jwksUri}\n`;
  writeFileSync(
    workloads,
    `- ${of}  match: {sub: "job:{n:*}"}\n  agent: acme/ci/job-{n}\n- ${of}  match: {sub: "system:serviceaccount:{ns:*}:{sa:*}"}\n  agent: acme/{ns}/{sa}\n  register: true\n- ${of}  match: {sub: "**"}\n  agent: acme/any/{iat}\n- issuer: else\n  audience: reeve\n  jwks_uri: ${issuer.jwksUri}\n  match: {sub: "**"}\n  agent: a/b/c\n`,
  );
});
afterAll(async () => {
  await issuer[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

async function doctor(claims: object, env: Record<string, string> = {}, ...args: string[]) {
  using home = new TestHome();
  const token = await issuer.sign({ ...claims });
  const file = join(folder, 'token.jwt');
  writeFileSync(file, `${token}\n`);
  const given = args.length === 0 ? ['--workloads', workloads] : args;
  const { code, stdout, stderr } = await home.run(['doctor', '--workload', file, '-o', 'json', ...given], { env });
  expect(stdout + stderr).not.toContain(token);
  return { code, stderr, findings: stdout === '' ? [] : (JSON.parse(stdout) as { findings: unknown[] }).findings };
}

test('says which entry takes a token, as which agent, and why others do not', async () => {
  const { code, findings } = await doctor({ sub: 'system:serviceaccount:prod:bot' });
  expect(code).toBe(0);
  expect(findings).toEqual([
    { check: 'entry 1', status: 'skipped', detail: `${issuer.url}: its claim "sub" does not match`, advice: '' },
    {
      check: 'entry 2',
      status: 'ok',
      detail: expect.stringMatching(/: the token is acme\/prod\/bot until \S+Z, registered at its first call$/),
      advice: '',
    },
    {
      check: 'entry 3',
      status: 'skipped',
      detail: expect.stringMatching(/: it matches as acme\/any\/\d+, but entry 2 counts$/),
      advice: '',
    },
    { check: 'entry 4', status: 'skipped', detail: 'else: the token is of another issuer', advice: '' },
  ]);
});

test('ends with 1 if no entry takes it, and says why of each', async () => {
  const { code, findings } = await doctor({ sub: 'x', exp: 1 }, { SVC_WORKLOADS: workloads }, '--skip', 'disk');
  expect(code).toBe(1);
  expect(findings).toContainEqual({
    check: 'entry 1',
    status: 'skipped',
    detail: `${issuer.url}: the token has expired`,
    advice: '',
  });
  expect(findings.at(-1)).toMatchObject({ check: 'workload', status: 'failed' });
});

test('a file with errors, or none, is the mistake', async () => {
  const wrong = join(folder, 'wrong.yaml');
  writeFileSync(wrong, '- {}\n');
  expect(await doctor({}, {}, '--workloads', wrong)).toMatchObject({
    code: 1,
    findings: [
      expect.objectContaining({ detail: expect.stringContaining(`${wrong}:1:3:`) }),
      expect.anything(),
      expect.anything(),
    ],
  });
  const { code, stderr } = await doctor({}, {}, '--skip', 'disk');
  expect([code, stderr]).toEqual([2, expect.stringContaining('--workloads FILE or SVC_WORKLOADS')]);
});
