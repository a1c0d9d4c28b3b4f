import type { ChildProcess } from 'node:child_process';
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { FloorError } from '../floor-error.ts';

const nullDevice = 0x103;
const closeOnExec = 0o2_000_000;

/** Descriptors beyond the standard ones that this process inherited and a child would get, too. */
export function inheritedDescriptors(): readonly number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => descriptor > 2 && isPassedOn(descriptor));
}

function isPassedOn(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    return false;
  }
}

/**
 * How the program gets a standard stream. A terminal, pipe or socket it gets as it is. From a file or folder it could
 * open more than the stream was opened for, so such a stream is relayed through a pipe.
 */
export function handoverOf(descriptor: number): 'as it is' | 'relayed' | 'none' {
  try {
    const stat = fstatSync(descriptor);
    if (stat.isCharacterDevice() && stat.rdev === nullDevice) return 'none';
    return isatty(descriptor) || stat.isFIFO() || stat.isSocket() ? 'as it is' : 'relayed';
  } catch {
    return 'none';
  }
}

/** A pipe of the kernel, which Node does not offer by itself. */
export interface Pipe {
  readonly reader: number;
  readonly writer: number;
}

/** Makes pipes without names. */
export function openPipes(count: number): readonly Pipe[] {
  if (count === 0) return [];
  return inFolder((folder) => {
    const names = Array.from({ length: count }, (_, index) => join(folder, `pipe-${index}`));
    // Never from the search path: a program may have left one of that name in the project.
    const mkfifo = ['/usr/bin/mkfifo', '/bin/mkfifo', '/run/current-system/sw/bin/mkfifo'].find((path) =>
      existsSync(path),
    );
    if (mkfifo === undefined || spawnSync(mkfifo, ['-m', '600', ...names], { stdio: 'ignore' }).status !== 0) {
      throw new FloorError('mkfifo (coreutils) does not work here; it makes the pipes of the program');
    }
    return names.map(openPipe);
  });
}

/** Writes all that a child is to read from a descriptor, which was made as a pipe, and ends it. */
export function give({ stdio }: Pick<ChildProcess, 'stdio'>, descriptor: number, content: Buffer | string): void {
  const stream = stdio[descriptor];
  // Why it does not read, the child says itself.
  if (stream instanceof Writable) stream.on('error', () => {}).end(content);
}

function inFolder<Made>(make: (folder: string) => Made): Made {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-run-'));
  try {
    return make(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Opened for both, it waits for nobody; then each end finds the other. */
function openPipe(path: string): Pipe {
  const both = openSync(path, constants.O_RDWR);
  const pipe = { reader: openSync(path, 'r'), writer: openSync(path, 'w') };
  closeSync(both);
  return pipe;
}
