import { describe, expect, test } from 'vitest';
import type { Architecture } from '../seccomp/system-calls.ts';
import { architectures } from '../seccomp/system-calls.ts';
import type { LockRule } from '../landlock/lock-steps.ts';
import { entryProgram, versionProgram } from './entry-program.ts';
import { callNumbers } from './steps.ts';

type Answer = (name: string, args: readonly bigint[], memory: Memory) => bigint;

interface Called {
  readonly name: string;
  readonly args: readonly bigint[];
  /** What a rule of Landlock said when it was added: the next one may stand in its place. */
  readonly rule: readonly bigint[];
}

/** The memory of a program, as the kernel would make it of an executable. */
class Memory {
  readonly #segments: readonly { readonly address: number; readonly flags: number; readonly bytes: Buffer }[];
  readonly entry: number;

  constructor(file: Buffer) {
    expect(file.subarray(0, 4).toString('latin1')).toBe('\u007fELF');
    this.entry = Number(file.readBigUInt64LE(24));
    this.#segments = Array.from({ length: file.readUInt16LE(56) }, (_, index) => 64 + 56 * index)
      .filter((at) => file.readUInt32LE(at) === 1)
      .map((at) => {
        const [offset, address, , length] = [8, 16, 24, 32].map((field) => Number(file.readBigUInt64LE(at + field)));
        expect((address ?? 0) % 0x1_0000).toBe((offset ?? 0) % 0x1_0000);
        const bytes = Buffer.from(file.subarray(offset, (offset ?? 0) + (length ?? 0)));
        return { address: address ?? 0, flags: file.readUInt32LE(at + 4), bytes };
      });
    for (const { flags } of this.#segments) expect(flags & 3, 'written and executed').not.toBe(3);
  }

  at(address: number, forWriting = false): Buffer {
    const found = this.#segments.find((each) => address >= each.address && address < each.address + each.bytes.length);
    if (found === undefined || (forWriting && (found.flags & 2) === 0)) throw new Error(`a fault at ${address}`);
    return found.bytes.subarray(address - found.address);
  }

  text(address: bigint | undefined): string {
    const bytes = this.at(Number(address));
    return bytes.subarray(0, bytes.indexOf(0)).toString();
  }
}

/** Runs a program by the few instructions that it may have, and writes down what it asks the kernel for. */
function run(architecture: Architecture, file: Buffer, answer: Answer): { calls: readonly Called[]; memory: Memory } {
  const memory = new Memory(file);
  const registers = new Map<number, bigint>();
  const value = (register: number) => registers.get(register) ?? 0n;
  const calls: Called[] = [];
  let at = memory.entry;
  const call = (number: number, args: readonly number[]): boolean => {
    const column = architectures[architecture].column;
    const [name = `call ${number}`] =
      Object.entries(callNumbers).find(([, row]) => row[column] === Number(value(number))) ?? [];
    const given = args.map(value);
    const rule = name === 'landlock_add_rule' ? memory.at(Number(given[2])) : undefined;
    calls.push({ name, args: given, rule: rule === undefined ? [] : [0, 8].map((at) => rule.readBigUInt64LE(at)) });
    registers.set(0, BigInt.asUintN(64, answer(name, given, memory)));
    return name === 'exit_group' || (name === 'execve' && BigInt.asIntN(64, value(0)) >= 0n);
  };
  const isLess = (than: number) => BigInt.asIntN(64, value(0)) < BigInt(than);
  const step = architecture === 'x64' ? stepX64 : stepArm64;
  while (!step()) expect(calls.length).toBeLessThan(1000);
  return { calls, memory };

  function stepX64(): boolean {
    const bytes = memory.at(at);
    const [one = 0, two = 0, three = 0] = bytes;
    const high = one === 0x49 ? 8 : 0;
    if ((one === 0x48 || one === 0x49) && two === 0xc7 && three >= 0xc0 && three < 0xc8) {
      registers.set(three - 0xc0 + high, BigInt.asUintN(64, BigInt(bytes.readInt32LE(3))));
      at += 7;
    } else if ((one === 0x48 || one === 0x49) && two === 0x89 && three >= 0xc0) {
      registers.set((three & 7) + high, value((three >> 3) & 7));
      at += 3;
    } else if (one === 0x89 && two < 0x40) {
      memory.at(Number(value(two & 7)), true).writeUInt32LE(Number(BigInt.asUintN(32, value(two >> 3))));
      at += 2;
    } else if (one === 0x48 && two === 0x83 && three === 0xf8 && bytes[4] === 0x0f) {
      expect([0x8c, 0x8d]).toContain(bytes[5]);
      at += 10 + (isLess(bytes.readInt8(3)) === (bytes[5] === 0x8c) ? bytes.readInt32LE(6) : 0);
    } else if (bytes.subarray(0, 19).toString('hex') === '488b7c2410488d742410488b0424488d54c410') {
      at += 19;
    } else if (one === 0x0f && two === 0x05) {
      at += 2;
      return call(0, [7, 6, 2, 10]);
    } else throw new Error(`instruction ${bytes.subarray(0, 10).toString('hex')}`);
    return false;
  }

  function stepArm64(): boolean {
    const bytes = memory.at(at);
    const word = bytes.readUInt32LE(0);
    const target = word & 31;
    at += 4;
    if (word >>> 23 === 0x1a5) registers.set(target, BigInt((word >>> 5) & 0xffff));
    else if (word >>> 23 === 0x1e5) {
      const shift = BigInt(16 * ((word >>> 21) & 3));
      registers.set(target, (value(target) & ~(0xffffn << shift)) | (BigInt((word >>> 5) & 0xffff) << shift));
    } else if ((word & 0xffe0_ffe0) >>> 0 === 0xaa00_03e0) registers.set(target, value((word >>> 16) & 31));
    else if ((word & 0xffff_fc00) >>> 0 === 0xb900_0000)
      memory.at(Number(value((word >>> 5) & 31)), true).writeUInt32LE(Number(BigInt.asUintN(32, value(target))));
    else if ((word & 0xffc0_03ff) >>> 0 === 0xf100_001f) {
      const jump = bytes.readUInt32LE(4);
      expect([0x5400_000a, 0x5400_000b]).toContain((jump & 0xff00_001f) >>> 0);
      const isTaken = isLess((word >>> 10) & 0xfff) === (jump & 1) > 0;
      at += 4 + (isTaken ? 4 * ((jump >>> 5) & 0x3_ffff) - 4 : 0);
    } else if (bytes.subarray(0, 16).toString('hex') === 'e00b40f9e1430091e20340f9220c028b') at += 12;
    else if (word === 0xd400_0001) return call(8, [0, 1, 2, 3]);
    else throw new Error(`instruction ${word.toString(16)}`);
    return false;
  }
}

const rules: readonly LockRule[] = [
  { path: '/', use: 'list', isFolder: true, isNeeded: true },
  { path: '/srv/pröject', use: 'change', isFolder: true, isNeeded: true },
  { path: '/file', use: 'change', isFolder: false, isNeeded: false },
];

const isQuestion = (name: string, args: readonly bigint[]) => name === 'landlock_create_ruleset' && args[0] === 0n;

/** A kernel that has all of it, with descriptors from 5 on, but for what these calls answer. */
function kernel(but: (name: string, path: string) => bigint | undefined = () => undefined, version = 7n): Answer {
  let next = 5n;
  return (name, args, memory) => {
    if (isQuestion(name, args)) return version;
    const path = name === 'openat2' ? memory.text(args[1]) : '';
    if (name === 'socket') return but(name, path) ?? 40n;
    return but(name, path) ?? (name === 'openat2' || name === 'landlock_create_ruleset' ? next++ : 0n);
  };
}

const errors = { EPERM: -1n, ENOENT: -2n, EBADFD: -77n } as const;

describe.each(['x64', 'arm64'] as const)('the first program inside, on %s', (architecture) => {
  const locked = (but?: Parameters<typeof kernel>[0]) =>
    run(architecture, entryProgram(architecture, { rules, signals: [2, 15] }), kernel(but));
  const names = (calls: readonly Called[]) => calls.map(({ name }) => name);
  const allowed = { open: ['openat2', 'landlock_add_rule', 'close'] };
  const handedOver = ['socket', 'bind', 'listen', 'sendmsg', 'close'];

  test('asks for what its rules say, takes its file away, and becomes the other program', () => {
    const { calls, memory } = locked();
    const numbersAt = (address: bigint | undefined, count: number) =>
      Array.from({ length: count }, (_, index) => memory.at(Number(address)).readBigUInt64LE(8 * index));
    expect(names(calls)).toEqual([
      'unlinkat',
      'landlock_create_ruleset',
      'landlock_create_ruleset',
      ...Array.from({ length: rules.length + 3 }, () => allowed.open).flat(),
      'landlock_restrict_self',
      ...handedOver,
      ...handedOver,
      'rt_sigaction',
      'rt_sigaction',
      'execve',
    ]);
    const opened = calls.filter(({ name }) => name === 'openat2').map(({ args }) => args);
    const [fromHere, pathOnly, noLinks] = [BigInt.asUintN(64, -100n), 0x28_0000n, 4n];
    expect(opened.map(([folder, path, how]) => [folder, memory.text(path), ...numbersAt(how, 3)])).toEqual([
      ...rules.map(({ path }) => [fromHere, path, pathOnly, 0n, noLinks]),
      ...[0, 1, 9].map((stream) => [fromHere, `/proc/self/fd/${stream}`, pathOnly, 0n, 0n]),
    ]);
    expect(calls[1]?.args.slice(0, 3)).toEqual([0n, 0n, 1n]);
    expect(numbersAt(calls[2]?.args[0], 3)).toEqual([0xffffn, 0n, 3n]);
    const added = calls.filter(({ name }) => name === 'landlock_add_rule');
    const ofFiles = 0xc007n;
    expect(added.map(({ args, rule }) => [...args.slice(0, 2), ...rule])).toEqual([
      [5n, 1n, 8n, 6n],
      [5n, 1n, 0xffffn, 7n],
      ...[8n, 9n, 10n, 11n].map((descriptor) => [5n, 1n, ofFiles, descriptor]),
    ]);
    const locking = calls.find(({ name }) => name === 'landlock_restrict_self');
    expect(locking?.args.slice(0, 2)).toEqual([5n, 0n]);
  });

  test('listens on both addresses, hands the sockets over as Node would, and lets signals through again', () => {
    const { calls, memory } = locked();
    const of = (wanted: string) => calls.filter(({ name }) => name === wanted).map(({ args }) => args);
    const socket = 40n;
    expect(of('socket').map((args) => args.slice(0, 3))).toEqual([1, 2].map(() => [2n, 0x8_0801n, 0n]));
    expect(of('bind').map(([by, address, length]) => [by, bytesAt(address, Number(length)).toString('hex')])).toEqual([
      [socket, '02004ea07f0000020000000000000000'],
      [socket, '02004e9f7f0000020000000000000000'],
    ]);
    expect(of('listen').map((args) => args.slice(0, 2))).toEqual([1, 2].map(() => [socket, 511n]));
    const sent = of('sendmsg').map(([channel, message, flags]) => {
      expect([channel, flags]).toEqual([6n, 0x4000n]);
      const header = bytesAt(message, 56);
      const at = (offset: number) => header.readBigUInt64LE(offset);
      expect([0, 8, 24, 40, 48].map(at)).toEqual([0n, 0n, 1n, 24n, 0n]);
      const part = bytesAt(at(16), 16);
      const beside = bytesAt(at(32), 24);
      expect([beside.readBigUInt64LE(0), beside.readBigUInt64LE(8), beside.readBigUInt64LE(16)]).toEqual([
        20n,
        0x1_0000_0001n,
        socket,
      ]);
      return bytesAt(part.readBigUInt64LE(0), Number(part.readBigUInt64LE(8))).toString();
    });
    expect(sent).toEqual(
      ['proxy', 'gateway'].map((msg) => `${JSON.stringify({ cmd: 'NODE_HANDLE', type: 'net.Server', msg })}\n`),
    );
    expect(of('rt_sigaction').map(([number, action, , size]) => [number, bytesAt(action, 32), size])).toEqual(
      [2n, 15n].map((number) => [number, Buffer.alloc(32), 8n]),
    );

    function bytesAt(address: bigint | undefined, length: number): Buffer {
      return memory.at(Number(address)).subarray(0, length);
    }
  });

  test.each([
    ['has none', -38n],
    ['has it switched off', -95n],
    ['lets nothing be moved under it', 1n],
  ])('does without the lock where the kernel %s', (_, version) => {
    const { calls } = run(architecture, entryProgram(architecture, { rules, signals: [] }), kernel(undefined, version));
    expect(names(calls)).toEqual(['unlinkat', 'landlock_create_ruleset', ...handedOver, ...handedOver, 'execve']);
  });

  test.each<[string, Parameters<typeof kernel>[0]]>([
    ['the lock cannot be made', (name) => (name === 'landlock_create_ruleset' ? errors.EPERM : undefined)],
    ['a path that is needed is not there', (_, path) => (path === '/srv/pröject' ? errors.ENOENT : undefined)],
    ['the lock is refused', (name) => (name === 'landlock_restrict_self' ? errors.EPERM : undefined)],
    ['there is no socket', (name) => (name === 'socket' ? errors.EPERM : undefined)],
    ['an address is in use', (name) => (name === 'bind' ? errors.EPERM : undefined)],
    ['nobody listens', (name) => (name === 'listen' ? errors.EPERM : undefined)],
    ['nobody takes the sockets', (name) => (name === 'sendmsg' ? errors.EPERM : undefined)],
    ['the other program cannot be executed', (name) => (name === 'execve' ? errors.ENOENT : undefined)],
  ])('does not go on if %s', (_, but) => {
    const { calls, memory } = locked(but);
    expect(names(calls).slice(-2)).toEqual(['write', 'exit_group']);
    const [stream, text, length] = calls.at(-2)?.args ?? [];
    expect([stream, Number(length)]).toEqual([2n, memory.text(text).length]);
    expect(calls.at(-1)?.args[0]).toBe(125n);
  });

  test('goes on without a rule for what is gone, or is no file', () => {
    const { calls } = locked((_, path) => (path === '/file' || path.startsWith('/proc') ? errors.ENOENT : undefined));
    expect(calls.filter(({ name }) => name === 'landlock_add_rule')).toHaveLength(2);
    expect(calls.at(-1)?.name).toBe('execve');
    let adding = 0;
    const pipes = locked((name) => (name === 'landlock_add_rule' && ++adding > 2 ? errors.EBADFD : undefined));
    const added = names(pipes.calls);
    expect(added.slice(0, added.indexOf('landlock_restrict_self')).slice(-3)).toEqual(allowed.open);
    expect(added.at(-1)).toBe('execve');
  });

  test.each([
    [2, 0x3fffn, 0n],
    [3, 0x7fffn, 0n],
    [4, 0x7fffn, 0n],
    [5, 0xffffn, 0n],
    [6, 0xffffn, 3n],
    [9, 0xffffn, 3n],
  ])('asks version %i for nothing that it does not know', (version, rights, scopes) => {
    const { calls, memory } = run(
      architecture,
      entryProgram(architecture, { rules, signals: [] }),
      kernel(undefined, BigInt(version)),
    );
    const ruleset = memory.at(Number(calls[2]?.args[0]));
    expect([ruleset.readBigUInt64LE(0), ruleset.readBigUInt64LE(16)]).toEqual([rights, scopes]);
    const [, second] = calls.filter(({ name }) => name === 'landlock_add_rule');
    expect(second?.rule[0]).toBe(rights);
  });

  test('another one ends with the version', () => {
    const { calls } = run(architecture, versionProgram(architecture), () => 7n);
    expect(calls.map(({ name, args }) => [name, ...args.slice(0, 3)])).toEqual([
      ['landlock_create_ruleset', 0n, 0n, 1n],
      ['exit_group', 7n, 0n, 1n],
    ]);
  });
});
