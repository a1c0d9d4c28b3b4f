import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import type { FloorWorld } from './floor-world.ts';
import { cpuMicrosWithChildren } from './process-usage.ts';
import type { Spread } from './statistics.ts';
import { spreadOf } from './statistics.ts';

export interface Throughput {
  readonly rounds: number;
  readonly bytes: number;
  /** Megabytes a second, from a server on loopback to the program, and back. */
  readonly down: Compared;
  readonly up: Compared;
}

export interface Compared {
  readonly direct: Spread;
  /** By a process that joins two sockets, and does nothing else: what any proxy in Node costs here. */
  readonly relayed: Spread;
  readonly proxied: Spread;
  /** To the direct connection, and to the relay. */
  readonly ratio: Spread;
  readonly ratioToRelay: Spread;
  /**
   * Processor time of all who take part in a gigabyte, in seconds; and what remains of a direct connection's throughput where others
   * leave no core free. Others who use the machine change it far less than the throughput.
   */
  readonly cpu: { readonly direct: Spread; readonly proxied: Spread; readonly ratio: Spread };
}

interface Transfer {
  readonly rate: number;
  readonly cpuSecs: number;
}

/** Waits for the end of a program. Throws what it said if it has failed. */
export async function ended(child: ChildProcess): Promise<string> {
  let [said, failed] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (said += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (failed += text));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`a program ended with ${code}: ${failed}`);
  return said;
}

/** Of the process, and of its children that have ended. */
export function cpuSecsOf({ pid = 0 }: ChildProcess): number {
  return (cpuMicrosWithChildren(pid) ?? Number.NaN) / 1e6;
}

/**
 * Says that it begins, and then how long it took from the first byte to the last, in one direction, and of that, its processor time.
 * By the proxy, if there is one.
 */
const client = `
const net = require('node:net');
const [port, bytes, way] = process.argv.slice(1);
const proxy = /^http:..(.*):([0-9]+)$/.exec(process.env.HTTP_PROXY ?? '');
const socket = proxy ? net.connect(Number(proxy[2]), proxy[1]) : net.connect(Number(port), '127.0.0.1');
const go = () => process.stdout.write('begun\\n', () => {
  socket.write(way);
  const began = process.hrtime.bigint();
  const used = process.cpuUsage();
  const done = () => {
    const { user, system } = process.cpuUsage(used);
    console.log(Number(process.hrtime.bigint() - began) / 1e9, (user + system) / 1e6);
    socket.destroy();
    // Whoever measures the others looks now.
    setTimeout(process.exit, 200);
  };
  let left = Number(bytes);
  if (way === 'd') return socket.on('data', (chunk) => { left -= chunk.length; if (left <= 0) done(); });
  const piece = Buffer.alloc(65536);
  const more = () => { while (left > 0) { left -= piece.length; if (!socket.write(piece)) return socket.once('drain', more); } };
  more();
  socket.once('data', done);
});
socket.once('connect', () => {
  if (!proxy) return go();
  socket.write('CONNECT 127.0.0.1:' + port + ' HTTP/1.1\\r\\n\\r\\n');
  socket.once('data', go);
});`;

const relaying = `
const net = require('node:net');
const server = net.createServer({ allowHalfOpen: true }, (near) => {
  const far = net.connect({ port: Number(process.argv[1]), host: '127.0.0.1', allowHalfOpen: true });
  for (const [one, other] of [[near, far], [far, near]]) one.on('error', () => other.destroy()).pipe(other);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;

/** Sends the bytes, or takes as many and then answers, by the first byte that it gets. */
function serve(bytes: number): (socket: Socket) => void {
  return (socket) => {
    socket.on('error', () => {});
    socket.once('data', (head: Buffer) => {
      let left = bytes - (head.length - 1);
      if (head[0] === 'u'.charCodeAt(0)) {
        socket.on('data', (chunk: Buffer) => {
          left -= chunk.length;
          if (left <= 0) socket.write('done');
        });
        return;
      }
      const piece = Buffer.alloc(65_536);
      const more = () => {
        while (left > 0) {
          left -= piece.length;
          if (!socket.write(piece)) return void socket.once('drain', more);
        }
      };
      more();
    });
  };
}

export async function measureTransfers(
  world: FloorWorld,
  { transfers, bytes }: { readonly transfers: number; readonly bytes: number },
): Promise<Throughput> {
  const server = createServer({ noDelay: true }, serve(bytes));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const transferred = async (way: 'd' | 'u', to: number, flags?: readonly string[]): Promise<Transfer> => {
    const child = world.begin([process.execPath, '-e', client, String(to), String(bytes), way], flags);
    // Without a floor, the child is the client, which says itself what it has used.
    const usedByOthers = () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6 + (flags === undefined ? 0 : cpuSecsOf(child));
    };
    const [before, after] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
    child.stdout?.once('data', () => before.resolve(usedByOthers()));
    child.stdout?.on('data', (said: Buffer) => {
      if (/\d/.test(String(said))) after.resolve(usedByOthers());
    });
    const [secs = '', cpuSecs = ''] = (await ended(child)).replace('begun', '').trim().split(' ');
    return {
      rate: bytes / 1e6 / Number(secs),
      cpuSecs: ((await after.promise) - (await before.promise) + Number(cpuSecs)) * (1e9 / bytes),
    };
  };
  const relay = world.begin([process.execPath, '-e', relaying, String(port)]);
  const [relayPort] = (await once(relay.stdout ?? relay, 'data')) as [Buffer];
  const compared = async (way: 'd' | 'u'): Promise<Compared> => {
    const direct: Transfer[] = [];
    const relayed: Transfer[] = [];
    const proxied: Transfer[] = [];
    for (let round = 0; round < transfers; round++) {
      direct.push(await transferred(way, port));
      relayed.push(await transferred(way, Number(String(relayPort))));
      proxied.push(await transferred(way, port, []));
    }
    const rates = (of: readonly Transfer[]) => spreadOf(of.map(({ rate }) => rate));
    const cpus = (of: readonly Transfer[]) => spreadOf(of.map(({ cpuSecs }) => cpuSecs));
    const to = (others: readonly Transfer[]) =>
      spreadOf(proxied.map(({ rate }, at) => rate / (others[at]?.rate ?? Number.NaN)));
    const ratio = spreadOf(proxied.map(({ cpuSecs }, at) => (direct[at]?.cpuSecs ?? Number.NaN) / cpuSecs));
    const spread = { direct: rates(direct), relayed: rates(relayed), proxied: rates(proxied) };
    const cpu = { direct: cpus(direct), proxied: cpus(proxied), ratio };
    return { ...spread, ratio: to(direct), ratioToRelay: to(relayed), cpu };
  };
  try {
    return { rounds: transfers, bytes, down: await compared('d'), up: await compared('u') };
  } finally {
    relay.kill('SIGKILL');
    server.close();
  }
}
