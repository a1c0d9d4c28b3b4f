import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';

const policy = `
name: p
default: allow
rules:
  - { name: mail, effect: allow, tools: [read-mail], labels: [mail.read] }
  - { name: secret, effect: allow, tools: [read-secret], labels: [secret], labels_of: agent }
`;

let gateway: TestGateway;
let home: TestHome;
let env: Record<string, string>;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'p.yaml': policy } });
  home = new TestHome();
  env = { REEVE_API_URL: gateway.http };
  await home.run(['login', '--api-key', bootstrapKey], { env });
});
afterAll(async () => {
  home[Symbol.dispose]();
  await gateway[Symbol.asyncDispose]();
});

const run = (...args: string[]) => home.run(args, { env });
const place = ['--org', 'acme', '--team', 'core'];

test('runs are listed and shown, and their labels are cleared', async () => {
  const agent = await gateway.register({ agentId: 'bot' });
  for (const tool of ['read-mail', 'read-secret']) {
    await gateway.check(agent, { traceId: tool, spanId: 's', runId: 'nightly 42', context: toolCall(tool) });
  }
  await gateway.check(agent, { traceId: 'own', spanId: 's', context: toolCall('read-mail') });

  const listed = await run('runs', '--label', 'mail.read', ...place);
  expect(listed.stdout).toMatch(/^RUN +/m);
  expect(listed.stdout).toMatch(/^nightly 42 +.*mail\.read +bot/m);
  expect(listed.stdout).toMatch(/^- \(of bot\)/m);

  const shown = await run('runs', 'show', 'nightly 42', ...place);
  expect(shown.stdout).toMatch(/^mail\.read +read-mail:s +p\/mail +\d{4}-\S+Z +-$/m);
  expect(shown.stdout).toMatch(/^secret +\S+:s +p\/\S+ +\d{4}-\S+Z +bot$/m);
  expect(shown.stdout).toMatch(/^read-mail:s +allow +tool_call +read-mail +acme\/core\/bot +\d{4}-\S+Z$/m);
  expect((await run('runs', 'show', '-', '--agent', 'bot', ...place)).stdout).toContain('mail.read');
  expect((await run('runs', 'show', 'nobody', ...place)).code).toBe(1);

  const clear = ['runs', 'labels', 'clear'];
  expect((await run(...clear, 'nightly 42', ...place, '--reason', 'looked at')).stdout).toBe('Cleared mail.read.\n');
  expect((await run(...clear, '--agent', 'bot', '--label', 'secret', ...place)).stdout).toBe(
    'Cleared secret. Left: mail.read.\n',
  );
  expect((await run(...clear, ...place)).code).toBe(2);
});
