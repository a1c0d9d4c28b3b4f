import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningCli } from '../harness/cli.ts';
import { TestHome } from '../harness/cli.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { password, Person } from '../harness/person.ts';

const owner = 'olga@example.com';
const member = 'mia@example.com';

let folder: string;
let gateway: TestGateway;
let target: string[];

// As the guides say it: the owner is made on the machine of the gateway, and invites the next.
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-person-'));
  using home = new TestHome();
  const { token } = await home.json<{ token: string }>(['accounts', 'create-owner', owner, '--data', folder]);
  gateway = await TestGateway.start({ folder });
  target = ['--api-url', gateway.http];
  expect((await new Person(gateway).post('password/reset/confirm', { token, password })).status).toBe(204);
  const invite = { email: member, role: 'viewer', org_id: 'acme' };
  const { body } = await gateway.api.post<{ token: string }>('/api/v1/auth/invite', bootstrapKey, invite);
  expect((await new Person(gateway).accept(body.token)).status).toBe(201);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function typePassword(cli: RunningCli, email: string, typed = password): Promise<void> {
  await cli.says(new RegExp(`Password of ${email}: ?$`));
  cli.type(`${typed}\r`);
  await cli.ended();
}

test('whoever has just made the owner logs in at the question with email and password, unseen, and acts as them', async () => {
  using home = new TestHome();
  await using cli = home.startOnTerminal(['login', ...target]);
  await cli.says(/API key: ?$/);
  cli.type(`${owner}\r`);
  await typePassword(cli, owner);
  expect(cli.stdout).toContain('scopes: read, write, admin');
  expect(cli.child.exitCode).toBe(0);
  expect(cli.stdout).not.toMatch(new RegExp(`${password}|rvr_|eyJ`));
  const { stdout } = await home.run(['status', ...target]);
  expect(stdout).toContain(owner);
  // The session is renewed by itself, and ends at the gateway.
  const [name = '', session] = Object.entries(home.sessions())[0] ?? [];
  home.writeCredentials({ sessions: { [name]: { ...session, expires_at: 1 } } });
  expect((await home.run(['keys', 'list', ...target])).code).toBe(0);
  expect((await home.run(['logout', ...target])).stdout).toContain('Logged out');
  expect((await home.run(['keys', 'list', ...target])).code).toBe(1);
});

test('an invited account logs in with --email, on a terminal and from a pipe, and reaches its tenant alone', async () => {
  using home = new TestHome();
  await using wrong = home.startOnTerminal(['login', '--email', member, ...target]);
  await typePassword(wrong, member, 'not my password');
  expect(wrong.child.exitCode).toBe(1);
  expect(wrong.stdout).toContain('authentication failed: the email or the password is wrong');
  await using cli = home.startOnTerminal(['login', '--email', member, ...target]);
  await typePassword(cli, member);
  expect(cli.stdout).toContain('scopes: read;');
  using piped = new TestHome();
  const { code, stdout } = await piped.run(['login', '--email', member, ...target], { input: `${password}\n` });
  expect([code, stdout]).toMatchObject([0, expect.stringContaining('scopes: read;')]);
  expect((await piped.run(['status', ...target])).stdout).toMatch(/mia@example\.com.*acme/);
});

test('what does not go together, or is left out, is said', async () => {
  using home = new TestHome();
  for (const args of [
    ['--email', owner, '--sso'],
    ['--email', owner, '--scope', 'read'],
  ]) {
    expect((await home.run(['login', ...args, ...target])).code).toBe(2);
  }
  const blank = await home.run(['login', '--email', owner, ...target], { input: '\n' });
  expect([blank.code, blank.stderr]).toMatchObject([1, expect.stringContaining('error: no password provided')]);
  const none = await home.run(['login', ...target], { input: '\n' });
  expect(none.stderr).toContain('reeve login --email EMAIL, or reeve login --sso');
  expect(home.sessions()).toEqual({});
});
