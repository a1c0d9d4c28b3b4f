import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { endWithUs } from '../harness/end-with-us.ts';
import { eventually } from '../harness/eventually.ts';
import { reeveCommand } from '../harness/reeve-command.ts';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Of what goes on running: what it has said by now. */
  readonly now?: () => Pick<Ran, 'stdout' | 'stderr'>;
}

/** What runs until somebody ends it. A reader gives each a terminal of its own. */
const keepsRunning =
  /npm start|reeve (?:serve|demo)|llm serve|mcp serve|stoppable-agent|ops watch|logs --follow|curl -sN|WebSocket|OpControlStream/;
/** What a server says once it can be asked. Others are not waited for. */
const isReady = /listening|http:/;
const isServer = /npm start|(?:reeve|llm|mcp) serve|reeve demo/;
const isGateway = /npm start|reeve (?:serve|demo)/;

/**
 * A reader of a guide: a checkout, a home, and a shell that keeps its variables. Ports are free ones: the environment
 * tells them to the commands, and they stand in place of the usual ones in what is typed.
 */
export class GuideShell {
  readonly #root = mkdtempSync(join(tmpdir(), 'reeve-guide-'));
  readonly #shell: ChildProcess;
  readonly #ports: readonly [http: number, grpc: number, models: number, mcp: number];
  /** The files that hold the groups of what goes on running. */
  readonly #groups: string[] = [];
  #count = 0;
  #hasGateway = false;
  /** The key that the first start of the gateway prints. */
  #key = 'rvk_…';

  private constructor(ports: readonly [number, number, number, number]) {
    this.#ports = ports;
    const [http, grpc] = ports;
    const home = join(this.#root, 'home');
    const bin = join(this.#root, 'bin');
    for (const folder of [home, bin, this.folder]) mkdirSync(folder);
    for (const name of ['node_modules', 'packages', 'scripts', 'clients', 'deploy', 'tests']) {
      symlinkSync(resolve(name), join(this.folder, name));
    }
    for (const name of ['examples', 'package.json']) cpSync(name, join(this.folder, name), { recursive: true });
    writeFileSync(join(bin, 'reeve'), `#!/bin/sh\nexec ${reeveCommand.map((part) => `'${part}'`).join(' ')} "$@"\n`);
    chmodSync(join(bin, 'reeve'), 0o755);
    const inherited = Object.entries(process.env).filter(([key]) => !/^(SVC_|REEVE_|npm_|NODE_|VITEST)/.test(key));
    this.#shell = spawn('bash', ['--noprofile', '--norc'], {
      cwd: this.folder,
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: {
        ...Object.fromEntries(inherited),
        HOME: home,
        PATH: `${bin}:${process.env['PATH'] ?? ''}`,
        SVC_HTTP_ADDR: `127.0.0.1:${http}`,
        SVC_GRPC_ADDR: `127.0.0.1:${grpc}`,
        // Nothing outside of the folder may change: what installs packages refuses here.
        PIP_REQUIRE_VIRTUALENV: '1',
        PIP_NO_INDEX: '1',
        npm_config_offline: 'true',
        npm_config_prefix: home,
        REEVE_API_URL: `http://127.0.0.1:${http}`,
        REEVE_GRPC_ADDR: `127.0.0.1:${grpc}`,
      },
    });
    endWithUs(this.#shell);
    // An answer that is an error ends a command, as a reader would stop there.
    this.#say(
      'set -o pipefail; curl() { command curl --fail-with-body "$@"; }; npx() { command npx --offline "$@"; }; export -f curl',
    );
  }

  static async start(): Promise<GuideShell> {
    return new GuideShell([await freePort(), await freePort(), await freePort(), await freePort()]);
  }

  get folder(): string {
    return join(this.#root, 'checkout');
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(join(this.folder, name)), { recursive: true });
    writeFileSync(join(this.folder, name), text);
  }

  /**
   * Runs a command as it is typed, to its end if it has one. Where a guide takes a gateway for granted, there is one with
   * the policies of the examples.
   */
  async run(command: string): Promise<Ran> {
    const needsGateway = !keepsRunning.test(command) || /llm serve|mcp serve|stoppable/.test(command);
    if (needsGateway && !this.#hasGateway) await this.#start('reeve serve --policy examples/policies');
    // What a checkout has installed once is there.
    const typed = command
      .replace(/^npm install && /, '')
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${this.#ports[0]}`)
      .replaceAll('127.0.0.1:50051', `127.0.0.1:${this.#ports[1]}`)
      .replaceAll('127.0.0.1:8090', `127.0.0.1:${this.#ports[2]}`)
      .replaceAll('127.0.0.1:8091', `127.0.0.1:${this.#ports[3]}`)
      .replaceAll('rvk_…', this.#key)
      // What only the reader has, such as the key of a provider.
      .replaceAll('…', 'example');
    return keepsRunning.test(typed) ? this.#start(typed) : this.#finish(typed);
  }

  async #finish(command: string): Promise<Ran> {
    const [script, out, err, code] = this.#files('sh', 'out', 'err', 'code');
    writeFileSync(script, `${command}\n`);
    this.#say(`source ${script} > ${out} 2> ${err} < /dev/null; echo $? > ${code}.new; mv ${code}.new ${code}`);
    await eventually(() => existsSync(code) || Promise.reject(new Error(`does not end: ${command}`)), 1200);
    return { code: Number(readFileSync(code, 'utf8')), stdout: read(out), stderr: read(err) };
  }

  async #start(command: string): Promise<Ran> {
    const [script, out, err, code, group] = this.#files('sh', 'out', 'err', 'code', 'group');
    const serves = isGateway.test(command);
    // A gateway that is started again is the same one, with other settings.
    if (serves && this.#hasGateway) await this.#finish('kill -- -$GATEWAY; wait $GATEWAY || true');
    this.#hasGateway ||= serves;
    writeFileSync(script, `${command}\n`);
    // Each has a group of its own, so that all of it can be ended. Its shell outlives what it runs, so whoever waits for
    // the one has waited for the other: a gateway that is told to end holds its data folder until it has.
    const job = `(trap : TERM; source ${script}; echo $? > ${code}) > ${out} 2> ${err} < /dev/null &`;
    this.#say(`set -m; ${job} echo $! > ${group}; set +m; ${serves ? `GATEWAY=$(cat ${group})` : ''}`);
    this.#groups.push(group);
    const now = () => ({ stdout: read(out), stderr: read(err) });
    if (isServer.test(command)) {
      await eventually(() => {
        if (existsSync(code) || isReady.test(read(out) + read(err))) return;
        throw new Error(`says nothing: ${command}\n${read(out)}${read(err)}`);
      }, 1200);
    }
    if (serves) this.#key = /Admin API key, .*: (rvk_\w+)/.exec(read(out) + read(err))?.[1] ?? this.#key;
    return { code: existsSync(code) ? Number(read(code)) : 0, ...now(), now };
  }

  #files<const Ends extends readonly string[]>(...ends: Ends): { [At in keyof Ends]: string } {
    this.#count += 1;
    return ends.map((end) => join(this.#root, `${this.#count}.${end}`)) as { [At in keyof Ends]: string };
  }

  #say(line: string): void {
    this.#shell.stdin?.write(`${line}\n`);
  }

  /** Ends the shell and all that it has started. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { pid } = this.#shell;
    const ended = this.#shell.exitCode === null ? once(this.#shell, 'close') : undefined;
    if (pid !== undefined) killGroup(pid);
    for (const group of this.#groups.map(read)) if (group !== '') killGroup(Number(group));
    await ended;
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 5 });
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function read(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
