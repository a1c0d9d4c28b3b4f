import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { eventually } from './eventually.ts';
import type { Exit } from './gateway.ts';
import { reeveCommand } from './reeve-command.ts';

const [program = '', ...before] = reeveCommand;

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The content of standard input. Empty by default. */
  readonly input?: string;
  /** Standard input stays open and empty. */
  readonly keepInputOpen?: true;
}

interface TerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  /** What the shell on the terminal runs afterwards. */
  readonly afterwards?: string;
}

/** A person's machine: its own home folder, and the command. */
export class TestHome {
  readonly path: string;

  constructor(path = mkdtempSync(join(tmpdir(), 'reeve-home-'))) {
    this.path = path;
  }

  get configPath(): string {
    return join(this.path, '.reeve', 'config.yaml');
  }

  get credentialsPath(): string {
    return join(this.path, '.reeve', 'credentials.yaml');
  }

  /** Runs the command to its end. */
  async run(args: readonly string[], options: CliOptions = {}): Promise<Exit> {
    const child = this.start(args, options);
    await child.ended();
    return child.exit();
  }

  /** Runs the command to its end, expects success, and parses its JSON. */
  async json<Data>(args: readonly string[], options: CliOptions = {}): Promise<Data> {
    const { code, stdout, stderr } = await this.run([...args, '--output', 'json'], options);
    if (code !== 0) throw new Error(`reeve ${args.join(' ')} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as Data;
  }

  /** Starts a command that runs until it is stopped. */
  start(args: readonly string[], options: CliOptions = {}): RunningCli {
    const child = spawn(program, [...before, ...args], { env: this.#env(options), stdio: 'pipe' });
    // The command may exit before it has read everything.
    child.stdin.on('error', () => {});
    if (options.keepInputOpen !== true) child.stdin.end(options.input ?? '');
    return new RunningCli(child);
  }

  /** Starts the command on a pseudo-terminal, with Debian's `script`. Both output streams end up in `stdout`. */
  startOnTerminal(args: readonly string[], options: CliOptions & TerminalOptions = {}): RunningCli {
    const { columns = 120, rows = 30, afterwards = 'true' } = options;
    const quoted = [...reeveCommand, ...args].map((arg) => `'${arg.replaceAll("'", `'\\''`)}'`).join(' ');
    const line = `stty cols ${columns} rows ${rows}; ${quoted}; code=$?; ${afterwards}; exit $code`;
    const env = { ...this.#env(options), TERM: 'xterm-256color', SHELL: '/bin/sh' };
    return new RunningCli(spawn('script', ['-qfec', line, '/dev/null'], { env, stdio: 'pipe' }));
  }

  writeConfig(config: unknown): void {
    this.write('config.yaml', typeof config === 'string' ? config : stringify(config));
  }

  writeCredentials(credentials: unknown): void {
    this.write('credentials.yaml', typeof credentials === 'string' ? credentials : stringify(credentials));
  }

  write(name: string, text: string): void {
    mkdirSync(join(this.path, '.reeve'), { recursive: true, mode: 0o700 });
    writeFileSync(join(this.path, '.reeve', name), text, { mode: 0o600 });
  }

  config(): { current_context?: string; contexts: Record<string, { api_url: string; api_key?: string }> } {
    return parse(readFileSync(this.configPath, 'utf8')) as never;
  }

  /** The sessions in the file. */
  sessions(): Record<string, SessionJson> {
    if (!existsSync(this.credentialsPath)) return {};
    return (parse(readFileSync(this.credentialsPath, 'utf8')) as { sessions: Record<string, SessionJson> }).sessions;
  }

  /** The permissions of a file under `.reeve`, or of the folder itself. */
  mode(name = ''): string {
    return (statSync(join(this.path, '.reeve', name)).mode & 0o777).toString(8);
  }

  #env({ env }: CliOptions): NodeJS.ProcessEnv {
    const inherited = Object.entries(process.env).filter(([name]) => !/^(SVC_|REEVE_|NO_COLOR|FORCE_COLOR)/.test(name));
    return { ...Object.fromEntries(inherited), HOME: this.path, ...env };
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

export interface SessionJson {
  readonly token: string;
  readonly expires_at: number;
  readonly scopes: readonly string[];
  readonly source_key: string;
  readonly api_url: string;
}

/** A command that is running. */
export class RunningCli {
  readonly child: ChildProcessWithoutNullStreams;
  stdout = '';
  stderr = '';

  constructor(child: ChildProcessWithoutNullStreams) {
    this.child = child;
    child.stdout.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
  }

  /** Types on the terminal. */
  type(keys: string): void {
    this.child.stdin.write(keys);
  }

  /** Waits until the output matches. */
  async says(pattern: RegExp, stream: 'stdout' | 'stderr' = 'stdout'): Promise<void> {
    await eventually(() => {
      if (!pattern.test(this[stream]))
        throw new Error(`no ${String(pattern)} in: ${this.stdout.slice(-2000)}\n${this.stderr}`);
    }, 400);
  }

  async ended(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'close');
    // The last output may still be in flight.
    const open = [this.child.stdout, this.child.stderr].filter((stream) => !stream.closed);
    await Promise.all(open.map((stream) => once(stream, 'close')));
  }

  exit(): Exit {
    return { code: this.child.exitCode, stdout: this.stdout, stderr: this.stderr };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGKILL');
    await this.ended();
  }
}
