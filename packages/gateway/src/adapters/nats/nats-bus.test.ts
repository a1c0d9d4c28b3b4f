import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../../../../tests/harness/eventually.ts';
import { makeNatsAccount } from '../../../../../tests/harness/nats-account.ts';
import { sharedNats, TestNats } from '../../../../../tests/harness/nats.ts';
import { NetworkLink } from '../../../../../tests/harness/network-link.ts';
import { parseNatsUrls } from '../../config/nats-url.ts';
import { clusterOf, envelopeBytes } from './envelope.ts';
import type { NatsBus, NatsBusOptions } from './nats-bus.ts';
import { openNatsBus } from './nats-bus.ts';

const secret = Buffer.alloc(32, 7);
const text = (any: string) => Buffer.from(any);

/** A bus, and everything that it said and heard. */
class Ear {
  readonly bus: NatsBus;
  readonly heard: string[] = [];
  readonly statuses: string[] = [];
  readonly errors: string[] = [];

  constructor(url: string, options: Partial<NatsBusOptions> = {}) {
    this.bus = openNatsBus({
      urls: parseNatsUrls(url),
      credsFile: undefined,
      name: 'reeve test',
      secret,
      onStatus: (status) => this.statuses.push(status),
      onError: (error) => this.errors.push(error.message),
      ...options,
    });
    this.bus.subscribe('news', (payload) => this.heard.push(Buffer.from(payload).toString()));
  }

  static async connected(url: string, options: Partial<NatsBusOptions> = {}): Promise<Ear> {
    const ear = new Ear(url, options);
    await ear.isUp();
    return ear;
  }

  async isUp(up = true): Promise<void> {
    await eventually(() => expect(this.bus.isConnected).toBe(up));
  }

  async hears(...expected: readonly string[]): Promise<void> {
    await eventually(() => expect(this.heard).toEqual(expected));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.bus.close();
  }
}

/** A subject of this test's own cluster on the shared server: other tests of the worker do not hear it. */
const otherSecret = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32)));

const rawClient = (server: TestNats) => connect({ servers: `127.0.0.1:${server.port}` });

describe('between two gateways', () => {
  test('a message of one reaches the other, byte by byte, and not itself', async () => {
    const server = await sharedNats();
    const own = otherSecret();
    await using one = await Ear.connected(server.url(), { secret: own });
    await using other = await Ear.connected(server.url(), { secret: own });
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    const got: Uint8Array[] = [];
    other.bus.subscribe('bytes', (payload) => got.push(payload));
    other.bus.subscribe('bytes', (payload) => got.push(payload));
    await eventually(() => {
      expect(one.bus.publish('bytes', bytes)).toBe(true);
      expect(got.length).toBeGreaterThanOrEqual(2);
    });
    expect(new Uint8Array(got[0] ?? [])).toEqual(bytes);
    expect(got[1]).toEqual(got[0]);
    expect(one.bus.publish('news', text('from one'))).toBe(true);
    expect(other.bus.publish('news', text('from other'))).toBe(true);
    expect(other.bus.publish('nobody listens', text('x'))).toBe(false);
    expect(other.bus.publish('nobody-listens', text('x'))).toBe(true);
    await other.hears('from one');
    await one.hears('from other');
    expect([...one.statuses, ...other.statuses]).toEqual(['connected', 'connected']);
    expect([...one.errors, ...other.errors]).toEqual([]);
    expect(other.bus.dropped).toBe(0);
  });

  test('messages keep their order, many of them', async () => {
    const server = await sharedNats();
    const own = otherSecret();
    await using one = await Ear.connected(server.url(), { secret: own });
    await using other = await Ear.connected(server.url(), { secret: own });
    const sent = Array.from({ length: 2000 }, (_, i) => String(i));
    for (const message of sent) expect(one.bus.publish('news', text(message))).toBe(true);
    await other.hears(...sent);
  });

  test('what is in a message cannot be read on the way, and its subject tells only the cluster', async () => {
    const server = await sharedNats();
    const own = otherSecret();
    await using raw = await rawClient(server);
    const seen: { readonly subject: string; readonly data: Uint8Array }[] = [];
    raw.subscribe(`reeve.${clusterOf(own)}.>`, { callback: (_error, message) => void seen.push(message) });
    await raw.flush();
    await using one = await Ear.connected(server.url(), { secret: own });
    one.bus.publish('news', text('a tenant record'));
    await eventually(() => expect(seen).toHaveLength(1));
    expect(seen[0]?.subject).toBe(`reeve.${clusterOf(own)}.news`);
    expect(Buffer.from(seen[0]?.data ?? []).includes('tenant')).toBe(false);
  });

  test('another installation on the same server hears nothing', async () => {
    const server = await sharedNats();
    const own = otherSecret();
    await using one = await Ear.connected(server.url(), { secret: own });
    await using friend = await Ear.connected(server.url(), { secret: own });
    await using stranger = await Ear.connected(server.url(), { secret: otherSecret() });
    one.bus.publish('news', text('for us'));
    await friend.hears('for us');
    expect(stranger.heard).toEqual([]);
    expect(stranger.bus.dropped).toBe(0);
  });

  test('a handler that throws is reported, and the next message is heard', async () => {
    const server = await sharedNats();
    const own = otherSecret();
    await using one = await Ear.connected(server.url(), { secret: own });
    await using other = new Ear(server.url(), { secret: own });
    other.bus.subscribe('news', () => {
      throw new Error('no such agent');
    });
    await other.isUp();
    one.bus.publish('news', text('1'));
    one.bus.publish('news', text('2'));
    await other.hears('1', '2');
    await eventually(() => expect(other.errors).toHaveLength(2));
    expect(other.errors[0]).toBe('a message of another gateway about "news" was not taken in: no such agent');
    expect(other.bus.isConnected).toBe(true);
  });
});

