import type { Architecture } from '../seccomp/system-calls.ts';
import { architectures } from '../seccomp/system-calls.ts';
import type { Kept, Step } from './steps.ts';
import { callNumbers } from './steps.ts';

/** A start waits for this: plain numbers take a fifth of the time that buffers take in code that has never run before. */
type Bytes = readonly number[];

/** The few instructions that steps are made of. Registers are named by what they are for, and have the numbers of the machine. */
interface Instructions {
  readonly registers: {
    readonly call: number;
    readonly args: readonly number[];
    readonly result: number;
    /** The kernel leaves these as they are. */
    readonly kept: Readonly<Record<Kept, number>>;
  };
  readonly load: (register: number, value: number) => Bytes;
  readonly copy: (to: number, from: number) => Bytes;
  readonly callKernel: Bytes;
  /** Writes the lower half of a register to the address in another. */
  readonly store: (from: number, address: number) => Bytes;
  /** Skips so many bytes if the result is less than a small number; or if it is not. */
  readonly skip: (when: 'less' | 'not less', than: number, length: number) => Bytes;
  /** From the stack that the kernel has made: argv[1], argv + 1 and the environment, as the first three arguments. */
  readonly loadProgram: Bytes;
}

const x64: Instructions = {
  registers: { call: 0, args: [7, 6, 2, 10, 8], result: 0, kept: { ruleset: 3, opened: 5 } },
  // mov $value, %register, with its sign
  load: (register, value) => [register < 8 ? 0x48 : 0x49, 0xc7, 0xc0 + (register % 8), ...word(value)],
  // mov %from, %to
  copy: (to, from) => [to < 8 ? 0x48 : 0x49, 0x89, 0xc0 | (from << 3) | (to % 8)],
  // syscall
  callKernel: [0x0f, 0x05],
  // mov %from, (%address), with half of a register
  store: (from, address) => [0x89, (from << 3) | address],
  // cmp $than, %rax; jl or jge
  skip: (when, than, length) => [0x48, 0x83, 0xf8, than, 0x0f, when === 'less' ? 0x8c : 0x8d, ...word(length)],
  loadProgram: [
    ...[0x48, 0x8b, 0x7c, 0x24, 0x10], // mov 16(%rsp), %rdi
    ...[0x48, 0x8d, 0x74, 0x24, 0x10], // lea 16(%rsp), %rsi
    ...[0x48, 0x8b, 0x04, 0x24], // mov (%rsp), %rax
    ...[0x48, 0x8d, 0x54, 0xc4, 0x10], // lea 16(%rsp,%rax,8), %rdx
  ],
};

const arm64: Instructions = {
  registers: { call: 8, args: [0, 1, 2, 3, 4], result: 0, kept: { ruleset: 19, opened: 20 } },
  // movz, and movk for each further quarter
  load: (register, value) => {
    const rest = value < 0 ? 0xffff : 0;
    return [value & 0xffff, (value >>> 16) & 0xffff, rest, rest].flatMap((part, index) =>
      word((index === 0 ? 0xd280_0000 : 0xf280_0000) + (index << 21) + (part << 5) + register),
    );
  },
  // mov to, from
  copy: (to, from) => word(0xaa00_03e0 + (from << 16) + to),
  // svc #0
  callKernel: word(0xd400_0001),
  // str from, [address], with half of a register
  store: (from, address) => word(0xb900_0000 + (address << 5) + from),
  // cmp x0, #than; b.lt or b.ge
  skip: (when, than, length) => {
    const far = length / 4 + 1;
    if (far >= 2 ** 18) throw new RangeError('a jump of the program is too far');
    return [...word(0xf100_001f + than * 0x400), ...word((when === 'less' ? 0x5400_000b : 0x5400_000a) + far * 32)];
  },
  loadProgram: [
    ...word(0xf940_0be0), // ldr x0, [sp, #16]
    ...word(0x9100_43e1), // add x1, sp, #16
    ...word(0xf940_03e2), // ldr x2, [sp]
    ...word(0x8b02_0c22), // add x2, x1, x2, lsl #3
  ],
};

const machines: Readonly<Record<Architecture, Instructions>> = { x64, arm64 };

export function machineCode(architecture: Architecture, steps: readonly Step[]): Buffer {
  const known = new Map<Step, Bytes>();
  const codeOfAll: CodeOfAll = (some) =>
    some.flatMap((step) => {
      const code = known.get(step) ?? codeOf(architecture, step, codeOfAll);
      known.set(step, code);
      return code;
    });
  return Buffer.from(codeOfAll(steps));
}

/** What stands in several places is made once. */
type CodeOfAll = (steps: readonly Step[]) => Bytes;

function codeOf(architecture: Architecture, step: Step, codeOfAll: CodeOfAll): Bytes {
  const { registers, load, copy, callKernel, store, skip, loadProgram } = machines[architecture];
  const call = (name: keyof typeof callNumbers) => [
    ...load(registers.call, callNumbers[name][architectures[architecture].column]),
    ...callKernel,
  ];
  const argument = (index: number) => registers.args[index] ?? tooMany();
  const skipping = (when: 'less' | 'not less', than: number, steps: readonly Step[]) => {
    const code = codeOfAll(steps);
    return [...skip(when, than, code.length), ...code];
  };
  switch (step.do) {
    case 'call': {
      const args = step.args.flatMap((value, index) =>
        typeof value === 'number' ? load(argument(index), value) : copy(argument(index), registers.kept[value.kept]),
      );
      return [...args, ...call(step.name)];
    }
    case 'keep':
      return copy(registers.kept[step.as], registers.result);
    case 'store':
      return [...load(argument(1), step.address), ...store(registers.kept[step.kept], argument(1))];
    case 'set':
      // By registers that leave the result as it is.
      return [...load(argument(1), step.address), ...load(argument(2), step.value), ...store(argument(2), argument(1))];
    case 'if error':
    case 'unless error':
      return skipping(step.do === 'if error' ? 'not less' : 'less', 0, step.steps);
    case 'if less':
    case 'unless less':
      return skipping(step.do === 'if less' ? 'not less' : 'less', step.than, step.steps);
    case 'become':
      return [...loadProgram, ...call('execve')];
    case 'end with result':
      return [...copy(argument(0), registers.result), ...call('exit_group')];
  }
}

/** The lowest 32 bits, the lowest byte first. */
function word(value: number): Bytes {
  return [value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, value >>> 24];
}

function tooMany(): never {
  throw new RangeError('a call has five arguments at most');
}
