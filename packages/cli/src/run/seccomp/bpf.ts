/** Classic BPF as the kernel takes it for seccomp: eight bytes for each instruction. */
export interface Instruction {
  readonly code: number;
  /** How many instructions a comparison skips where it holds, and where it does not. */
  readonly ifSo: number;
  readonly ifNot: number;
  readonly value: number;
}

const loadWord = 0x20;
const andValue = 0x54;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const jumpIfAnyBit = 0x45;
const giveBack = 0x06;

/** What the kernel is to do. */
export const verdicts = {
  allow: 0x7fff_0000,
  killProcess: 0x8000_0000,
  error: (errno: number) => 0x0005_0000 | errno,
} as const;

/** Offsets in the record that the kernel hands to the filter. Both architectures are little-endian. */
const places = { call: 0, architecture: 4, arguments: 16 } as const;

export const loadCall = step(loadWord, places.call);
export const loadArchitecture = step(loadWord, places.architecture);

/** The lower half of an argument: the kernel itself looks at no more for the calls that this filter knows. */
export function loadArgument(index: number): Instruction {
  return step(loadWord, places.arguments + 8 * index);
}

export function loadUpperHalf(index: number): Instruction {
  return step(loadWord, places.arguments + 8 * index + 4);
}

export function and(mask: number): Instruction {
  return step(andValue, mask);
}

export function answer(verdict: number): Instruction {
  return step(giveBack, verdict);
}

/** Goes on with these steps if the comparison holds, and behind them if not. */
export function when(test: Test, value: number, steps: readonly Instruction[]): readonly Instruction[] {
  return [{ ...step(tests[test], value), ifNot: steps.length }, ...steps];
}

/** Goes on with these steps unless the comparison holds. */
export function unless(test: Test, value: number, steps: readonly Instruction[]): readonly Instruction[] {
  return [{ ...step(tests[test], value), ifSo: steps.length }, ...steps];
}

type Test = 'equals' | 'at least' | 'has a bit of';

const tests: Readonly<Record<Test, number>> = {
  equals: jumpIfEqual,
  'at least': jumpIfAtLeast,
  'has a bit of': jumpIfAnyBit,
};

function step(code: number, value: number): Instruction {
  return { code, ifSo: 0, ifNot: 0, value };
}

const longestJump = 255;
const mostInstructions = 4096;

export function assemble(program: readonly Instruction[]): Buffer {
  if (program.length > mostInstructions) throw new RangeError('the filter is too long for the kernel');
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, { code, ifSo, ifNot, value }] of program.entries()) {
    if (ifSo > longestJump || ifNot > longestJump) throw new RangeError('a jump of the filter is too far');
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifSo, index * 8 + 2);
    bytes.writeUInt8(ifNot, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}
