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
import { Slot } from './slot.ts';

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
  readonly slot: Slot;
  readonly regained: () => number;
  readonly taken: () => string | undefined;
}

async function take(options: ConnectionOptions): Promise<Taken> {
  let regained = 0;
  let taken: string | undefined;
  const slot = await Slot.take(options, {
    onNotice: () => undefined,
    onRegained: () => regained++,
    onTaken: (error) => (taken = error.message),
  });
  return { slot, regained: () => regained, taken: () => taken };
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
    const one = await take(options);
    const two = await take(options);
    const three = await take(options);
    expect([one, two, three].map(({ slot }) => slot.number)).toEqual([1, 2, 3]);
    await two.slot.close();
    const again = await take(options);
    expect(again.slot.number).toBe(2);
    for (const { slot } of [one, three, again]) await slot.close();
    const alone = await take(options);
    expect(alone.slot.number).toBe(1);
    await alone.slot.close();
    await database.drop();
  });

  test('are each taken once, however many come at the same time', async () => {
    const { database, options } = await prepare();
    const all = await Promise.all(Array.from({ length: 5 }, () => take(options)));
    expect(all.map(({ slot }) => slot.number).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5]);
    for (const { slot } of all) await slot.close();
    await database.drop();
  });

  test('whose connection is cut are taken back by the same gateway, which is told', async () => {
    const { database, options } = await prepare();
    const one = await take(options);
    await cut(database, 1);
    await expect.poll(() => one.regained(), { timeout: 10_000 }).toBe(1);
    expect(one.slot.isHeld).toBe(true);
    expect(one.taken()).toBeUndefined();
    const two = await take(options);
    expect(two.slot.number).toBe(2);
    await one.slot.close();
    await two.slot.close();
    await database.drop();
  });

  test('whose old connection the server still believes in are taken back all the same', async () => {
    const { database, options } = await prepare();
    await using network = await Network.to(server.port);
    const one = await take({ ...options, port: network.port });
    network.cut();
    await expect.poll(() => one.slot.isHeld, { timeout: 20_000 }).toBe(false);
    await expect.poll(() => one.regained(), { timeout: 20_000 }).toBe(1);
    expect(one.slot.isHeld).toBe(true);
    await one.slot.close();
    await database.drop();
  });

  test('that another gateway took meanwhile are given up for good, with the reason', async () => {
    const { database, options } = await prepare();
    const one = await take(options);
    await database.query(`UPDATE seats SET holder = 'another'`);
    await expect.poll(() => one.taken(), { timeout: 10_000 }).toContain('another gateway has taken seat 1');
    expect(one.slot.isHeld).toBe(false);
    expect(one.regained()).toBe(0);
    await one.slot.close();
    await database.drop();
  });

  test('that another gateway took and left meanwhile are given up, too: what belonged to them has changed', async () => {
    const { database, options } = await prepare();
    const one = await take(options);
    await database.query(`UPDATE seats SET holder = 'another'`);
    await cut(database, 1);
    await expect.poll(() => one.taken(), { timeout: 10_000 }).toContain('another gateway has taken seat 1');
    expect(one.regained()).toBe(0);
    await one.slot.close();
    await database.drop();
  });

  test('survive a restart of the server', async () => {
    const { database, options } = await prepare();
    const one = await take(options);
    await server.halt();
    await expect.poll(() => one.slot.isHeld, { timeout: 10_000 }).toBe(false);
    await server.resume();
    await expect.poll(() => one.regained(), { timeout: 20_000 }).toBe(1);
    expect(one.taken()).toBeUndefined();
    await one.slot.close();
    await database.drop();
  });
});
