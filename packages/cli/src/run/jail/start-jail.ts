import type { ChildProcess, IOType } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { Server } from 'node:net';
import { constants } from 'node:os';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject } from '../../is-object.ts';
import { signal } from '../kernel/signal.ts';
import { followProcess } from '../kernel/process-table.ts';
import { FloorError, floorExits } from '../floor-error.ts';
import type { InsideName } from '../network/inside-ports.ts';
import { insidePorts } from '../network/inside-ports.ts';
import { descriptors, entryPath } from './bubblewrap-line.ts';
import { give, handoverOf, inheritedDescriptors, openPipes } from './descriptors.ts';
import { heededSignals } from './group-signals.ts';
import { closeEnds, InputRelay, relayOutput } from './relay-streams.ts';

const roundMs = 2;
const longestWords = 4096;
const lastWordsMs = 200;

export interface JailRequest {
  readonly bubblewrap: string;
  readonly line: readonly string[];
  readonly command: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** Bubblewrap is started first: it takes longer until it reads them than they take to be made. */
  readonly filter: () => Buffer;
  /** The first program inside. */
  readonly entry: () => Buffer;
  /** Whether the program shares the terminal, and so the group of processes that it belongs to. */
  readonly onTerminal: boolean;
}

export interface Jail {
  /** The number of the first process of its pid namespace, seen from here. */
  readonly first: number;
  /** Lets the jail be made to its end. */
  build(): void;
  /** The sockets that listen inside, once nothing but the program is left to be started. Rejects if that cannot be. */
  readonly ready: Promise<InsideSockets>;
  /** Lets the program begin. */
  begin(): void;
  /** Continues bubblewrap, which waits outside of the jail and may have been stopped with a group of it. */
  wake(this: void): void;
  /** Has the kernel kill the first process, and all others with it. */
  kill(): void;
  /** The exit code, once no process of it is left. Undefined if the program could not be executed. */
  readonly ended: Promise<number | undefined>;
}

export type InsideSockets = ReadonlyMap<InsideName, Server>;

/** Makes the jail. The program waits in it until `begin`. */
export async function startJail(request: JailRequest): Promise<Jail> {
  const { folder, env, filter, entry, onTerminal } = request;
  const handovers = [0, 1, 2].map(handoverOf);
  const inherited = inheritedDescriptors();
  const relayed = [0, 1, 2].filter((stream) => handovers[stream] === 'relayed');
  const pipes = openPipes(relayed.length);
  const pipeOf = (stream: number) => pipes[relayed.indexOf(stream)];
  const theirEnd = (stream: number) => (stream === 0 ? pipeOf(stream)?.reader : pipeOf(stream)?.writer);
  const nothing = openSync('/dev/null', 'r+');
  const stdio: (IOType | 'ipc' | number)[] = handovers.map((handover, stream) =>
    handover === 'as it is' ? stream : (theirEnd(stream) ?? nothing),
  );
  const [, , stderr = nothing] = stdio;
  for (const descriptor of [2, ...Object.values(descriptors)]) stdio[descriptor] = 'pipe';
  stdio[descriptors.handover] = 'ipc';
  stdio[descriptors.stderr] = stderr;
  // What this process inherited is replaced, so that the program does not get it.
  for (let descriptor = stdio.length; descriptor <= Math.max(...inherited, 0); descriptor++) {
    stdio.push(inherited.includes(descriptor) ? nothing : 'ignore');
  }
  const [program, ...words] = jailedCommand(request);
  const child = started(() => spawn(program, words, { cwd: folder, env, stdio, detached: !onTerminal }));
  const gone = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  gone.catch(() => {});
  const status = statusOf(child);
  const failed = failureOf(child, gone);
  const ready = Promise.race([socketsOf(child, gone), failed]);
  ready.catch(() => {});
  try {
    give(child, descriptors.filter, filter());
    give(child, descriptors.entry, entry());
  } catch (error) {
    // It would wait for them for good.
    child.kill('SIGKILL');
    throw error;
  }
  closeEnds([nothing, ...relayed.flatMap((stream) => theirEnd(stream) ?? [])]);
  const outputs = relayed.flatMap((stream) => {
    const pipe = pipeOf(stream);
    return pipe === undefined || stream === 0 ? [] : [relayOutput(pipe, stream)];
  });
  const input = new InputRelay(0, pipeOf(0));
  const leaveInput = () => input.leave();
  gone.then(leaveInput, leaveInput);
  const first = await Promise.race([status.first, failed]);
  const entryOfFirst = followProcess(first);
  const isThere = () => entryOfFirst()?.isOver === false;
  const wake = () => void child.kill('SIGCONT');
  const kill = () => {
    if (isThere()) signal(first, 'SIGKILL');
    wake();
  };
  const ended = gone.then(async ([, by]) => {
    // Bubblewrap ends with the program. The first process is over only when the kernel has ended all others.
    for (kill(); isThere(); kill()) await sleep(roundMs);
    await Promise.all(outputs);
    return (await status.exitCode) ?? (by === null ? undefined : 128 + constants.signals[by]);
  });
  const build = () => give(child, descriptors.gate, '.');
  const begin = () => {
    input.begin();
    give(child, descriptors.go, 'go\n');
  };
  return { first, build, ready, begin, wake, kill, ended };
}

