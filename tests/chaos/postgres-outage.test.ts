import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';
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

test('what other gateways changed while this one was cut off is known when it is back', async () => {
  const database = await server.createDatabase();
  const options = { database, policies: { 'all.yaml': allowAll } };
  await using one = await TestGateway.start(options);
  await using two = await TestGateway.start(options);
  const agent = await one.register({ agentId: 'a' });
  await eventually(async () => expect(await two.check(agent)).toMatchObject({ decision: 1 }));
  // This change comes without a notification, as if it had been lost.
  await database.query(`UPDATE agents SET suspended_at = 1, suspension_reason = 'behind their backs'`);
  await database.query(`UPDATE api_keys SET revoked_at = 1`);
  for (const gateway of [one, two]) expect(await gateway.check(agent)).toMatchObject({ decision: 1 });
  await server.halt();
  await server.resume();
  for (const gateway of [one, two]) {
    await eventually(async () => expect(await gateway.check(agent)).toMatchObject({ reason: 'agent is suspended' }));
    await eventually(async () => expect((await gateway.api.get('/api/v1/agents', bootstrapKey)).status).toBe(401));
  }
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
