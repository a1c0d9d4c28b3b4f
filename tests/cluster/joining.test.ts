import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { allowAll, runServe, TestGateway } from '../harness/gateway.ts';
import { sharedNats, TestNats } from '../harness/nats.ts';
import { createDatabase, freePort } from '../harness/postgres.ts';

const policies = { 'all.yaml': allowAll };

test.each([
  ['without SVC_NATS_URL beside one with it', true],
  ['with SVC_NATS_URL beside one without', false],
])('a gateway %s does not start, and says so in one line', async (_what, othersHear) => {
  const database = await createDatabase();
  const nats = { SVC_NATS_URL: (await sharedNats()).url() };
  await using living = await TestGateway.start({ database, policies, env: othersHear ? nats : {} });
  const folder = mkdtempSync(join(tmpdir(), 'reeve-beside-'));
  const args = ['--data', folder, '--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0'];
  const { code, stdout, stderr } = await runServe(args, {
    SVC_DATABASE_URL: database.url,
    ...(othersHear ? {} : nats),
  });
  rmSync(folder, { recursive: true });
  expect([code, stdout]).toEqual([1, '']);
  // Everything else is a line of the log.
  const said = stderr
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith('{'));
  expect(said).toEqual([expect.stringMatching(/^reeve serve: another gateway .*SVC_DATABASE_URL.*SVC_NATS_URL/)]);
  expect(await living.check(await living.register({ agentId: 'a' }))).toMatchObject({ decision: 1 });
});

test('two that start at the same moment on an empty database both serve, each in its own slot', async () => {
  const database = await createDatabase();
  const env = { SVC_NATS_URL: (await sharedNats()).url() };
  const [one, two] = await Promise.all([
    TestGateway.start({ database, policies, env }),
    TestGateway.start({ database, policies, env }),
  ]);
  await using first = one;
  await using second = two;
  const agent = await first.register({ agentId: 'a' });
  for (const gateway of [first, second]) expect(await gateway.check(agent)).toMatchObject({ decision: 1 });
  const slots = await database.query('SELECT seat FROM gateways ORDER BY seat');
  expect(slots.map(({ seat }) => Number(seat))).toEqual([1, 2]);
});

test('while NATS is away at the start, health says so and nothing is decided; then it serves', async () => {
  await using nats = await TestNats.start();
  await nats.stop();
  const database = await createDatabase();
  const [http, grpc] = [await freePort(), await freePort()];
  const starting = TestGateway.start({
    database,
    policies,
    env: { SVC_NATS_URL: nats.url() },
    args: ['--http', `127.0.0.1:${http}`, '--grpc', `127.0.0.1:${grpc}`],
  });
  const readiness = async () => {
    const answer = await fetch(`http://127.0.0.1:${http}/readyz`);
    return { status: answer.status, body: await answer.json() };
  };
  await eventually(async () => {
    const parts = { nats: { status: 'failing' }, store: { status: 'ok' } };
    expect(await readiness()).toMatchObject({ status: 503, body: { parts } });
  });
  expect(await isOpen(grpc)).toBe(false);
  await nats.start();
  await using gateway = await starting;
  await eventually(async () => expect(await readiness()).toMatchObject({ status: 200 }));
  expect(await gateway.check(await gateway.register({ agentId: 'a' }))).toMatchObject({ decision: 1 });
});

/** Whether somebody listens on the port. */
function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