test('a message that is too large is refused, and nothing breaks', async () => {
  await using server = await TestNats.start({ config: { max_payload: 10_000 } });
  await using one = await Ear.connected(server.url());
  await using other = await Ear.connected(server.url());
  expect(one.bus.mostBytes).toBe(10_000 - envelopeBytes);
  expect(one.bus.publish('news', Buffer.alloc(one.bus.mostBytes + 1, 'x'))).toBe(false);
  expect(one.bus.publish('news', Buffer.alloc(one.bus.mostBytes, 'x'))).toBe(true);
  await other.hears('x'.repeat(one.bus.mostBytes));
  expect(one.statuses).toEqual(['connected']);
});

describe('messages that no gateway has just sent', () => {
  test('are dropped, counted and reported once: forged, cut, changed, moved, repeated', async () => {
    const server = await sharedNats();
    const own = otherSecret();
    await using raw = await rawClient(server);
    const subject = `reeve.${clusterOf(own)}.news`;
    const seen: Uint8Array[] = [];
    raw.subscribe(subject, { callback: (_error, { data }) => void seen.push(Buffer.from(data)) });
    await raw.flush();
    await using one = await Ear.connected(server.url(), { secret: own });
    await using other = await Ear.connected(server.url(), { secret: own });
    other.bus.subscribe('elsewhere', () => other.heard.push('moved'));
    one.bus.publish('news', text('1'));
    await other.hears('1');
    await eventually(() => expect(seen).toHaveLength(1));
    const real = Buffer.from(seen[0] ?? []);
    const changed = Buffer.from(real);
    changed[30] = (changed[30] ?? 0) ^ 1;
    const bad = [text(''), text('\u0001 forged'), real.subarray(0, 40), real.subarray(0, -1), changed, real];
    for (const data of bad) raw.publish(subject, data);
    raw.publish(`reeve.${clusterOf(own)}.elsewhere`, real);
    raw.publish(subject, Buffer.concat([Buffer.of(2), real.subarray(1)]));
    await raw.flush();
    one.bus.publish('news', text('2'));
    await other.hears('1', '2');
    // The version of another release is not counted, and one's own message that comes back is.
    expect(other.bus.dropped).toBe(bad.length + 1);
    expect(other.errors).toEqual([
      'messages that no gateway of this installation has sent, or not just now, came by NATS and were dropped: 1',
    ]);
    expect(one.heard).toEqual([]);
    expect(one.bus.dropped).toBeGreaterThan(0);
  });

  test('are dropped if made with another secret', async () => {
    const server = await sharedNats();
    const own = otherSecret();
    await using raw = await rawClient(server);
    await using other = await Ear.connected(server.url(), { secret: own });
    const foreign = otherSecret();
    raw.subscribe(`reeve.${clusterOf(foreign)}.news`, {
      callback: (_error, { data }) => raw.publish(`reeve.${clusterOf(own)}.news`, data),
    });
    await raw.flush();
    await using stranger = await Ear.connected(server.url(), { secret: foreign });
    stranger.bus.publish('news', text('believe me'));
    await eventually(() => expect(other.bus.dropped).toBe(1));
    expect(other.heard).toEqual([]);
  });
});

