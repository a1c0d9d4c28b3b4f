import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FloorWorld, hasFloor } from './floor-world.ts';

const rules = `
name: house
default: allow
rules:
  - { name: no-evil, effect: deny, hosts: ["evil.test", "*.evil.test"] }
  - { name: this-machine, effect: allow, hosts: ["127.0.0.1"] }
  - { name: asked, effect: require_approval, hosts: ["127.0.0.3"] }
  - { name: all, effect: allow, hosts: ["*"] }
`;

let world: FloorWorld;
let port = 0;
const server = createServer((request, response) => {
  response.setHeader('x-seen', JSON.stringify(request.rawHeaders));
  request.resume().on('end', () => response.end(`answer to ${request.method} ${request.url}\n`));
});
beforeAll(async () => {
  world = await FloorWorld.start({}, rules);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(async () => {
  server.close();
  await world[Symbol.asyncDispose]();
});

describe.skipIf(!hasFloor)('the network of a floor', () => {
  test('smoke', async () => {
    const out = await world.sh(
      `env | sort; curl -sS -i http://127.0.0.1:${port}/a?b; curl -sS -i http://127.0.0.4:${port}/; curl -sS -i http://evil.test/; curl -sS -p -i http://127.0.0.1:${port}/tunnel; curl -sS --noproxy '' http://localhost:${port}/ ; curl -sS --socks5-hostname $HTTP_PROXY http://127.0.0.1:${port}/socks; ls -l /proc/self/fd`,
    );
    console.log(out.stdout, out.stderr, out.code);
    expect(out.code).toBe(0);
  });
});
