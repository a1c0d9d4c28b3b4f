import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { allowAll, runServe, TestGateway } from '../harness/gateway.ts';
import type { TestDatabase } from '../harness/postgres.ts';
import { createDatabase, postgresPassword, TestPostgres } from '../harness/postgres.ts';

/** Neither the password nor its URL-encoded form. */
function expectNoPassword(text: string): void {
  expect(text).not.toContain(postgresPassword);
  expect(text).not.toContain(encodeURIComponent(postgresPassword));
}

async function failingStart(url: string): Promise<string> {
  const { code, stdout, stderr } = await runServe(['--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0'], {
    SVC_DATABASE_URL: url,
  });
  expect(code, stderr).toBe(1);
  expect(stdout).toBe('');
  expectNoPassword(stderr);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  return stderr.trim();
}

describe('a start that cannot use the database says so in one line, without the password', () => {
  test('where nobody listens', async () => {
    const url = `postgres://u:${encodeURIComponent(postgresPassword)}@127.0.0.1:1/d`;
    expect(await failingStart(url)).toMatch(/^reeve serve: cannot use PostgreSQL at 127\.0\.0\.1:1: .*ECONNREFUSED/);
  });

  test('where the host is unknown', async () => {
    const url = `postgres://u:${encodeURIComponent(postgresPassword)}@no-such-host.invalid/d`;
    expect(await failingStart(url)).toContain('cannot use PostgreSQL at no-such-host.invalid:5432: ');
  });

  test('where the password is wrong', async () => {
    const database = await createDatabase();
    const url = new URL(database.url);
    url.password = 'wrong';
    expect(await failingStart(url.href)).toContain('password authentication failed');
    await database.drop();
  });

  test('where the database is not there', async () => {
    const database = await createDatabase();
    const url = new URL(database.url);
    await database.drop();
    expect(await failingStart(url.href)).toContain('does not exist');
  });

  test('where a newer release has made it', async () => {
    const database = await createDatabase();
    const gateway = await TestGateway.start({ database });
    await gateway.kill('SIGTERM');
    await database.query('INSERT INTO schema_versions (version) VALUES (99)');
    expect(await failingStart(database.url)).toContain('it was made by a newer release');
    await gateway[Symbol.asyncDispose]();
    await database.drop();
  });

  test('where its encoding cannot hold all texts', async () => {
    const database = await createDatabase();
    await database.query(`CREATE DATABASE ${database.name}_ascii ENCODING 'SQL_ASCII' TEMPLATE template0`);
    const url = database.url.replace(/\/[^/]*$/, `/${database.name}_ascii`);
    expect(await failingStart(url)).toContain('encoding SQL_ASCII; make one with UTF8');
    await database.drop();
  });
});

test('nothing is kept on the disk of the gateway, and neither log nor metrics hold the password', async () => {
  const database = await createDatabase();
  await using gateway = await TestGateway.start({ database, env: { SVC_LOG_LEVEL: 'trace' }, fromSources: true });
  const agent = await gateway.register({ agentId: 'a' });
  await gateway.check(agent);
  expect(readdirSync(gateway.folder)).toEqual(['policies']);
  expectNoPassword(await (await fetch(`${gateway.http}/metrics`)).text());
  expect(await gateway.kill('SIGTERM')).toBe(0);
  const { stdout, stderr } = gateway.output();
  expectNoPassword(stdout + stderr);
  await database.drop();
});

test('a gateway alone on its database stops with exit 1 once another one has written there', async () => {
  const database = await createDatabase();
  await using gateway = await TestGateway.start({ database, policies: { 'all.yaml': allowAll } });
  const agent = await gateway.register({ agentId: 'a' });
  await database.query('UPDATE chain SET version = version + 1');
  await expect(gateway.check(agent)).rejects.toThrow('UNAVAILABLE');
  expect(await gateway.exited()).toBe(1);
  const { stderr } = gateway.output();
  // The log and this line are written by different streams, so a warning may come after it.
  expect(stderr.split('\n').find((line) => line.startsWith('reeve serve:'))).toMatch(
    /^reeve serve: another gateway writes to this database/,
  );
  await database.drop();
});