describe('the connection', () => {
  test('comes back by itself when the server does, with all subscriptions; nothing is kept meanwhile', async () => {
    await using server = await TestNats.start();
    await using one = await Ear.connected(server.url());
    await using other = await Ear.connected(server.url());
    await server.stop();
    await Promise.all([one.isUp(false), other.isUp(false)]);
    expect(one.bus.publish('news', text('late'))).toBe(false);
    await server.start();
    await Promise.all([one.isUp(), other.isUp()]);
    expect(one.bus.publish('news', text('new'))).toBe(true);
    await other.hears('new');
    expect(one.statuses).toEqual(['connected', 'disconnected', 'connected']);
  });

  test('is made as soon as there is a server, and until then opening and publishing do not wait', async () => {
    await using server = await TestNats.start();
    await server.stop();
    await using one = new Ear(server.url());
    await using other = new Ear(server.url());
    expect(one.bus.isConnected).toBe(false);
    expect(one.bus.mostBytes).toBeGreaterThan(1_000_000);
    expect(one.bus.publish('news', text('early'))).toBe(false);
    await eventually(() => expect(one.errors).toHaveLength(1));
    expect(one.errors[0]).toBe(`NATS at 127.0.0.1:${server.port} cannot be used: connection refused`);
    await server.start();
    await Promise.all([one.isUp(), other.isUp()]);
    one.bus.publish('news', text('new'));
    await other.hears('new');
    expect(one.statuses).toEqual(['connected']);
    expect(one.errors).toHaveLength(1);
  });

  test('goes on with another server of those that are named', async () => {
    await using first = await TestNats.start();
    await using second = await TestNats.start();
    await using ear = await Ear.connected(`${first.url()},${second.url()}`);
    await first.stop();
    await using peer = await Ear.connected(second.url());
    await eventually(() => {
      peer.bus.publish('news', text('x'));
      expect(ear.heard.length).toBeGreaterThan(0);
    });
  });

  test('is given up within seconds if the network is cut silently', async () => {
    await using server = await TestNats.start();
    await using link = await NetworkLink.to({ http: `http://127.0.0.1:${server.port}` });
    await using ear = await Ear.connected(server.url({ port: Number(new URL(link.http).port) }));
    const since = performance.now();
    link.loseAnswers();
    await ear.isUp(false);
    // The promise is about 4 seconds on a machine that has time.
    expect(performance.now() - since).toBeLessThan(8000);
    link.mend();
    await ear.isUp();
    expect(ear.statuses).toEqual(['connected', 'disconnected', 'connected']);
  });

  test('is given up if the server no longer reads, though data waits to be sent', async () => {
    const sockets = new Set<Socket>();
    let answers = true;
    // As much of a server as it takes, because a real one always reads.
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
      if (!answers) return;
      socket.write('INFO {"version":"2.15.1","proto":1,"max_payload":8000000}\r\n');
      socket.on('data', (data) => {
        const pings = data.toString('latin1').split('PING\r\n').length - 1;
        if (answers) socket.write('PONG\r\n'.repeat(pings));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const ear = await Ear.connected(`nats://127.0.0.1:${(server.address() as AddressInfo).port}`);
    answers = false;
    for (const socket of sockets) socket.pause();
    for (let i = 0; i < 10; i++) ear.bus.publish('news', Buffer.alloc(4_000_000));
    await ear.isUp(false);
    for (const socket of sockets) socket.resume();
    // It tries again meanwhile, and does not gather connections that nobody answers.
    await eventually(() => expect(ear.errors.join()).toContain('does not answer in time'));
    await eventually(() => expect(sockets.size).toBeLessThanOrEqual(1));
    await ear.bus.close();
    await eventually(() => expect(sockets.size).toBe(0));
    server.close();
  });

  test('that may not subscribe is an error that says so, and is tried again', async () => {
    const permissions = { subscribe: ['other.>'] };
    await using server = await TestNats.start({
      config: { authorization: { users: [{ user: 'u', password: 'p4ss', permissions }] } },
    });
    await using ear = new Ear(`nats://u:p4ss@127.0.0.1:${server.port}`);
    await eventually(() => expect(ear.errors.join()).toContain('Permissions Violation for Subscription to "reeve.'));
    expect(ear.bus.isConnected).toBe(false);
    expect(ear.statuses).toEqual([]);
    expect(ear.errors.join()).not.toContain('p4ss');
  });
});

describe('credentials', () => {
  const password = 'p@ss/w:rd%1,#';

  test.each([
    ['user and password', { user: 're@eve', password }],
    ['a token', { token: 'to-ken' }],
  ])('by %s', async (_what, options) => {
    await using server = await TestNats.start(options);
    await using ear = await Ear.connected(server.url());
    expect(ear.errors).toEqual([]);
  });

  test('by a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'reeve-creds-'));
    const { config, creds } = makeNatsAccount();
    const credsFile = join(folder, 'user.creds');
    writeFileSync(credsFile, creds.replace(/SU[A-Z2-7]+/, makeNatsAccount().seed));
    await using server = await TestNats.start({ config });
    await using ear = new Ear(server.url(), { credsFile });
    await eventually(() => expect(ear.errors.join()).toContain('it refuses the credentials'));
    // A file that is renewed counts at the next attempt.
    writeFileSync(credsFile, creds);
    await ear.isUp();
    rmSync(folder, { recursive: true });
  });

  test.each([
    ['password', 'nats://ada:hunter2@', { user: 'ada', password: 'right' }],
    ['token', 'nats://hunter2@', { token: 'right' }],
  ])('that are wrong are reported once, without the %s', async (_what, start, options) => {
    await using server = await TestNats.start(options);
    await using ear = new Ear(`${start}127.0.0.1:${server.port}`);
    await eventually(() => expect(ear.errors).toHaveLength(1));
    expect(ear.errors[0]).toBe(
      `NATS at 127.0.0.1:${server.port} cannot be used: it refuses the credentials (Authorization Violation)`,
    );
    expect(ear.statuses).toEqual([]);
  });
});

/** Runs a script on a bus in its own process. It fails unless the process ends by itself. */
async function runAlone(url: string, script: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const code = `
    import { openNatsBus } from '${import.meta.dirname}/nats-bus.ts';
    import { parseNatsUrls } from '${import.meta.dirname}/../../config/nats-url.ts';
    const said = (what) => console.log(what.message ?? what);
    const until = (word) => new Promise((resolve) => { heard[word] = resolve; });
    const heard = {};
    const tell = (word) => { said(word); heard[word]?.(); heard.anything?.(); };
    const options = { urls: parseNatsUrls('${url}'), name: 'alone', secret: Buffer.alloc(32), onStatus: tell, onError: tell };
    ${script}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 30_000,
    killSignal: 'SIGKILL',
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [status] = (await once(child, 'close')) as [number | null];
  expect(status).toBe(0);
  return output;
}

describe('closing', () => {
  test('leaves nothing behind that keeps the process', async () => {
    const server = await sharedNats();
    const script = `const bus = openNatsBus(options); bus.subscribe('x', said); await until('connected'); await bus.close();
      said([bus.isConnected, bus.publish('x', new Uint8Array())].join());`;
    expect(await runAlone(server.url(), script)).toBe('connected\nfalse,false\n');
  });

  test('does not wait for a server that is not there, or says nothing', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const script = `const since = performance.now(); const bus = openNatsBus(options);
      await new Promise((resolve) => setTimeout(resolve, 200)); await bus.close(); said(performance.now() - since < 2500);`;
    expect(await runAlone(`nats://127.0.0.1:${port}`, script)).toBe('true\n');
    silent.close();
    const told = script.replace(
      'await new Promise((resolve) => setTimeout(resolve, 200));',
      "await until('anything');",
    );
    expect(await runAlone('nats://127.0.0.1:1', told)).toMatch(/connection refused\ntrue\n$/);
  });

  test('sends what was published just before', async () => {
    const server = await sharedNats();
    const own = otherSecret();
    await using other = await Ear.connected(server.url(), { secret: own });
    const one = await Ear.connected(server.url(), { secret: own });
    one.bus.publish('news', text('goodbye'));
    await one.bus.close();
    await one.bus.close();
    await other.hears('goodbye');
    expect(one.statuses).toEqual(['connected']);
  });
});

describe('over TLS', () => {
  test('with an authority that the process trusts', async () => {
    await using server = await TestNats.start({ tls: true, user: 'ada', password: 'hunter2' });
    const script = `const bus = openNatsBus(options); await until('anything'); await bus.close();`;
    const trusted = { NODE_EXTRA_CA_CERTS: server.certFile };
    expect(await runAlone(server.url(), script, trusted)).toBe('connected\n');
    const refused = await runAlone(server.url(), script);
    expect(refused).toMatch(/^NATS at 127\.0\.0\.1:\d+ cannot be used: .*self[- ]signed certificate/);
    expect(refused).not.toMatch(/hunter2|ada/);
    // The certificate is for the address, and not for every name of this machine.
    const byName = server.url().replace('127.0.0.1', 'localhost');
    expect(await runAlone(byName, script, trusted)).toContain('does not match certificate');
  });

  test('a server that offers none is refused, before it gets the credentials', async () => {
    await using server = await TestNats.start({ user: 'ada', password: 'hunter2' });
    await using ear = new Ear(server.url().replace('nats:', 'tls:'));
    await eventually(() => expect(ear.errors.join()).toContain("server does not support 'tls'"));
    expect(ear.bus.isConnected).toBe(false);
  });
});
