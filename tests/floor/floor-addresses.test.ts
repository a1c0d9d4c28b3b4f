import { createServer, connect } from 'node:net';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Exit } from '../harness/gateway.ts';
import { reeveCommand } from '../harness/reeve-command.ts';
import { hasFloor } from './floor-world.ts';
import { NetworkWorld } from './network-world.ts';

let world: NetworkWorld;
beforeAll(async () => {
  world = await NetworkWorld.start();
  // Networks are apart from each other, and files are not.
  await new Promise<void>((done) => bridge.listen(join(world.home, 'gateway.sock'), done));
  world.own(join(world.home, 'gateway.sock'));
});
afterAll(async () => {
  bridge.close();
  await world[Symbol.asyncDispose]();
});

const bridge = createServer((socket) => {
  const [host = '', port = ''] = world.gateway.grpc.split(':');
  const gateway = connect({ host, port: Number(port) });
  for (const each of [socket, gateway]) each.on('error', () => {});
  socket.pipe(gateway).pipe(socket);
});

/** Lines of a shell in a network that has nothing but what they make. */
function alone(lines: string): Promise<Exit> {
  return world.shell(`unshare -rnm sh -c '${lines.replaceAll("'", String.raw`'\''`)}'`);
}

const node = process.execPath;

describe.skipIf(!hasFloor)('addresses and names of a floor', () => {
  test('an address of this machine that no interface has is refused, but where a rule names it', async () => {
    const serve =
      'require("http").createServer((_, response) => response.end("local service")).listen(8000, "0.0.0.0")';
    const ask = (address: string) => `curl -sS -m 30 http://${address}:8000/`;
    const { stdout, stderr } = await alone(`
      ip link set lo up
      for address in 9.9.9.9 8.8.4.4; do ip route add local $address dev lo; done
      '${node}' -e '${serve}' & server=$!
      until ${ask('9.9.9.9')} 2>/dev/null; do sleep 0.05; done
      export REEVE_GRPC_ADDR=unix:${world.home}/gateway.sock
      ${reeveCommand.join(' ')} run -- sh -c '${ask('9.9.9.9')}; ${ask('8.8.4.4')}'
      kill $server`);
    expect(stdout, stderr).toMatch(/^local servicereeve run: denied by .*\nlocal service$/);
  });

  test('names that nobody answers for do not keep it from resolving that of its gateway', async () => {
    const config = world.write('resolv.conf', 'nameserver 127.0.0.9\noptions timeout:1 attempts:1\n');
    const script = world.write('names.ts', lookups);
    const { stdout, stderr } = await alone(`
      ip link set lo up
      mount --bind ${config} "$(readlink -f /etc/resolv.conf)"
      exec '${node}' ${script}`);
    expect(stdout, stderr).toMatch(/^1\n(127\.0\.0\.1|::1)\nleft left\n$/);
  });
});

/** Asks for names and leaves at once, 40 times. Then two wait, while it looks up one of its own. */
const lookups = `
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { HostNames } from '${resolve('packages/cli/src/run/network/host-names.ts')}';
let asked = 0;
const silent = createSocket('udp4').on('message', () => asked++);
await new Promise<void>((done) => silent.bind(53, '127.0.0.9', done));
const names = new HostNames();
const left = Array.from({ length: 40 }, (_, nth) => {
  const gone = new AbortController();
  const asking = names.resolve('x' + nth + '.evil.example', gone.signal).catch((error) => error.name);
  gone.abort();
  return asking;
});
console.log(new Set(await Promise.all(left)).size);
const gone = new AbortController();
const [hangs, waits] = ['hangs', 'waits'].map((name) => names.resolve(name + '.evil.example', gone.signal).catch(() => 'left'));
while (asked === 0) await new Promise((done) => setTimeout(done, 5));
console.log(((await Promise.race([lookup('localhost'), hangs, waits])) as { address: string }).address);
gone.abort();
console.log(await hangs, await waits);
process.exit();
`;
