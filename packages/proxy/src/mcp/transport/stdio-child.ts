import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Message } from '../protocol/message.ts';
import { longestMessage, parseMessage } from '../protocol/message.ts';
import { LineSplitter } from './line-splitter.ts';
import { UpstreamGone } from './upstream.ts';
import { written } from './written.ts';

/** How to start a server that speaks on its standard input and output. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
}

export interface ChildEvents {
  /** Resolves when there is room for more. */
  message(message: Message): Promise<void>;
  gone(why: UpstreamGone): void;
  /** The server writes what is no message. Called once. */
  noise(): void;
}

/** How long a server may take to end by itself, and then to end when it is told to. */
const lastOutputMs = 500;
const politeMs = 2000;
const firmMs = 5000;

const groups = new Set<number>();

/** A server in a process group of its own, which ends with it. */
export class StdioChild {
  readonly #child: ChildProcess;
  readonly #events: ChildEvents;
  readonly #name: string;
  readonly #ended: Promise<void>;
  #isGone = false;
  #isClosing = false;
  #saidNoise = false;

  constructor({ command, args, env, cwd }: ServerCommand, events: ChildEvents) {
    this.#events = events;
    this.#name = command;
    this.#child = spawn(command, [...args], {
      env: { ...env },
      cwd,
      detached: true,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const { pid, stdin } = this.#child;
    if (pid !== undefined) remember(pid);
    // A server that has ended does not read. Its end says more.
    stdin?.on('error', () => {});
    const read = this.#read();
    this.#ended = this.#end(read);
  }

  async send(message: Message): Promise<void> {
    if (this.#child.stdin !== null && !this.#isGone) await written(this.#child.stdin, `${message.text}\n`);
  }

  kill(signal: NodeJS.Signals): void {
    if (this.#child.pid !== undefined && !this.#isGone) killGroup(this.#child.pid, signal);
  }

  /** Asks the server to end: by the end of its input, then by a signal, then by force. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#child.stdin?.end();
    if (await this.#endsWithin(politeMs)) return;
    this.kill('SIGTERM');
    if (await this.#endsWithin(firmMs)) return;
    this.kill('SIGKILL');
    await this.#ended;
  }

  async #endsWithin(ms: number): Promise<boolean> {
    const patience = new AbortController();
    const late = sleep(ms, false, { signal: patience.signal }).catch(() => false);
    const inTime = await Promise.race([this.#ended.then(() => true), late]);
    patience.abort();
    return inTime;
  }

  async #read(): Promise<void> {
    if (this.#child.stdout === null) return;
    const lines = new LineSplitter(longestMessage);
    try {
      for await (const chunk of this.#child.stdout) {
        for (const line of lines.push(chunk as Buffer)) await this.#take(line);
      }
    } catch (error) {
      this.#lose(new UpstreamGone(`the MCP server cannot be read: ${error instanceof Error ? error.message : ''}`));
      this.kill('SIGKILL');
    }
  }

  async #take(line: string | undefined): Promise<void> {
    if (this.#isGone || line === '') return;
    if (line === undefined) {
      this.#lose(new UpstreamGone(`the MCP server sent a message of more than ${longestMessage} bytes`));
      this.kill('SIGKILL');
      return;
    }
    const message = parseMessage(line);
    if (message !== undefined) await this.#events.message(message);
    else if (!this.#saidNoise) {
      this.#saidNoise = true;
      this.#events.noise();
    }
  }

  async #end(read: Promise<void>): Promise<void> {
    const why = await new Promise<UpstreamGone>((resolve) => {
      this.#child.once('error', (error: NodeJS.ErrnoException) => {
        if (this.#child.pid !== undefined) return;
        resolve(new UpstreamGone(`the MCP server ${this.#name} cannot be started: ${error.code ?? error.message}`));
      });
      this.#child.once('exit', (code, signal) => resolve(endOf(code, signal)));
    });
    if (this.#child.pid !== undefined) {
      // What the server said last is still on its way. A grandchild may hold the pipe open.
      const patience = new AbortController();
      await Promise.race([read, sleep(lastOutputMs, undefined, { signal: patience.signal }).catch(() => {})]);
      patience.abort();
      killGroup(this.#child.pid, 'SIGKILL');
      groups.delete(this.#child.pid);
      this.#isGone = this.#isGone || this.#isClosing;
      this.#child.stdout?.destroy();
    }
    this.#lose(why);
  }

  #lose(why: UpstreamGone): void {
    if (this.#isGone) return;
    this.#isGone = true;
    if (!this.#isClosing) this.#events.gone(why);
  }
}

function endOf(code: number | null, signal: NodeJS.Signals | null): UpstreamGone {
  if (signal !== null) return new UpstreamGone(`the MCP server was ended by ${signal}`);
  return new UpstreamGone(`the MCP server has ended with exit code ${code ?? 0}`, code === 0);
}

/** Whatever ends this process, its servers do not stay behind. */
function remember(pid: number): void {
  if (groups.size === 0) {
    process.off('exit', killAll);
    process.on('exit', killAll);
  }
  groups.add(pid);
}

function killAll(): void {
  for (const pid of groups) killGroup(pid, 'SIGKILL');
}

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody is left in the group.
  }
}
