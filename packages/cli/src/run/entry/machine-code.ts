import type { Architecture } from '../seccomp/system-calls.ts';
import { architectures } from '../seccomp/system-calls.ts';
import type { Kept, Step } from './steps.ts';
import { callNumbers } from './steps.ts';

/** The few instructions that steps are made of. Registers are named by what they are for, and have the numbers of the machine. */
interface Instructions {
  readonly registers: {
    readonly call: number;
    readonly args: readonly number[];
    readonly result: number;
    /** The kernel leaves these as they are. */
    readonly kept: Readonly<Record<Kept, number>>;
  };
  readonly load: (register: number, value: number) => Buffer;
  readonly copy: (to: number, from: number) => Buffer;
  readonly callKernel: Buffer;
  /** Writes the lower half of a register to the address in another. */
  readonly store: (from: number, address: number) => Buffer;
  /** Skips so many bytes if the result is negative; or if it is not. */
  readonly skip: (when: 'negative' | 'not negative', length: number) => Buffer;
  /** From the stack that the kernel has made: argv[1], argv + 1 and the environment, as the first three arguments. */
  readonly loadProgram: Buffer;
}

const x64: Instructions = {
  registers: { call: 0, args: [7, 6, 2, 10, 8], result: 0, kept: { ruleset: 3, opened: 5 } },
  // movabs $value, %register
  load: (register, value) => {
    const bytes = Buffer.alloc(10);
    bytes.set([register < 8 ? 0x48 : 0x49, 0xb8 + (register % 8)]);
    bytes.writeBigInt64LE(BigInt(value), 2);
    return bytes;
  },
  // mov %from, %to
  copy: (to, from) => Buffer.from([to < 8 ? 0x48 : 0x49, 0x89, 0xc0 | (from << 3) | (to % 8)]),
  // syscall
  callKernel: Buffer.from([0x0f, 0x05]),
  // mov %from, (%address), with half of a register
  store: (from, address) => Buffer.from([0x89, (from << 3) | address]),
  // test %rax, %rax; js or jns
  skip: (when, length) => {
    const bytes = Buffer.from([0x48, 0x85, 0xc0, 0x0f, when === 'negative' ? 0x88 : 0x89, 0, 0, 0, 0]);
    bytes.writeInt32LE(length, 5);
    return bytes;
  },
  loadProgram: Buffer.from([
    ...[0x48, 0x8b, 0x7c, 0x24, 0x10], // mov 16(%rsp), %rdi
    ...[0x48, 0x8d, 0x74, 0x24, 0x10], // lea 16(%rsp), %rsi
    ...[0x48, 0x8b, 0x04, 0x24], // mov (%rsp), %rax
    ...[0x48, 0x8d, 0x54, 0xc4, 0x10], // lea 16(%rsp,%rax,8), %rdx
  ]),
};

const arm64: Instructions = {
  registers: { call: 8, args: [0, 1, 2, 3, 4], result: 0, kept: { ruleset: 19, opened: 20 } },
  // movz, and movk for each further quarter
  load: (register, value) => {
    const quarters = [0, 1, 2, 3].map((index) => Number((BigInt(value) >> BigInt(16 * index)) & 0xffffn));
    return words(
      quarters.map(
        (part, index) => ((index === 0 ? 0xd280_0000 : 0xf280_0000) | (index << 21) | (part << 5)) + register,
      ),
    );
  },
  // mov to, from
  copy: (to, from) => words([0xaa00_03e0 + (from << 16) + to]),
  // svc #0
  callKernel: words([0xd400_0001]),
  // str from, [address], with half of a register
  store: (from, address) => words([0xb900_0000 + (address << 5) + from]),
  // tbnz or tbz x0, #63
  skip: (when, length) => {
    const far = length / 4 + 1;
    if (far >= 2 ** 13) throw new RangeError('a jump of the program is too far');
    return words([(when === 'negative' ? 0xb7f8_0000 : 0xb6f8_0000) + far * 32]);
  },
  loadProgram: words([
    0xf940_0be0, // ldr x0, [sp, #16]
    0x9100_43e1, // add x1, sp, #16
    0xf940_03e2, // ldr x2, [sp]
    0x8b02_0c22, // add x2, x1, x2, lsl #3
  ]),
};

const machines: Readonly<Record<Architecture, Instructions>> = { x64, arm64 };

export function machineCode(architecture: Architecture, steps: readonly Step[]): Buffer {
  return Buffer.concat(steps.map((step) => codeOf(architecture, step)));
}

function codeOf(architecture: Architecture, step: Step): Buffer {
  const { registers, load, copy, callKernel, store, skip, loadProgram } = machines[architecture];
  const call = (name: keyof typeof callNumbers) =>
    Buffer.concat([load(registers.call, callNumbers[name][architectures[architecture].column]), callKernel]);
  const argument = (index: number) => registers.args[index] ?? tooMany();
  switch (step.do) {
    case 'call':
      return Buffer.concat([
        ...step.args.map((value, index) =>
          typeof value === 'number' ? load(argument(index), value) : copy(argument(index), registers.kept[value.kept]),
        ),
        call(step.name),
      ]);
    case 'keep':
      return copy(registers.kept[step.as], registers.result);
    case 'store':
      return Buffer.concat([load(argument(1), step.address), store(registers.kept[step.kept], argument(1))]);
    case 'if error':
    case 'unless error': {
      const steps = machineCode(architecture, step.steps);
      return Buffer.concat([skip(step.do === 'if error' ? 'not negative' : 'negative', steps.length), steps]);
    }
    case 'become':
      return Buffer.concat([loadProgram, call('execve')]);
    case 'end with result':
      return Buffer.concat([copy(argument(0), registers.result), call('exit_group')]);
  }
}

function words(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value >>> 0, index * 4);
  return bytes;
}

function tooMany(): never {
  throw new RangeError('a call has five arguments at most');
}
