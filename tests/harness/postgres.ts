import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
  readFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { findPostgres } from '../../scripts/find-postgres.ts';
import { eventually } from './eventually.ts';

export const postgresUser = 'reeve';
/** Odd characters reveal a URL that is not decoded, and a password that is printed. */
export const postgresPassword = 'p@ss/w:rd%1';

export interface TestDatabase {
  readonly name: string;
  readonly url: string;
  /** Queries the database directly, without the gateway. */
  query(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  drop(): Promise<void>;
}

interface StartOptions {
  readonly tls?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
}

let shared: Promise<TestPostgres> | undefined;

/** A new database on the worker's shared server: empty, or a copy of another. */
export async function createDatabase(template?: string): Promise<TestDatabase> {
  shared ??= TestPostgres.start();
  return (await shared).createDatabase(template);
}

/** A real PostgreSQL server in its own folder. It ends with the process that started it, however that ends. */
export class TestPostgres {
  readonly port: number;
  readonly #folder: string;
  #server: ChildProcess | undefined;
  #databases = 0;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.port = port;
  }

  /** With `tls` it encrypts on request, with a self-signed certificate for 127.0.0.1. */
  static async start({ tls = false, settings = {} }: StartOptions = {}): Promise<TestPostgres> {
    const server = new TestPostgres(newFolder(), await freePort());
    server.#initialise(tls);
    server.#set(settings);
    await server.resume();
    return server;
  }

  /** Starts a server on a copy of a base backup, which it recovers by these settings. */
  static async recover(base: string, settings: Readonly<Record<string, string>>): Promise<TestPostgres> {
    const server = new TestPostgres(newFolder(), await freePort());
    cpSync(base, server.#data, { recursive: true });
    writeFileSync(join(server.#data, 'recovery.signal'), '');
    server.#set(settings);
    chmodSync(server.#data, 0o700);
    if (isRoot()) spawnSync('chown', ['-R', serverUser(), server.#folder]);
    await server.resume();
    return server;
  }

  /** Runs a program of PostgreSQL as the user of the server, which may write to the server's folder. */
  run(program: string, ...args: readonly string[]): void {
    const [command = '', ...rest] = asServerUser([join(findPostgres() ?? '', program), ...args]);
    const { status, stderr } = spawnSync(command, rest, { encoding: 'utf8', cwd: this.#folder });
    if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
  }

  /** A path in the server's folder. */
  path(name: string): string {
    return join(this.#folder, name);
  }

  get certFile(): string {
    return join(this.#folder, 'server.crt');
  }

  url(database: string, parameters = ''): string {
    const { port } = this;
    const password = encodeURIComponent(postgresPassword);
    return `postgres://${postgresUser}:${password}@127.0.0.1:${port}/${database}${parameters}`;
  }

  async createDatabase(template = 'template1'): Promise<TestDatabase> {
    const name = `test_${process.pid}_${++this.#databases}`;
    await this.#query('postgres', `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY = FILE_COPY`);
    return {
      name,
      url: this.url(name),
      query: (sql, values = []) => this.#query(name, sql, values),
      drop: async () => {
        await this.#query('postgres', `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      },
    };
  }

  /** Starts the server, or restarts it on its data. */
  async resume(): Promise<void> {
    // The shell stops the server and removes its data when the tests that hold its stdin are gone.
    const script =
      '"$0" "$@" & server=$!; read -r word; [ "$word" = crash ] && kill -QUIT $server || kill -INT $server; wait $server; [ -n "$word" ] || rm -rf "$FOLDER"';
    const args = ['-D', this.#data, '-p', String(this.port), '-k', this.#folder];
    const [program = '', ...rest] = asServerUser(['sh', '-c', script, join(findPostgres() ?? '', 'postgres'), ...args]);
    const env = { ...process.env, FOLDER: this.#folder };
    this.#server = spawn(program, rest, { stdio: ['pipe', 'ignore', 'ignore'], env });
    this.#server.unref();
    await eventually(() => this.#query('postgres', 'SELECT 1'));
  }

  /** Stops the server and cuts its connections. A crash leaves it to the next start to recover from its log. */
  async halt({ isCrash = false } = {}): Promise<void> {
    await this.#end(isCrash ? 'crash\n' : 'keep\n');
  }

  /** Copies the data aside, as a standby holds it that gets no more of the log. The server must be halted. */
  keepCopy(): void {
    this.#copy(this.#data, this.#copied);
  }

  /** Goes on from the copy: everything since is lost. The server must be halted. */
  goBackToCopy(): void {
    rmSync(this.#data, { recursive: true });
    this.#copy(this.#copied, this.#data);
  }

  /** With owners and rights, which the server checks. */
  #copy(from: string, to: string): void {
    const { status, stderr } = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`the data cannot be copied: ${stderr}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end('');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** The process id of the server itself. */
  get pid(): number {
    return Number.parseInt(readFileSync(join(this.#data, 'postmaster.pid'), 'utf8'), 10);
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  get #copied(): string {
    return join(this.#folder, 'copied');
  }

  #initialise(tls: boolean): void {
    const bin = findPostgres();
    if (bin === undefined) throw new Error('the tests need a PostgreSQL server; scripts/ensure-tools.ts brings one');
    const passwordFile = join(this.#folder, 'password');
    writeFileSync(passwordFile, postgresPassword);
    mkdirSync(this.#data, { mode: 0o700 });
    const keyFile = join(this.#folder, 'server.key');
    if (tls) makeCertificate(this.certFile, keyFile);
    if (isRoot()) spawnSync('chown', ['-R', serverUser(), this.#folder]);
    const options = [
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
      `--username=${postgresUser}`,
    ];
    const [program = '', ...rest] = asServerUser([
      join(bin, 'initdb'),
      ...options,
      `--pwfile=${passwordFile}`,
      `--pgdata=${this.#data}`,
    ]);
    const { status, stderr, error } = spawnSync(program, rest, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`initdb failed: ${error?.message ?? stderr}`);
    const encrypted = tls ? { ssl: 'on', ssl_cert_file: this.certFile, ssl_key_file: keyFile } : {};
    this.#set({ ...forTests, ...encrypted });
  }

  /** The last of several values counts. */
  #set(settings: Readonly<Record<string, string>>): void {
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
    appendFileSync(join(this.#data, 'postgresql.auto.conf'), lines.join(''));
  }

  async #query(database: string, sql: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: this.url(database) });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql, [...values])).rows;
    } finally {
      await client.end();
    }
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

/** Test data does not have to survive a power failure. */
const forTests: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '200',
  shared_buffers: '32MB',
};

export function makeCertificate(certFile: string, keyFile: string): void {
  const name = ['-subj', '/CN=reeve test', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', keyFile, '-out', certFile];
  const { status } = spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...name, ...files]);
  if (status !== 0) throw new Error('no certificate could be made');
  chmodSync(keyFile, 0o600);
  chmodSync(certFile, 0o644);
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-postgres-'));
  chmodSync(folder, 0o755);
  return folder;
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** PostgreSQL refuses to run as root. */
function serverUser(): string {
  return spawnSync('id', ['-u', 'postgres']).status === 0 ? 'postgres' : 'nobody';
}

function asServerUser(command: readonly string[]): readonly string[] {
  if (!isRoot()) return command;
  const user = serverUser();
  const group = spawnSync('id', ['-g', user], { encoding: 'utf8' }).stdout.trim();
  return ['setpriv', `--reuid=${user}`, `--regid=${group}`, '--clear-groups', ...command];
}

/** A loopback port that nobody uses at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return address.port;
}
