import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { eventually } from '../harness/eventually.ts';
import type { Exit } from '../harness/gateway.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import type { RunningCli } from '../harness/cli.ts';
import type { Start } from './floor-world.ts';
import { FloorWorld } from './floor-world.ts';

/** What is allowed on this machine is named. Everything else is up to a rule that allows all. */
const rules = `
name: house
default: allow
rules:
  - { name: no-rm, effect: deny, commands: ["rm**"] }
  - { name: no-evil, effect: deny, hosts: ["evil.test", "*.evil.test"] }
  - { name: this-machine, effect: allow, hosts: ["127.0.0.1", "8.8.4.4"] }
  - { name: asked, effect: require_approval, hosts: ["127.0.0.3"] }
  - { name: all, effect: allow, hosts: ["*"] }
`;

export type Op = RouteOutput<Routes['listOps']>['items'][number];

/** A person's world with servers on this machine. */
export class NetworkWorld extends FloorWorld {
  readonly #servers: Server[] = [];

  static override async start(): Promise<NetworkWorld> {
    return new NetworkWorld((await FloorWorld.start({}, rules)).gateway);
  }

  /** The programs of this checkout can be read, wherever it is: also in `/tmp`, which is empty inside. */
  override begin(command: readonly string[], start: Start = {}): RunningCli {
    return super.begin(command, { ...start, flags: ['--read', resolve('.'), ...(start.flags ?? [])] });
  }

  /** Listens on an address of this machine. Returns the port. */
  async listen(server: Server, address = '127.0.0.1'): Promise<number> {
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, address, resolve));
    return (server.address() as AddressInfo).port;
  }

  /** A web server, which says what it was asked. */
  async web(address = '127.0.0.1', seen: string[] = []): Promise<number> {
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      seen.push(`${request.method} ${request.url}`);
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.on('end', () => response.end(JSON.stringify({ url: request.url, body, headers: request.rawHeaders })));
    };
    return this.listen(createServer(answer), address);
  }

  /** Runs a script of Node under the floor. `proxy(text)` sends bytes to the proxy and resolves to what comes back. */
  node(script: string, start: Start = {}): Promise<Exit> {
    return this.run([process.execPath, '-e', prelude + script], start);
  }

  nodeWords(script: string): readonly string[] {
    return [process.execPath, '-e', prelude + script];
  }

  /** The operations of connections, the newest first. */
  async connections(): Promise<readonly Op[]> {
    return (await this.#ops()).filter(({ action_type }) => action_type === 'network_call');
  }

  /** The operation of the program itself. */
  async programOp(): Promise<Op> {
    const found = (await this.#ops()).find(({ action_type }) => action_type === 'process_exec');
    if (found === undefined) throw new Error('there is no program');
    return found;
  }

  /** What is not over. */
  async running(): Promise<readonly Op[]> {
    return (await this.#ops()).filter(({ state }) => state !== 'completing' && state !== 'terminated');
  }

  async #ops(): Promise<readonly Op[]> {
    const path = '/api/v1/ops?per_page=1000';
    return (await this.gateway.api.get<RouteOutput<Routes['listOps']>>(path, bootstrapKey)).body.items;
  }

  async connection(state: Op['state']): Promise<Op> {
    return eventually(async () => {
      const found = (await this.connections()).find((op) => op.state === state);
      if (found === undefined) throw new Error(`there is no connection that is ${state}`);
      return found;
    });
  }

  async controlOp(opId: string, action: 'pause' | 'resume' | 'terminate'): Promise<string> {
    const path = `/api/v1/ops/${encodeURIComponent(opId)}/${action}`;
    const { body, status, text } = await this.gateway.api.post(path, bootstrapKey, { reason: 'look' });
    if (status !== 202) throw new Error(text);
    return (body as { control: { id: string } }).control.id;
  }

  /** Waits until a control is carried out. */
  async effective(id: string): Promise<void> {
    await eventually(async () => {
      const status = await this.status(id);
      if (status !== 'effective') throw new Error(`it is ${status}`);
    }, 400);
  }

  /** What has become of a control. */
  async status(id: string): Promise<string> {
    return (await this.gateway.api.get<{ status: string }>(`/api/v1/control/${id}`, bootstrapKey)).body.status;
  }

  /** What the log says of how connections ended. */
  details(): readonly string[] {
    return this.gateway
      .audit()
      .map((entry) => JSON.stringify(entry))
      .flatMap((text) => /sent=\d+ received=\d+[^"]*/.exec(text)?.[0] ?? []);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) server.close();
    await super[Symbol.asyncDispose]();
  }
}

const prelude = `
const net = require('node:net'), tls = require('node:tls');
const [, host, port] = /^http:..(.*):([0-9]+)$/.exec(process.env.HTTP_PROXY);
const proxy = (bytes, until = 'end') => new Promise((resolve) => {
  const socket = net.connect({ host, port }, () => socket.write(bytes));
  let got = Buffer.alloc(0);
  socket.on('data', (chunk) => { got = Buffer.concat([got, chunk]); if (typeof until === 'number' && got.length >= until) { socket.destroy(); resolve(got); } });
  socket.on('error', () => {}).on('close', () => resolve(got));
});
const tunnel = (to) => new Promise((resolve, reject) => {
  const socket = net.connect({ host, port }, () => socket.write('CONNECT ' + to + ' HTTP/1.1\\r\\nHost: ' + to + '\\r\\n\\r\\n'));
  socket.on('error', reject).once('data', (head) => / 200 /.test(head) ? resolve(socket) : reject(new Error(String(head))));
});
`;

export interface Certificate {
  readonly key: Buffer;
  readonly cert: Buffer;
}

/** A certificate that nobody trusts. */
export function selfSigned(name: string): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-certificate-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  try {
    const kind = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', cert];
    execFileSync('openssl', ['req', ...kind, '-subj', `/CN=${name}`], { stdio: 'pipe' });
    return { key: readFileSync(key), cert: readFileSync(cert) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
