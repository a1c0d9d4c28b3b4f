import { ActionType } from '@reeve/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';

let gateway: TestGateway;
let agent: Registered;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'p.yaml': 'name: p\ndefault: allow\n' } });
  agent = await gateway.register({ orgId: 'acme', agentId: 'bot' });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const body = 'Zx9'.repeat(15);
const secrets = [
  `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${body}\n-----END PGP PRIVATE KEY BLOCK-----`,
  `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${body}==`,
  `https://a.blob.core.windows.net/c?sv=1&sig=${body}%3D`,
  `hf_${body}`,
  `SG.${body.slice(0, 22)}.${body.slice(0, 43)}`,
  `ya29.${body}`,
  `ya29.c.${body}`,
  `https://hooks.slack.com/services/T0/B0/${body}`,
  `curl -u me:${body} https://example.com`,
  `mysql -uroot -p${body} app`,
  `sshpass -p ${body} ssh host`,
  `curl "https://example.com/?a=1&b=2" \\\n  -H 'Accept: a; q=1' -u "me":"${body}"`,
  `x=$(mysql -e "select 1; select 2" -p'${body}'x)`,
  `{ sudo sshpass -vp ${body} ssh host; }`,
  ...['rvk_', 'rva_', 'rvi_', 'rvr_'].map((prefix) => prefix + body),
];

test('no secret reaches the log, wherever in a request it stands', async () => {
  for (const [at, secret] of secrets.entries()) {
    await gateway.check(agent, {
      traceId: `tool${at}`,
      spanId: 's',
      summary: secret,
      context: toolCall('t', { secret: [secret], text: `run ${secret}` }),
    });
    await gateway.check(agent, {
      traceId: `exec${at}`,
      spanId: 's',
      actionType: ActionType.PROCESS_EXEC,
      context: { action: { $case: 'processExec', value: { command: 'sh', args: ['-c', secret], workingDir: secret } } },
    });
  }
  for (const [at, line] of [`curl -u me:${body}`, `mysql -p${body}`, `sshpass -p ${body}`].entries()) {
    const [command = '', ...args] = line.split(' ');
    await gateway.check(agent, {
      traceId: `args${at}`,
      spanId: 's',
      actionType: ActionType.PROCESS_EXEC,
      context: { action: { $case: 'processExec', value: { command, args, workingDir: '' } } },
    });
  }
  await gateway.check(agent, {
    traceId: 'env',
    spanId: 's',
    actionType: ActionType.PROCESS_EXEC,
    context: {
      action: {
        $case: 'processExec',
        value: { command: 'env curl', args: ['-o', '/tmp/mysql', '-u', `me:${body}`], workingDir: '' },
      },
    },
  });
  const { text } = await gateway.api.get('/api/v1/logs/export', bootstrapKey);
  expect(text).toContain('"command":"sshpass"');
  expect(text).not.toContain(body.slice(0, 20));
});

test('a token that the gateway issues says what it is', () => {
  expect(agent.token).toMatch(/^rva_[\w-]{43}$/);
});
