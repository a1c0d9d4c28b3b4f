import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestDatabase } from '../../../../../tests/harness/postgres.ts';
import { TestPostgres } from '../../../../../tests/harness/postgres.ts';
import { parsePostgresUrl } from '../../config/postgres-url.ts';
import type { ConnectionOptions } from './connection.ts';
import { connectFirst, disconnect } from './connection.ts';
import { migratePostgres } from './migrate-postgres.ts';
import { Membership } from './membership.ts';

let server: TestPostgres;
beforeAll(async () => {
  server = await TestPostgres.start();
});
afterAll(() => server[Symbol.asyncDispose]());

async function prepare(): Promise<{ database: TestDatabase; options: ConnectionOptions }> {
  const database = await server.createDatabase();
  const { client, options } = await connectFirst(parsePostgresUrl(database.url));
  await migratePostgres(client);
  await disconnect(client);
  return { database, options };
}

interface Taken {
  readonly member: Membership;
  readonly regained: () => number;
  readonly fatal: () => string | undefined;
}

interface Joining {
  readonly hearsOthers?: boolean;
  readonly lostAfterMs?: number;
}

async function join(
  connection: ConnectionOptions,
  { hearsOthers = true, lostAfterMs = 10_000 }: Joining = {},
): Promise<Taken> {
  let regained = 0;
  let fatal: string | undefined;
  const member = await Membership.join({
    connection,
    id: randomUUID(),
    version: '1.2.3',
    hearsOthers,
    lostAfterMs,
    onRegained: () => regained++,
    onFatal: (error) => (fatal = error.message),
  });
  return { member, regained: () => regained, fatal: () => fatal };
}

/** A network that can lose a connection without telling either side. */
class Network {
  readonly port: number;
  readonly #server: Server;
  readonly #ways: { readonly client: Socket; readonly server: Socket }[] = [];

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async to(port: number): Promise<Network> {
    const listener = createServer();
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const network = new Network(listener, (listener.address() as AddressInfo).port);
    listener.on('connection', (client) => {
      const way = { client, server: connect(port, '127.0.0.1') };
      for (const socket of [way.client, way.server]) socket.on('error', () => undefined);
      network.#ways.push(way);
      client.pipe(way.server, { end: false });
      way.server.pipe(client);
    });
    return network;
  }

