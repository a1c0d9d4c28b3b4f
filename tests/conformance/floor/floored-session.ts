import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endWithUs } from '../../harness/end-with-us.ts';
import { HookGateway } from '../hooks/hook-gateway.ts';
import { codingAgents } from '../hooks/coding-agents.ts';
import { ScriptedModel } from '../hooks/scripted-model.ts';

export const reeve = resolve('node_modules/.bin/reeve');

const person = 61_500;
/** Root starts it as somebody without rights. */
export const account = process.getuid?.() === 0 ? { uid: person, gid: person } : {};

/** What this machine lacks for a floor. Undefined if nothing. */
export function lackedForFloor(): string | undefined {
  const how = { ...account, cwd: tmpdir(), encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(reeve, ['run', '--doctor'], how);
  if (status === 0) return undefined;
  return stdout.split('\n').find((line) => line.startsWith('MISSING')) ?? stderr.trim();
}

const sessionMs = 180_000;
const patienceMs = 60_000;

/** All commands are allowed but one. Of this machine's addresses, the one of the model is named. */
const policy = `
name: house
default: allow
rules:
  - { name: denied, effect: deny, commands: ["touch denied**"] }
  - { name: model, effect: allow, hosts: ["127.0.0.1"] }
`;

/** What the receipt of a control says. */
export interface Receipt {
  readonly evidence: string;
  readonly processes: number;
}

/** One turn of a coding agent on a floor, with a home, a file beside its folder, a gateway and a model of its own. */
export class FlooredSession implements AsyncDisposable {
  readonly #home: string;
  readonly #gateway: HookGateway;
  readonly #model: ScriptedModel;
  readonly #child: ChildProcess;
  readonly #settings: string;
  #said = '';

  private constructor(home: string, gateway: HookGateway, model: ScriptedModel, path: string) {
    this.#home = home;
    this.#gateway = gateway;
    this.#model = model;
    const { args = [], env = {} } = codingAgents[0]?.turn(model.url) ?? {};
    const how = { ...account, cwd: join(home, 'work') } as const;
    const surroundings = { PATH: process.env['PATH'], HOME: home, ...gateway.env('claude-on-floor') };
    const installed = spawnSync(reeve, ['hook', 'install', 'claude-code'], {
      ...how,
      env: surroundings,
      encoding: 'utf8',
    });
    if (installed.status !== 0) throw new Error(`hook install: ${installed.stderr}`);
    this.#settings = readFileSync(join(home, '.claude/settings.json'), 'utf8');
    const program = realpathSync(path);
    const seen = [join(home, '.claude/settings.json'), resolve('.'), dirname(program), dirname(path)];
    const flags = [
      ...seen.flatMap((each) => ['--read', each]),
      ...Object.keys(env).flatMap((name) => ['--env', name]),
      ...['--grace', '2'],
    ];
    this.#child = spawn(reeve, ['run', ...flags, '--', path, ...args], {
      ...how,
      env: { ...surroundings, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: sessionMs,
    });
    endWithUs(this.#child);
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.#said += text));
    }
  }

  static async start(path: string, command: string): Promise<FlooredSession> {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'reeve-floored-')));
    chmodSync(home, 0o755);
    mkdirSync(join(home, 'work'));
    writeFileSync(join(home, 'kept.txt'), 'kept\n');
    if (account.uid !== undefined) {
      for (const each of [home, join(home, 'work'), join(home, 'kept.txt')]) chownSync(each, person, person);
    }
    const gateway = await HookGateway.start({ 'house.yaml': policy });
    return new FlooredSession(home, gateway, await ScriptedModel.start(command), path);
  }

  /** What the model got to read as the result of its command. */
  get results(): readonly string[] {
    return this.#model.results;
  }

  /** What the session printed. */
  get said(): string {
    return this.#said.trim();
  }

  /** A file in the folder of the session. */
  read(name: string): string | undefined {
    const path = join(this.#home, 'work', name);
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  }

  /** Whether what is outside of the folder is as it was. */
  isUntouched(): boolean {
    return (
      readFileSync(join(this.#home, 'kept.txt'), 'utf8') === 'kept\n' &&
      readFileSync(join(this.#home, '.claude/settings.json'), 'utf8') === this.#settings
    );
  }

  /** Controls the session, and waits until that is carried out. */
  async control(action: 'pause' | 'resume' | 'terminate'): Promise<Receipt> {
    const { items } = await this.#gateway.send<{ items: { op_id: string; action_type: string; resource: string }[] }>(
      'GET',
      '/api/v1/ops?per_page=1000',
    );
    const op = items.find(({ action_type: type, resource }) => type === 'process_exec' && resource.includes('claude'));
    if (op === undefined) throw new Error(`the gateway knows no session: ${JSON.stringify(items)}`);
    const path = `/api/v1/ops/${encodeURIComponent(op.op_id)}/${action}`;
    const { control } = await this.#gateway.send<{ control: { id: string } }>('POST', path);
    type Told = Receipt & { readonly status: string };
    const told = () => this.#gateway.send<Told>('GET', `/api/v1/control/${control.id}`);
    await this.until(async () => (await told()).status === 'effective', `the ${action} was effective`);
    const { evidence, processes } = await told();
    return { evidence, processes };
  }

  async nothingOpen(): Promise<void> {
    await this.until(async () => (await this.#gateway.open()).length === 0, 'no operation was open');
  }

  async until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const deadline = performance.now() + patienceMs;
    while (!(await isSo())) {
      if (performance.now() > deadline) throw new Error(`it took too long until ${what}: ${this.said}`);
      await sleep(50);
    }
  }

  /** The exit code of `reeve run`. */
  async ended(): Promise<number | null> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) await once(this.#child, 'exit');
    return this.#child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended();
    await this.#model[Symbol.asyncDispose]();
    await this.#gateway[Symbol.asyncDispose]();
    rmSync(this.#home, { recursive: true, force: true, maxRetries: 3 });
  }
}
