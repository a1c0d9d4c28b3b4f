import { describe, expect, test } from 'vitest';
import { floorFilter } from './filter.ts';
import type { Architecture } from './system-calls.ts';
import { absentCalls, architectures, judgedCalls, numberOf, refusedCalls } from './system-calls.ts';

const allow = 0x7fff_0000;
const kill = 0x8000_0000;
const errors = { EPERM: 0x0005_0001, ENOSYS: 0x0005_0026, EAFNOSUPPORT: 0x0005_0061 };

/** What the kernel would answer: an interpreter of its own for the few instructions that filters have. */
function judge(filter: Buffer, architecture: number, call: number, args: readonly bigint[] = []): number {
  const record = Buffer.alloc(64);
  record.writeUInt32LE(call >>> 0, 0);
  record.writeUInt32LE(architecture, 4);
  for (const [index, value] of args.entries()) record.writeBigUInt64LE(BigInt.asUintN(64, value), 16 + 8 * index);
  let accumulator = 0;
  for (let at = 0; at < filter.length / 8; at++) {
    const code = filter.readUInt16LE(at * 8);
    const value = filter.readUInt32LE(at * 8 + 4);
    const jump = (holds: boolean) => (at += filter.readUInt8(at * 8 + (holds ? 2 : 3)));
    if (code === 0x20) accumulator = record.readUInt32LE(value);
    else if (code === 0x54) accumulator = (accumulator & value) >>> 0;
    else if (code === 0x15) jump(accumulator === value);
    else if (code === 0x35) jump(accumulator >= value);
    else if (code === 0x45) jump((accumulator & value) !== 0);
    else if (code === 0x06) return value;
    else throw new Error(`instruction ${code}`);
  }
  throw new Error('the filter gives no answer');
}

describe.each(['x64', 'arm64'] as const)('the filter for %s', (architecture: Architecture) => {
  const filter = floorFilter(architecture);
  const { audit } = architectures[architecture];
  const ask = (call: number | undefined, ...args: readonly bigint[]) => judge(filter, audit, call ?? -1, args);
  const judged = (name: keyof typeof judgedCalls, ...args: readonly bigint[]) =>
    ask(numberOf(judgedCalls[name], architecture), ...args);

  test.each(Object.entries(refusedCalls))('refuses %s', (_, numbers) => {
    const number = numberOf(numbers, architecture);
    if (number !== undefined) expect(ask(number)).toBe(errors.EPERM);
  });

  test.each(Object.entries(absentCalls))('is without %s', (_, numbers) => {
    expect(ask(numberOf(numbers, architecture))).toBe(errors.ENOSYS);
  });

  test('lets through what programs live on', () => {
    const usual = architecture === 'x64' ? [0, 1, 2, 9, 59, 60, 202, 257, 334] : [56, 63, 64, 93, 98, 221, 222];
    expect(usual.map((call) => ask(call))).toEqual(usual.map(() => allow));
  });

  test('kills what calls as another architecture, and knows no call of x32 or of later kernels', () => {
    const others = [0x4000_0003, 0x4000_0028, ...Object.values(architectures).map((each) => each.audit)];
    for (const other of others.filter((each) => each !== audit)) expect(judge(filter, other, 0)).toBe(kill);
    expect([0x4000_0000, 0x4000_0065, 470, 1000, 0xffff_ffff].map((call) => ask(call))).toEqual(
      Array.from({ length: 5 }, () => errors.ENOSYS),
    );
  });

  test('makes no namespaces', () => {
    for (const bit of [0x2_0000n, 0x200_0000n, 0x400_0000n, 0x800_0000n, 0x1000_0000n, 0x2000_0000n, 0x4000_0000n]) {
      expect([judged('clone', bit | 17n), judged('unshare', bit)]).toEqual([errors.EPERM, errors.EPERM]);
    }
    expect(judged('unshare', 0x80n)).toBe(errors.EPERM);
    // What ends falls to the first process of the namespace, and to nobody else.
    expect([judged('clone', 0x8000n | 17n), judged('prctl', 36n, 1n)]).toEqual([errors.EPERM, errors.EPERM]);
    // A thread, and a process.
    expect([judged('clone', 0x3d_0f00n), judged('clone', 17n), judged('unshare', 0x400n)]).toEqual([
      allow,
      allow,
      allow,
    ]);
  });

  test('puts nothing into the terminal, whatever stands in the upper half of the argument', () => {
    for (const call of [0x5412n, 0x541cn, 0x541dn, 0x5423n]) {
      expect([judged('ioctl', 0n, call), judged('ioctl', 0n, call | (1n << 32n))]).toEqual([
        errors.EPERM,
        errors.EPERM,
      ]);
    }
    expect(judged('ioctl', 0n, 0x5413n)).toBe(allow);
  });

  test('has sockets of four families, and none that is raw', () => {
    const types = { stream: 1n, datagram: 2n, raw: 3n, packet: 10n };
    for (const family of [1n, 2n, 10n, 16n]) expect(judged('socket', family, types.stream | 0x8_0800n)).toBe(allow);
    for (const family of [2n, 10n]) {
      expect([judged('socket', family, types.raw), judged('socket', family, types.packet | 0x800n)]).toEqual([
        errors.EPERM,
        errors.EPERM,
      ]);
    }
    expect(judged('socket', 16n, types.raw)).toBe(allow);
    for (const family of [0n, 3n, 17n, 29n, 31n, 38n, 40n, 44n]) {
      expect(judged('socket', family, types.datagram)).toBe(errors.EAFNOSUPPORT);
    }
    expect([judged('socketpair', 1n, 1n), judged('socketpair', 30n, 1n)]).toEqual([allow, errors.EAFNOSUPPORT]);
  });

  test('neither stops the group that the keeper is in, nor continues what is stopped', () => {
    expect([judged('kill', 0n, 19n), judged('kill', 1n << 32n, 19n)]).toEqual([errors.EPERM, errors.EPERM]);
    expect([judged('kill', 0n, 15n), judged('kill', 7n, 19n), judged('kill', -1n, 19n)]).toEqual([allow, allow, allow]);
    expect([judged('pidfd_send_signal', 3n, 19n, 0n, 4n), judged('pidfd_send_signal', 3n, 15n, 0n, 0n)]).toEqual([
      errors.EPERM,
      allow,
    ]);
    expect([
      judged('timer_create', 0n, 0n),
      judged('timer_create', 0n, 64n),
      judged('timer_create', 0n, 1n << 32n),
    ]).toEqual([allow, errors.ENOSYS, errors.ENOSYS]);
    expect(judged('fcntl', 1n, 10n, 9n)).toBe(errors.EPERM);
    expect([judged('fcntl', 1n, 10n, 18n), judged('fcntl', 1n, 10n, 29n), judged('fcntl', 1n, 4n, 18n)]).toEqual([
      errors.EPERM,
      allow,
      allow,
    ]);
    expect([judged('prctl', 1n, 18n), judged('prctl', 1n, 9n), judged('prctl', 15n, 18n)]).toEqual([
      errors.EPERM,
      allow,
      allow,
    ]);
  });
});
