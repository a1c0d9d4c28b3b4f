import { insideHost, insidePorts } from '../network/inside-ports.ts';
import type { ProgramData } from './executable.ts';
import type { Step } from './steps.ts';

const internetFamily = 2;
/** A stream that no program inherits, and on which Node never waits. */
const streamKind = 0x1 | 0x8_0000 | 0x800;
const backlog = 511;
const socketLevel = 1;
const rights = 1;
const noSignal = 0x4000;

/** Steps that listen on each address inside, and hand the listening sockets to the process outside by its channel. */
export function handOver(channel: number, data: ProgramData, fail: Step): readonly Step[] {
  return Object.entries(insidePorts).flatMap(([name, port]): readonly Step[] => {
    const { message, socket } = messageOf(name, data);
    return [
      { do: 'call', name: 'socket', args: [internetFamily, streamKind, 0] },
      fail,
      { do: 'keep', as: 'opened' },
      { do: 'store', kept: 'opened', address: socket },
      { do: 'call', name: 'bind', args: [{ kept: 'opened' }, data.add(addressOf(port)), 16] },
      fail,
      { do: 'call', name: 'listen', args: [{ kept: 'opened' }, backlog] },
      fail,
      { do: 'call', name: 'sendmsg', args: [channel, message, noSignal] },
      fail,
      { do: 'call', name: 'close', args: [{ kept: 'opened' }] },
    ];
  });
}

function addressOf(port: number): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16LE(internetFamily, 0);
  bytes.writeUInt16BE(port, 2);
  bytes.set(insideHost.split('.').map(Number), 4);
  return bytes;
}

/** What Node's `process.send` would write with a server, with room for the descriptor of its socket. */
function messageOf(name: string, data: ProgramData): { readonly message: number; readonly socket: number } {
  const line = Buffer.from(`${JSON.stringify({ cmd: 'NODE_HANDLE', type: 'net.Server', msg: name })}\n`);
  const part = Buffer.alloc(16);
  part.writeBigUInt64LE(BigInt(data.add(line)), 0);
  part.writeBigUInt64LE(BigInt(line.length), 8);
  const beside = Buffer.alloc(24);
  beside.writeBigUInt64LE(20n, 0);
  beside.writeInt32LE(socketLevel, 8);
  beside.writeInt32LE(rights, 12);
  const besideAt = data.add(beside);
  const header = Buffer.alloc(56);
  header.writeBigUInt64LE(BigInt(data.add(part)), 16);
  header.writeBigUInt64LE(1n, 24);
  header.writeBigUInt64LE(BigInt(besideAt), 32);
  header.writeBigUInt64LE(BigInt(beside.length), 40);
  return { message: data.add(header), socket: besideAt + 16 };
}