  /** Current connections receive nothing any more, and the server does not learn of it. */
  cut(): void {
    for (const { client, server } of this.#ways) {
      client.unpipe(server);
      server.unpipe(client);
      client.resume();
      server.resume();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { client, server } of this.#ways) for (const socket of [client, server]) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** Ends the connection that holds a slot, as a restarting server or a network failure would. */
async function cut(database: TestDatabase, slot: number): Promise<void> {
  await database.query(
    `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND classid <> 0
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [slot],
  );
}

describe('slots', () => {
  test('are taken in order, and the first free one is taken again', async () => {
    const { database, options } = await prepare();
    const all = [await join(options), await join(options), await join(options)];
    expect(all.map(({ member }) => member.slot)).toEqual([1, 2, 3]);
    await all[1]?.member.close();
    const again = await join(options);
    expect(again.member.slot).toBe(2);
    for (const { member } of [...all, again]) await member.close();
    const alone = await join(options);
    expect(alone.member.slot).toBe(1);
    await alone.member.close();
    await database.drop();
  });

  test('are each taken once, however many come at the same time', async () => {
    const { database, options } = await prepare();
    const all = await Promise.all(Array.from({ length: 5 }, () => join(options)));
    expect(all.map(({ member }) => member.slot).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5]);
    for (const { member } of all) await member.close();
    await database.drop();
  });

  test('whose connection is cut are taken back by the same gateway, which is told', async () => {
    const { database, options } = await prepare();
    const one = await join(options);
    await cut(database, 1);
    await expect.poll(() => one.regained(), { timeout: 10_000 }).toBe(1);
    expect(one.member.isHeld).toBe(true);
    const two = await join(options);
    expect([one.member.slot, two.member.slot]).toEqual([1, 2]);
    await one.member.close();
    await two.member.close();
    await database.drop();
  });

  test('whose old connection the server still believes in are taken back all the same', async () => {
    const { database, options } = await prepare();
    await using network = await Network.to(server.port);
    const one = await join({ ...options, port: network.port });
    network.cut();
    await expect.poll(() => one.regained(), { timeout: 20_000 }).toBe(1);
    expect([one.member.isHeld, one.member.slot]).toEqual([true, 1]);
    await one.member.close();
    await database.drop();
  });

  test('that another gateway took meanwhile are left to it, and another slot is taken', async () => {
    const { database, options } = await prepare();
    const one = await join(options);
    await database.query(`UPDATE gateways SET id = 'another'`);
    await expect.poll(() => one.regained(), { timeout: 10_000 }).toBe(1);
    expect(one.member.isHeld).toBe(true);
    expect(one.fatal()).toBeUndefined();
    await one.member.close();
    await database.drop();
  });

  test('survive a restart of the server', async () => {
    const { database, options } = await prepare();
    const one = await join(options);
    await server.halt();
    await expect.poll(() => one.member.isHeld, { timeout: 10_000 }).toBe(false);
    await server.resume();
    await expect.poll(() => one.regained(), { timeout: 20_000 }).toBe(1);
    await one.member.close();
    await database.drop();
  });
});

describe('a gateway that does not hear others', () => {
  const refusal = /SVC_DATABASE_URL.*SVC_NATS_URL/;

  test('is alone, and refused beside one that lives; so is one that hears others beside it', async () => {
    const { database, options } = await prepare();
    const deaf = await join(options, { hearsOthers: false });
    await expect(join(options)).rejects.toThrow(refusal);
    await expect(join(options, { hearsOthers: false })).rejects.toThrow(refusal);
    await deaf.member.close();
    const hearing = await join(options);
    await expect(join(options, { hearsOthers: false })).rejects.toThrow(refusal);
    await hearing.member.close();
    await database.drop();
  });

  test('takes the place of one that has died', async () => {
    const { database, options } = await prepare();
    const dead = await join(options, { hearsOthers: false });
    await database.query(`UPDATE gateways SET id = 'the dead one'`);
    await dead.member.close();
    const next = await join(options, { hearsOthers: false });
    expect(next.member.slot).toBe(1);
    await next.member.close();
    await database.drop();
  });
});

describe('the members', () => {
  test('of now are those that the database has, and while it does not answer those of before', async () => {
    const { database, options } = await prepare();
    const one = await join(options);
    const ids = async () => (await one.member.membersNow()).map(({ id }) => id);
    for (let round = 0; round < 5; round++) {
      const two = await join(options);
      const both = [one.member.id, two.member.id];
      expect(await Promise.all([ids(), ids()])).toEqual([both, both]);
      await two.member.close();
      expect(await ids()).toEqual([one.member.id]);
    }
    await cut(database, 1);
    expect(await ids()).toEqual([one.member.id]);
    await one.member.close();
    await database.drop();
  });

  test('are listed with their states, and the first that lives leads', async () => {
    const { database, options } = await prepare();
    const [one, two] = [await join(options, { lostAfterMs: 3000 }), await join(options, { lostAfterMs: 3000 })];
    two.member.report(() => ({ agents: 5, opsInFlight: 7 }));
    const seen = () => one.member.members.map(({ state, agents, opsInFlight }) => [state, agents, opsInFlight]);
    await expect.poll(seen, { timeout: 5000 }).toEqual([
      ['active', 0, 0],
      ['active', 5, 7],
    ]);
    expect([one.member.leads, two.member.leads]).toEqual([true, false]);
    await one.member.leave();
    await expect.poll(() => two.member.leads, { timeout: 5000 }).toBe(true);
    expect(one.member.leads).toBe(false);
    expect(two.member.members.map(({ state }) => state)).toEqual(['leaving', 'active']);
    // One that was stopped, and one that nobody has started again for long.
    await database.query(`INSERT INTO gateways (seat, id, version, hears_others, seen_at) VALUES
      (8, 'stopped', '1', true, now() - interval '10 minutes'), (9, 'gone', '1', true, now() - interval '2 hours')`);
    const stateOf = (id: string) => two.member.members.find((member) => member.id === id)?.state;
    await expect.poll(() => stateOf('stopped'), { timeout: 5000 }).toBe('lost');
    await expect.poll(() => stateOf('gone'), { timeout: 5000 }).toBeUndefined();
    expect(two.member.members[0]).toMatchObject({ version: '1.2.3', startedAt: expect.any(Number) });
    for (const { member } of [one, two]) await member.close();
    await database.drop();
  });
});
