import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcessWithoutNullStreams, StdioOptions } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { expect } from 'vitest';
import { RunningCli } from '../harness/cli.ts';
import { eventually } from '../harness/eventually.ts';
import type { Exit } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { reeveCommand } from '../harness/reeve-command.ts';

const [program = '', ...before] = reeveCommand;
export const isRoot = process.getuid?.() === 0;
/**
 * Tests that run as root start the command as somebody without rights. Files of tests that run at the same time do so as
 * different ones: the kernel counts processes by user, and some programs here make as many as they may.
 */
export const person = 61_000 + Number(process.env['VITEST_POOL_ID'] ?? 0);
const account = isRoot ? { uid: person, gid: person } : {};

const nobody = `setpriv --reuid ${person} --regid ${person} --clear-groups`;
/** Lines of a shell that enter control groups, and become somebody else. */
const entering = 'for group in $1; do echo 0 > "$group/cgroup.procs" || exit 99; done; as=$2; shift 2; exec $as "$@"';

export const policy = `
name: house
default: allow
rules:
  - { name: no-echo, effect: deny, commands: ["echo forbidden**"] }
  - { name: asked, effect: require_approval, commands: ["echo asked**", "sh ** asked-later"] }
`;

/** Whether this machine has what the floor stands on. Where it has not, only the refusal can be tested. */
export const { hasFloor, landlock } = (() => {
  const how = { ...account, cwd: tmpdir(), encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(program, [...before, 'run', '--doctor'], how);
  if (status !== 0 && status !== 125) throw new Error(`nobody knows whether there is a floor: ${stderr}`);
  /** The version of Landlock that the floor uses; 0 for none. */
  return { hasFloor: status === 0, landlock: Number(/^ok +landlock +version (\d+)/m.exec(stdout)?.[1] ?? 0) };
})();

type Op = RouteOutput<Routes['listOps']>['items'][number];

export interface Start {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly flags?: readonly string[];
  readonly stdio?: StdioOptions;
  /** The control groups that it is started in. Only root can ask for that. */
  readonly groups?: readonly string[];
  readonly asRoot?: boolean;
}

/** A person without privileges, with a home and a project in it, and a gateway. */
export class FloorWorld {
  readonly gateway: TestGateway;
  readonly home: string;
  readonly project: string;

  constructor(gateway: TestGateway) {
    this.gateway = gateway;
    this.home = realpathSync(mkdtempSync(join(tmpdir(), 'reeve-floor-')));
    this.project = join(this.home, 'project');
    chmodSync(this.home, 0o755);
    mkdirSync(this.project);
    this.own(this.home);
    this.own(this.project);
  }

  static async start(env: Readonly<Record<string, string>> = {}, rules = policy): Promise<FloorWorld> {
    return new FloorWorld(await TestGateway.start({ policies: { 'house.yaml': rules }, env }));
  }

  own(path: string): void {
    if (isRoot) chownSync(path, person, person);
  }

  /** Writes a file of the person, relative to the home. */
  write(name: string, text: string): string {
    const path = join(this.home, name);
    for (const parent of missingParents(dirname(path))) {
      mkdirSync(parent);
      this.own(parent);
    }
    writeFileSync(path, text);
    this.own(path);
    return path;
  }

  read(name: string): string {
    return readFileSync(join(this.home, name), 'utf8');
  }

  get env(): Record<string, string> {
    return {
      PATH: process.env['PATH'] ?? '',
      HOME: this.home,
      USER: 'ada',
      REEVE_GRPC_ADDR: this.gateway.grpc,
      REEVE_API_KEY: bootstrapKey,
      REEVE_AGENT: 'acme/core/ada',
    };
  }

  /** Starts `reeve run` in the project. */
  begin(
    command: readonly string[],
    { env = {}, cwd = this.project, flags = [], stdio = 'pipe', groups = [], asRoot = false }: Start = {},
  ): RunningCli {
    const words = [...before, 'run', ...flags, '--', ...command];
    const options = { cwd, env: { ...this.env, ...env }, stdio };
    const child =
      groups.length > 0 || asRoot
        ? spawn('sh', ['-c', entering, 'sh', groups.join(' '), asRoot ? '' : nobody, program, ...words], options)
        : spawn(program, words, { ...account, ...options });
    return new RunningCli(child as ChildProcessWithoutNullStreams);
  }

  async doctor(cwd: string): Promise<Exit> {
    return this.#asPerson([program, ...before, 'run', '--doctor'], { cwd });
  }

  /** Runs another command of Reeve as the person. */
  async reeve(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Exit> {
    return this.#asPerson([program, ...before, ...words], { env });
  }

  /** Runs a line by a shell of the person, as a coding agent does with its hooks and its commands. */
  async shell(line: string, input = ''): Promise<Exit> {
    return this.#asPerson(['sh', '-c', line], { input });
  }

  async #asPerson(
    [name = '', ...words]: readonly string[],
    { cwd = this.project, env = {}, input = '' }: Pick<Start, 'cwd' | 'env'> & { readonly input?: string },
  ): Promise<Exit> {
    const how = { ...account, cwd, env: { ...this.env, ...env }, stdio: 'pipe' } as const;
    const cli = new RunningCli(spawn(name, words, how));
    cli.child.stdin?.on('error', () => {});
    cli.child.stdin?.end(input);
    await cli.ended();
    return cli.exit();
  }

  /** Starts `reeve run` by a shell, with its streams from and to files. */
  beginRedirected(command: readonly string[], redirections: string): RunningCli {
    const words = [program, ...before, 'run', '--', ...command];
    const line = ['-c', `exec "$@" ${redirections}`, 'sh', ...words];
    return new RunningCli(spawn('sh', line, { ...account, cwd: this.project, env: this.env, stdio: 'pipe' }));
  }

  /** Starts `reeve run` on a terminal, by Debian's `script`. */
  beginOnTerminal(command: readonly string[]): RunningCli {
    return this.#onTerminal(`stty cols 101 rows 24; exec ${this.typed(command)}`);
  }

  /** A person's shell on a terminal. It is so wide that no line that is typed looks like two: paths differ in length. */
  beginShell(): RunningCli {
    return this.#onTerminal('stty cols 2000; exec bash --norc -i');
  }

  /** The command as a person would type it. */
  typed(command: readonly string[], flags: readonly string[] = []): string {
    return [program, ...before, 'run', ...flags, '--', ...command]
      .map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`)
      .join(' ');
  }

  #onTerminal(line: string): RunningCli {
    const env = { ...this.env, TERM: 'xterm', SHELL: '/bin/sh', PS1: '$ ' };
    return new RunningCli(
      spawn('script', ['-qfec', line, '/dev/null'], { ...account, cwd: this.project, env, stdio: 'pipe' }),
    );
  }

  /** Runs a command under the floor to its end. */
  async run(command: readonly string[], start: Start = {}, input = ''): Promise<Exit> {
    const cli = this.begin(command, start);
    cli.child.stdin?.on('error', () => {});
    cli.child.stdin?.end(input);
    await cli.ended();
    return cli.exit();
  }

  /** Runs lines of a shell under the floor. */
  sh(lines: string, start: Start = {}): Promise<Exit> {
    return this.run(['sh', '-c', lines], start);
  }

  /** Runs lines of Perl under the floor. Debian always has it, and it makes any system call. */
  perl(lines: string, start: Start = {}): Promise<Exit> {
    return this.run(['perl', '-e', lines], start);
  }

  async op(): Promise<Op> {
    return eventually(async () => {
      const { body } = await this.gateway.api.get<RouteOutput<Routes['listOps']>>(
        '/api/v1/ops?per_page=1000',
        bootstrapKey,
      );
      const [op] = body.items;
      if (op === undefined) throw new Error('there is no operation');
      return op;
    });
  }

  async control(action: 'pause' | 'resume' | 'terminate', reason = 'look'): Promise<string> {
    const { op_id: id } = await this.op();
    const path = `/api/v1/ops/${encodeURIComponent(id)}/${action}`;
    const answer = await this.gateway.api.post(path, bootstrapKey, { reason });
    expect(answer.status, answer.text).toBe(202);
    return (answer.body as { control: { id: string } }).control.id;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    rmSync(this.home, { recursive: true, force: true });
    await this.gateway[Symbol.asyncDispose]();
  }
}

/** Does work of its own, so that whatever can run beside it has run. */
export function letOthersRun(): void {
  spawnSync(process.execPath, ['-e', 'for (let n = 0; n < 3e8; n++);']);
}

/** The processes of this machine whose command line has the mark. */
export function processesWith(mark: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => commandLine(pid).includes(mark))
    .map(Number);
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

function missingParents(folder: string): readonly string[] {
  try {
    readdirSync(folder);
    return [];
  } catch {
    return [...missingParents(dirname(folder)), folder];
  }
}
