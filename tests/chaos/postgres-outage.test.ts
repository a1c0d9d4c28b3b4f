import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { sharedNats } from '../harness/nats.ts';
import { TestPostgres } from '../harness/postgres.ts';
import { verifyChain } from '../harness/verify-chain.ts';

let server: TestPostgres;
beforeAll(async () => {
  server = await TestPostgres.start();
});
afterAll(() => server[Symbol.asyncDispose]());

test('while PostgreSQL is away calls fail closed and readiness says so; when it is back, service is, by itself', async () => {
  const database = await server.createDatabase();
  await using gateway = await TestGateway.start({ database, policies: { 'all.yaml': allowAll } });
  const agent = await gateway.register({ agentId: 'a' });
  await gateway.check(agent, { traceId: 'before', spanId: '1' });
  for (let outage = 1; outage <= 2; outage++) {
    await server.halt();
    await expect(gateway.check(agent, { traceId: 'during', spanId: `${outage}` })).rejects.toThrow('UNAVAILABLE');
    await expect(gateway.register({ agentId: `during-${outage}` })).rejects.toThrow('UNAVAILABLE');
    expect((await gateway.api.get('/api/v1/logs', bootstrapKey)).status).toBe(503);
    expect(await gateway.ready()).toMatchObject({ status: 503, body: { parts: { store: { status: 'failing' } } } });
    // Reads from memory go on.
    expect((await gateway.api.get('/api/v1/agents', bootstrapKey)).status).toBe(200);
    await server.resume();
    await eventually(async () => expect((await gateway.ready()).status).toBe(200));
    expect(await gateway.check(agent, { traceId: 'during', spanId: `${outage}` })).toMatchObject({ decision: 1 });
  }
  expect(await gateway.complete(agent, 'before:1')).toMatchObject({ state: 'completing' });
  expect(verifyChain(gateway.folder)).toMatchObject({ accepted: true });
  const { stderr } = gateway.output();
  expect(stderr).not.toContain('UnhandledPromiseRejection');
  expect(stderr).not.toContain('a call failed unexpectedly');
  expect(await gateway.kill('SIGTERM')).toBe(0);
}, 120_000);

test('a restart of PostgreSQL that nobody notices costs nobody anything', async () => {
  const database = await server.createDatabase();
  await using gateway = await TestGateway.start({ database, policies: { 'all.yaml': allowAll } });
  const agent = await gateway.register({ agentId: 'a' });
  await server.halt();
  await server.resume();
  await eventually(async () => expect(await gateway.check(agent)).toMatchObject({ decision: 1 }));
});

test('what other gateways did while this one was stopped holds in its next answer', async () => {
  const database = await server.createDatabase();
  const env = { SVC_NATS_URL: (await sharedNats()).url() };
  const options = { database, policies: { 'all.yaml': allowAll }, env };
  await using one = await TestGateway.start(options);
  await using two = await TestGateway.start(options);
  const agent = await one.register({ agentId: 'a' });
  const { key, id } = await makeKey(one);
  one.child.kill('SIGSTOP');
  await two.api.post('/api/v1/agents/acme/core/a/suspend', bootstrapKey, { reason: 'odd' });
  await two.api.post(`/api/v1/iam/api-keys/${id}/revoke`, bootstrapKey);
  one.child.kill('SIGCONT');
  expect(await one.check(agent)).toMatchObject({ reason: 'agent is suspended' });
  expect((await one.api.get('/api/v1/agents', key)).status).toBe(401);
});

test('two gateways survive a restart of PostgreSQL together, and agree afterwards', async () => {
  const database = await server.createDatabase();
  const env = { SVC_NATS_URL: (await sharedNats()).url() };
  const options = { database, policies: { 'all.yaml': allowAll }, env };
  await using one = await TestGateway.start(options);
  await using two = await TestGateway.start(options);
  const agent = await one.register({ agentId: 'a' });
  await server.halt();
  await expect(two.check(agent)).rejects.toThrow('UNAVAILABLE');
  await server.resume();
  for (const gateway of [one, two]) {
    await eventually(async () => expect(await gateway.check(agent)).toMatchObject({ decision: 1 }));
  }
  await one.check(agent, { traceId: 'after', spanId: 's' });
  expect(await two.complete(agent, 'after:s')).toMatchObject({ state: 'completing' });
});

test('a gateway starts draining and exits with 0 while PostgreSQL is away', async () => {
  const database = await server.createDatabase();
  await using gateway = await TestGateway.start({ database, policies: { 'all.yaml': allowAll } });
  const agent = await gateway.register({ agentId: 'a' });
  await server.halt();
  await expect(gateway.check(agent)).rejects.toThrow('UNAVAILABLE');
  expect(await gateway.kill('SIGTERM')).toBe(0);
  await server.resume();
});
