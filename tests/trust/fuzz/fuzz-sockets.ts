import { connect } from 'node:net';
import { hostileTexts, oddEncodings } from '../../fuzz/hostile.ts';
import type { World } from '../../fuzz/world.ts';
import { bootstrapKey } from '../../harness/gateway.ts';
import { Chance } from '../chance.ts';
import type { Limits } from '../part.ts';
import { isOver } from '../part.ts';

const atOnce = 8;
const lingersMs = 60;
const names = [
  'since',
  'types',
  'event_types',
  'org_id',
  'team_id',
  'agent_id',
  'run_id',
  'ticket',
  'cursor',
  'x',
  '__proto__',
] as const;

/** Opens WebSockets with random queries, and sends frames of any form. The gateway may close, but not fail. */
export async function fuzzSockets({ gateway }: World, limits: Limits): Promise<{ inputs: number; findings: string[] }> {
  const findings: string[] = [];
  let inputs = 0;
  const lane = async () => {
    while (!isOver(limits, inputs) && findings.length === 0) {
      const nth = inputs++;
      const chance = new Chance(Math.imul(limits.seed, 0x1b_87_35_93) ^ Math.imul(nth + 1, 0xcc_9e_2d_51));
      const status = await trySocket(gateway.http, chance);
      if (status >= 500) findings.push(`a WebSocket is answered ${status}: number ${nth} of seed ${limits.seed}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return { inputs, findings };
}

/** The status of the handshake. 0 if there was none. */
async function trySocket(base: string, chance: Chance): Promise<number> {
  const { hostname, port } = new URL(base);
  const socket = connect({ host: hostname, port: Number(port) });
  let received = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    if (received === '') sendFrames();
    received += chunk.toString('latin1');
  });
  const sendFrames = () => {
    for (let left = chance.below(5); left > 0; left--) socket.write(frame(chance));
    setTimeout(() => socket.resetAndDestroy(), lingersMs);
  };
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  socket.setTimeout(30_000, () => socket.destroy());
  socket.write(handshake(chance, `${hostname}:${port}`));
  await closed;
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 0);
}

function handshake(chance: Chance, host: string): string {
  const values = [
    ...hostileTexts.map(encodeURIComponent),
    ...oddEncodings.filter((text) => /^[!-~]*$/.test(text)),
    '0',
    '-1',
    '9e9',
  ];
  const parameters = Array.from({ length: chance.below(4) }, () => `${chance.oneOf(names)}=${chance.oneOf(values)}`);
  const version = chance.happens(0.9) ? '13' : chance.oneOf(['', '8', '99', 'x'] as const);
  const key = chance.happens(0.9) ? 'dGhlIHNhbXBsZSBub25jZQ==' : chance.oneOf(['', 'x', '=='] as const);
  const extensions = chance.happens(0.2)
    ? `sec-websocket-extensions: permessage-deflate; server_max_window_bits=${chance.below(40)}\r\n`
    : '';
  return [
    `GET /api/v1/ws/events?${parameters.join('&')} HTTP/1.1`,
    `host: ${host}`,
    'connection: Upgrade',
    'upgrade: websocket',
    `sec-websocket-version: ${version}`,
    `sec-websocket-key: ${key}`,
    `authorization: Bearer ${chance.happens(0.9) ? bootstrapKey : 'x'}`,
    `${extensions}\r\n`,
  ].join('\r\n');
}

/** A frame of RFC 6455, or nearly: any opcode, reserved bits, false lengths, with and without a mask. */
function frame(chance: Chance): Buffer {
  if (chance.happens(0.1)) return Buffer.from(chance.bytes(chance.below(200)));
  const opcode = chance.happens(0.6) ? chance.oneOf([0, 1, 2, 8, 9, 10] as const) : chance.below(16);
  const first = (chance.happens(0.8) ? 0x80 : 0) | (chance.happens(0.1) ? 0x40 : 0) | opcode;
  const payload = Buffer.from(chance.bytes(chance.below(chance.happens(0.05) ? 70_000 : 130)));
  const claimed = chance.happens(0.9) ? payload.length : chance.below(2 ** 31);
  const isMasked = chance.happens(0.9);
  return Buffer.concat([
    Buffer.from([first]),
    lengthOf(claimed, isMasked),
    isMasked ? Buffer.alloc(4) : Buffer.alloc(0),
    payload,
  ]);
}

function lengthOf(length: number, isMasked: boolean): Buffer {
  const mask = isMasked ? 0x80 : 0;
  if (length < 126) return Buffer.from([mask | length]);
  const bytes = Buffer.alloc(length < 65_536 ? 3 : 9);
  bytes[0] = mask | (length < 65_536 ? 126 : 127);
  if (length < 65_536) bytes.writeUInt16BE(length, 1);
  else bytes.writeBigUInt64BE(BigInt(length), 1);
  return bytes;
}
