import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { findNatsServer } from './find-nats-server.ts';
import { makeCertificate } from './postgres.ts';

export interface NatsOptions {
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
  /** Requires TLS, with a self-signed certificate for 127.0.0.1. */
  readonly tls?: boolean;
  /** More of the server's own configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
}

let shared: Promise<TestNats> | undefined;

/** The worker's shared server, without credentials. Do not stop it. */
export function sharedNats(): Promise<TestNats> {
  shared ??= TestNats.start();
  return shared;
}

/** A real NATS server on a free loopback port. It ends with the process that started it, however that ends. */
export class TestNats {
  readonly #folder: string;
  readonly #options: NatsOptions;
  #port = -1;
  #server: ChildProcess | undefined;

  private constructor(folder: string, options: NatsOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  static async start(options: NatsOptions = {}): Promise<TestNats> {
    await findNatsServer();
    const server = new TestNats(mkdtempSync(join(tmpdir(), 'reeve-nats-')), options);
    if (options.tls === true) makeCertificate(server.certFile, server.#keyFile);
    await server.start();
    return server;
  }

  get port(): number {
    return this.#port;
  }

  get certFile(): string {
    return join(this.#folder, 'server.crt');
  }

  /** With the credentials. Another port is that of a link to this server. */
  url({ port = this.#port } = {}): string {
    const { user, password = '', token, tls = false } = this.#options;
    const word = user === undefined ? token : `${encodeURIComponent(user)}:${encodeURIComponent(password)}`;
    return `${tls ? 'tls' : 'nats'}://${word === undefined ? '' : `${word}@`}127.0.0.1:${port}`;
  }

  /** Starts the server again after `stop()`, on the same port. */
  async start(): Promise<void> {
    const program = await findNatsServer();
    writeFileSync(join(this.#folder, 'nats.conf'), JSON.stringify(this.#config()));
    // The shell stops the server and removes its folder when the tests that hold its stdin are gone.
    const script =
      '"$0" "$@" & server=$!; read -r word; kill -KILL $server; wait $server; [ "$word" = keep ] || rm -rf "$FOLDER"';
    const args = ['-c', script, program, '-c', join(this.#folder, 'nats.conf')];
    const env = { ...process.env, FOLDER: this.#folder };
    this.#server = spawn('sh', args, { stdio: ['pipe', 'ignore', 'ignore'], env });
    this.#server.unref();
    this.#port = await eventually(() => this.#readPort());
  }

  /** Stops the server and cuts its connections. */
  async stop(): Promise<void> {
    await this.#end('keep\n');
    // A server that is killed leaves the file behind that says where it listens.
    for (const file of this.#portFiles()) rmSync(file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end('');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #keyFile(): string {
    return join(this.#folder, 'server.key');
  }

  /** A configuration file of NATS may be JSON. */
  #config(): Readonly<Record<string, unknown>> {
    const { user, password, token, tls = false, config } = this.#options;
    const credentials = { user, password, token };
    return {
      host: '127.0.0.1',
      port: this.#port,
      ports_file_dir: this.#folder,
      log_file: join(this.#folder, 'server.log'),
      ...(user === undefined && token === undefined ? {} : { authorization: credentials }),
      ...(tls ? { tls: { cert_file: this.certFile, key_file: this.#keyFile } } : {}),
      ...config,
    };
  }

  #portFiles(): string[] {
    const names = readdirSync(this.#folder).filter((name) => name.endsWith('.ports'));
    return names.map((name) => join(this.#folder, name));
  }

  #readPort(): number {
    const [file] = this.#portFiles();
    const log = join(this.#folder, 'server.log');
    if (file === undefined) {
      throw new Error(`no NATS server has started: ${existsSync(log) ? readFileSync(log, 'utf8') : 'it says nothing'}`);
    }
    const { nats } = JSON.parse(readFileSync(file, 'utf8')) as { readonly nats: readonly string[] };
    return Number(new URL(nats[0] ?? '').port);
  }

  async #end(word: string): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    server.ref();
    const closed = once(server, 'close');
    server.stdin?.end(word);
    await closed;
  }
}
