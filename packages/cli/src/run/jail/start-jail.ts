import type { ChildProcess, IOType } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { Server } from 'node:net';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
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
import { closeEnds, relayInput, relayOutput } from './relay-streams.ts';

const roundMs = 2;

export interface JailRequest {
  readonly bubblewrap: string;
  readonly line: readonly string[];
  readonly command: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly filter: Buffer;
  /** The first program inside. */
  readonly entry: Buffer;
  /** Whether the program shares the terminal, and so the group of processes that it belongs to. */
  readonly onTerminal: boolean;
  /** Takes over a socket that listens inside. */
  readonly onListening: (name: InsideName, server: Server) => void;
  /** Called when nothing but the program is left to be started. If it says no, the program does not start. */
  readonly onReady: () => boolean;
}

export interface Jail {
  /** The number of the first process of its pid namespace, seen from here. */
  readonly first: number;
  /** Lets the program begin. */
  begin(): void;
  /** Continues bubblewrap, which waits outside of the jail and may have been stopped with a group of it. */
  wake(this: void): void;
  /** Has the kernel kill the first process, and all others with it. */
  kill(): void;
  /** The exit code, once no process of it is left. Undefined if the program could not be executed. */
  readonly ended: Promise<number | undefined>;
}

/** Makes the jail. The program waits in it until `begin`. */
export async function startJail(request: JailRequest): Promise<Jail> {
  const { folder, env, filter, entry, onTerminal } = request;
  const handovers = [0, 1, 2].map(handoverOf);
  const inherited = inheritedDescriptors();
  const relayed = [0, 1, 2].filter((stream) => handovers[stream] === 'relayed');
  const pipes = openPipes(relayed.length);
  const pipeOf = (stream: number) => pipes[relayed.indexOf(stream)];
  const theirEnd = (stream: number) => (stream === 0 ? pipeOf(stream)?.reader : pipeOf(stream)?.writer);
  const stdio: (IOType | 'ipc' | number)[] = handovers.map((handover, stream) =>
    handover === 'as it is' ? 'inherit' : (theirEnd(stream) ?? 'ignore'),
  );
  for (const descriptor of Object.values(descriptors)) stdio[descriptor] = 'pipe';
  stdio[descriptors.handover] = 'ipc';
  // What this process inherited is replaced, so that the program does not get it.
  const nothing = openSync('/dev/null', 'r');
  for (let descriptor = stdio.length; descriptor <= Math.max(...inherited, 0); descriptor++) {
    stdio.push(inherited.includes(descriptor) ? nothing : 'ignore');
  }
  const [program, ...words] = jailedCommand(request);
  const child = spawn(program, words, { cwd: folder, env, stdio, detached: !onTerminal });
  const gone = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  gone.catch(() => {});
  const status = statusOf(child);
  give(child, descriptors.filter, filter);
  give(child, descriptors.entry, entry);
  takeSockets(child, request, () => give(child, descriptors.go, 'go\n'));
  closeEnds([nothing, ...relayed.flatMap((stream) => theirEnd(stream) ?? [])]);
  const outputs = relayed.flatMap((stream) => {
    const pipe = pipeOf(stream);
    if (pipe === undefined) return [];
    if (stream > 0) return [relayOutput(pipe, stream)];
    relayInput(stream, pipe);
    return [];
  });
  const first = await Promise.race([status.first, gone.then(() => undefined)]);
  if (first === undefined) throw new FloorError('bubblewrap could not make the jail; "reeve run --doctor" says more');
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
  return { first, begin: () => give(child, descriptors.gate, '.'), wake, kill, ended };
}

const ready = 'ready';

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
 * Inside, once the sockets are handed over: the program gets no way to do so. It waits for a word from outside: what limits the
 * program would have been too little for what came before. If nobody is left to say the word, it does not begin.
 */
const waitFirst = [
  `echo '"${ready}"' >&${descriptors.handover}`,
  `read -r word <&${descriptors.go} || exit ${floorExits.refused}`,
  'unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE',
  `exec ${descriptors.handover}>&- ${descriptors.go}>&-`,
  'exec "$@"',
].join('; ');

/** Takes each socket once. Whatever else comes by this way is left alone. It ends inside, once they have arrived here. */
function takeSockets(child: ChildProcess, { onListening, onReady }: JailRequest, go: () => void): void {
  const expected = new Set<unknown>(Object.keys(insidePorts));
  child.on('message', (name, server) => {
    if (name === ready && expected.size === 0 && child.connected) {
      child.disconnect();
      if (onReady()) go();
      else child.kill('SIGKILL');
    }
    if (!expected.delete(name) || !(server instanceof Server)) return;
    onListening(name as InsideName, server);
  });
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
