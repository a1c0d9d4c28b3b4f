import type { Architecture } from '../seccomp/system-calls.ts';
import { machineCode } from './machine-code.ts';
import type { Step } from './steps.ts';

const codeAddress = 0x40_0000;
const dataAddress = 0x1000_0000;
/** The largest page that one of the architectures has. */
const pageSize = 0x1_0000;
const headerLength = 64;
const segmentLength = 56;
/** Data come first: then their addresses do not depend on the code, and nothing has to stand between the two. */
const dataStart = headerLength + 3 * segmentLength;
const machineNumbers: Readonly<Record<Architecture, number>> = { x64: 62, arm64: 183 };
const flags = { execute: 1, write: 2, read: 4 } as const;
const kinds = { load: 1, stack: 0x6474_e551 } as const;

/** What the steps of a program point at. */
export class ProgramData {
  readonly #pieces: Buffer[] = [];
  #length = 0;

  /** Returns the address at which the program finds these bytes. */
  add(bytes: Buffer): number {
    const address = dataAddress + dataStart + this.#length;
    const padded = Buffer.alloc(roundedUp(bytes.length, 8));
    bytes.copy(padded);
    this.#pieces.push(padded);
    this.#length += padded.length;
    return address;
  }

  text(text: string): number {
    if (text.includes('\0')) throw new RangeError('a path has no zero in it');
    return this.add(Buffer.from(`${text}\0`));
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

/** An executable for Linux (ELF) that stands alone: the code can be read and executed, the data read and written. */
export function executable(architecture: Architecture, steps: readonly Step[], { bytes: data }: ProgramData): Buffer {
  const code = machineCode(architecture, steps);
  const codeStart = dataStart + data.length;
  const header = Buffer.alloc(headerLength);
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  header.writeUInt16LE(2, 16);
  header.writeUInt16LE(machineNumbers[architecture], 18);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(BigInt(codeAddress + codeStart), 24);
  header.writeBigUInt64LE(BigInt(headerLength), 32);
  header.writeUInt16LE(headerLength, 52);
  header.writeUInt16LE(segmentLength, 54);
  header.writeUInt16LE(3, 56);
  const readAndWrite = flags.read | flags.write;
  const segments = [
    segment(kinds.load, flags.read | flags.execute, codeStart, codeAddress + codeStart, code.length),
    segment(kinds.load, readAndWrite, dataStart, dataAddress + dataStart, data.length),
    segment(kinds.stack, readAndWrite, 0, 0, 0),
  ];
  return Buffer.concat([header, ...segments, data, code]);
}

function segment(kind: number, flag: number, offset: number, address: number, length: number): Buffer {
  const bytes = Buffer.alloc(segmentLength);
  bytes.writeUInt32LE(kind, 0);
  bytes.writeUInt32LE(flag, 4);
  for (const [index, value] of [offset, address, address, length, length, pageSize].entries()) {
    bytes.writeBigUInt64LE(BigInt(value), 8 + 8 * index);
  }
  return bytes;
}

function roundedUp(value: number, to: number): number {
  return Math.ceil(value / to) * to;
}