/** The kernel takes so many bytes of words, and of variables of the environment. */
function started(start: () => ChildProcess): ChildProcess {
  try {
    return start();
  } catch (error) {
    if (!isObject(error) || error['code'] !== 'E2BIG') throw error;
    throw new FloorError('the names to hold, the command and its environment are longer than the kernel takes', {
      cause: error,
    });
  }
}

const readyWord = 'ready';

/** More processes and threads than this a jail does not have. The freezer counts on some limit. */
const mostProcesses = 8192;

/**
 * What bubblewrap is started with. It shares a group of processes with the program, and with it the signals that a terminal
 * or the program sends to the group. It ignores them, and the program gets them back as they were.
 */
function jailedCommand({ bubblewrap, line, command }: JailRequest): readonly [string, ...string[]] {
  const inside = [entryPath, '/bin/sh', '-c', waitFirst, 'sh', ...command];
  // One shell has the one name for the limit, another the other. A lower limit stays.
  const limit = `ulimit -u ${mostProcesses} 2>/dev/null || ulimit -p ${mostProcesses} 2>/dev/null`;
  const names = heededSignals.map((name) => name.slice('SIG'.length));
  const script = `${limit}; ${names.length === 0 ? '' : `trap '' ${names.join(' ')}; `}exec "$@"`;
  return ['/bin/sh', '-c', script, 'sh', bubblewrap, ...line, '--', ...inside];
}

/**
 * Inside, once the sockets are handed over: the program gets no way to do so. It waits for a word from outside: the gateway may
 * not have answered yet, and what limits the program would have been too little for what came before. If nobody is left to say
 * the word, it does not begin.
 */
const waitFirst = [
  `exec 2>&${descriptors.stderr} ${descriptors.stderr}>&-`,
  `echo '"${readyWord}"' >&${descriptors.handover}`,
  `read -r word <&${descriptors.go} || exit ${floorExits.refused}`,
  'unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE',
  `exec ${descriptors.handover}>&- ${descriptors.go}>&-`,
  'exec "$@"',
].join('; ');

/** Takes each socket once. Whatever else comes by this way is left alone. It ends inside, once they have arrived here. */
function socketsOf(child: ChildProcess, gone: Promise<unknown>): Promise<InsideSockets> {
  const { promise, resolve } = Promise.withResolvers<InsideSockets>();
  const expected = new Set<unknown>(Object.keys(insidePorts));
  const sockets = new Map<InsideName, Server>();
  let isOver = false;
  const close = () => {
    isOver = true;
    for (const server of sockets.values()) server.close();
  };
  gone.then(close, close);
  child.on('message', (name, server) => {
    if (name === readyWord && expected.size === 0 && child.connected) {
      child.disconnect();
      resolve(sockets);
    }
    if (!(server instanceof Server)) return;
    if (isOver || !expected.delete(name)) server.close();
    else sockets.set(name as InsideName, server);
  });
  return promise;
}

/** Rejects once bubblewrap has ended, with the last that was said of a jail that cannot be made. */
async function failureOf({ stdio: [, , said] }: ChildProcess, gone: Promise<unknown>): Promise<never> {
  let text = '';
  const over = said instanceof Readable ? once(said.setEncoding('utf8'), 'close').catch(() => {}) : undefined;
  said?.on('data', (chunk: string) => (text = (text + chunk).slice(-longestWords)));
  await gone;
  await Promise.race([over, sleep(lastWordsMs, undefined, { ref: false })]);
  const why = text.trim().split('\n').at(-1) || 'bubblewrap could not make the jail';
  throw new FloorError(`${why}; "reeve run --doctor" says more`);
}

/** What bubblewrap says: a line when the jail is made, and one when its program has ended. */
function statusOf(child: ChildProcess): {
  readonly first: Promise<number>;
  readonly exitCode: Promise<number | undefined>;
} {
  const first = Promise.withResolvers<number>();
  const stream = child.stdio[descriptors.status] as Readable;
  let text = '';
  let exitCode: number | undefined;
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (text + chunk).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      const said: unknown = JSON.parse(line);
      if (!isObject(said)) continue;
      if (typeof said['child-pid'] === 'number') first.resolve(said['child-pid']);
      if (typeof said['exit-code'] === 'number') exitCode = said['exit-code'];
    }
  });
  return { first: first.promise, exitCode: once(stream, 'close').then(() => exitCode) };
}