test('after the sudden end of its host, the next gateway waits until it is sure of that, and the operations are there again', async () => {
  const database = await createDatabase();
  const options = { database, policies: { 'all.yaml': allowAll } };
  await using gateway = await TestGateway.start(options);
  const agent = await gateway.register({ agentId: 'a' });
  await gateway.check(agent, { traceId: 't', spanId: 's' });
  // The process answers nobody, and its connections stay open until it is gone.
  gateway.child.kill('SIGSTOP');
  const starting = TestGateway.start(options);
  await eventually(async () => {
    const [row] = await database.query(`SELECT now() - seen_at > interval '3 seconds' AS silent FROM gateways`);
    expect(row?.['silent']).toBe(true);
  });
  gateway.child.kill('SIGKILL');
  await using next = await starting;
  expect(await next.complete(agent, 't:s')).toMatchObject({ state: 'completing' });
  await database.drop();
});

describe('TLS to the database', () => {
  let server: TestPostgres;
  let database: TestDatabase;
  beforeAll(async () => {
    server = await TestPostgres.start({ tls: true });
    database = await server.createDatabase();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  async function encrypted(parameters: string): Promise<unknown[]> {
    const url = server.url(database.name, parameters);
    await using _ = await TestGateway.start({ database: { url } });
    const rows = await database.query(
      `SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE application_name = 'reeve' AND datname = $1`,
      [database.name],
    );
    return rows.map((row) => row['ssl']);
  }

  test('is used by default where the server can, and not where the URL says so', async () => {
    expect(await encrypted('')).toEqual([true]);
    expect(await encrypted('?sslmode=disable')).toEqual([false]);
  });

  test('with "require" any certificate will do; with an authority it must come from there', async () => {
    expect(await encrypted('?sslmode=require')).toEqual([true]);
    expect(await encrypted(`?sslmode=verify-full&sslrootcert=${encodeURIComponent(server.certFile)}`)).toEqual([true]);
    expect(await failingStart(server.url(database.name, '?sslmode=verify-full'))).toContain('self-signed certificate');
  });

  test('with "require" a server that cannot encrypt is refused', async () => {
    const plain = await createDatabase();
    expect(await failingStart(`${plain.url}?sslmode=require`)).toContain('does not support SSL');
    await plain.drop();
  });

  test('is never given up silently: the log says what was got', async () => {
    const plain = await createDatabase();
    await using clear = await TestGateway.start({ database: { url: `${plain.url}?sslmode=prefer` } });
    expect(clear.output().stderr).toContain('"encryption":"none","sslmode":"prefer"');
    await using secured = await TestGateway.start({ database: { url: server.url(database.name, '') } });
    expect(secured.output().stderr).toContain('"encryption":"unverified","sslmode":"prefer"');
    await plain.drop().catch(() => undefined);
  });

  test('is required by default beyond this machine, and less than a verified certificate is warned of there', async () => {
    // Another spelling of 127.0.0.1 that nothing here recognises as this machine.
    const elsewhere = (url: string) => url.replace('127.0.0.1', '2130706433');
    const plain = await createDatabase();
    expect(await failingStart(elsewhere(plain.url))).toMatch(
      /the server does not support SSL connections, and sslmode is require; .* add sslmode=disable/,
    );
    for (const mode of ['prefer', 'disable']) {
      await using clear = await TestGateway.start({ database: { url: `${elsewhere(plain.url)}?sslmode=${mode}` } });
      expect(clear.output().stderr).toMatch(/"level":40,.*"encryption":"none".*is not encrypted/);
    }
    await using secured = await TestGateway.start({ database: { url: elsewhere(server.url(database.name, '')) } });
    expect(secured.output().stderr).toMatch(/"level":40,.*"encryption":"unverified","sslmode":"require"/);
    await plain.drop();
  });
});
