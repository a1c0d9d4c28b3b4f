import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { runServe, TestGateway } from '../harness/gateway.ts';
import { TokenIssuer } from '../harness/token-issuer.ts';

let issuer: TokenIssuer;
let folder: string;
let file: string;
beforeAll(async () => {
  issuer = await TokenIssuer.start();
  folder = mkdtempSync(join(tmpdir(), 'reeve-issuers-'));
  file = join(folder, 'subjects.yaml');
});
afterAll(async () => {
  await issuer[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const valid = () => issuer.subjects;

test.each([
  ['has errors', '- issuer: x\n  audience: reeve\n  jwks_uri: ftp://x\n', ':3:13: "jwks_uri" must be'],
  [
    'names a file of keys that is not there',
    '- {issuer: x, audience: y, jwks_file: no.json}',
    ':1:39: the keys cannot be read',
  ],
  ['does not exist', undefined, ':1:1: cannot be read'],
])('a start with a file that %s ends with 2 and one line', async (_what, text, expected) => {
  rmSync(file, { force: true });
  if (text !== undefined) writeFileSync(file, text);
  const { code, stderr } = await runServe(['--data', join(folder, 'data'), '--subjects', file]);
  expect(code).toBe(2);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toContain(`${file}${expected}`);
});

test('a file that becomes wrong: the former one holds on, readiness is degraded until it is right again', async () => {
  writeFileSync(file, valid());
  await using gateway = await TestGateway.start({ env: { SVC_SUBJECTS: file } });
  const readiness = async () => (await gateway.api.get<{ status: string; checks: object }>('/readyz')).body;
  await eventually(() => expect(issuer.asked).toBe(1));
  expect(await readiness()).toMatchObject({ status: 'ok' });
  writeFileSync(file, '- {issuer: 3}\n');
  await eventually(async () => expect(await readiness()).toMatchObject({ status: 'degraded' }));
  expect(JSON.stringify(await readiness())).toContain(`${file}:1:12:`);
  writeFileSync(file, valid());
  await eventually(async () => expect(await readiness()).toMatchObject({ status: 'ok' }));
  expect(issuer.asked).toBe(1);
});

test('a file whose keys come later than it is read again once they are there', async () => {
  writeFileSync(file, '[]\n');
  await using gateway = await TestGateway.start({ env: { SVC_SUBJECTS: file } });
  const readiness = async () => (await gateway.api.get<{ status: string; checks: object }>('/readyz')).body;
  const keys = join(folder, 'late.json');
  writeFileSync(file, `- {issuer: "${issuer.url}", audience: reeve, jwks_file: late.json}\n`);
  await eventually(async () => expect(await readiness()).toMatchObject({ status: 'degraded' }));
  writeFileSync(keys, issuer.keySet());
  await eventually(async () => expect(await readiness()).toMatchObject({ status: 'ok' }));
});
