import type { Socket } from 'node:net';
import { protocolOf, readHost } from './destination.ts';
import { dismiss } from './dismiss.ts';
import type { GovernedConnections } from './governed-connections.ts';
import { refusalOf } from './refusal.ts';
import { departure, joinTunnel } from './tunnel.ts';

const version = 5;
const noAuthentication = 0;
const connectCommand = 1;
const replies = { done: 0, noSuchCommand: 7, noSuchAddress: 8 } as const;

/** Serves a program that speaks SOCKS 5 (RFC 1928): connections by name or address, and nothing else. */
export async function serveSocks(client: Socket, connections: GovernedConnections, onHead: () => void): Promise<void> {
  const [, count = 0] = await bytesFrom(client, 2);
  const methods = await bytesFrom(client, count);
  if (!methods.includes(noAuthentication)) return dismiss(client, Buffer.from([version, 0xff]));
  client.write(Buffer.from([version, noAuthentication]));
  const [again, command, , kind] = await bytesFrom(client, 4);
  if (again !== version) return void client.destroy();
  const host = await hostFrom(client, kind);
  const port = (await bytesFrom(client, 2)).readUInt16BE(0);
  onHead();
  if (command !== connectCommand) return dismiss(client, replyOf(replies.noSuchCommand));
  if (host === undefined || port === 0) return dismiss(client, replyOf(replies.noSuchAddress));
  const to = { host, port, protocol: protocolOf(port) };
  try {
    await connections.open(to, true, departure(client), async (line) => {
      client.write(replyOf(replies.done));
      await joinTunnel(client, line);
    });
  } catch (error) {
    dismiss(client, replyOf(refusalOf(error).socks));
  }
}

async function hostFrom(client: Socket, kind: number | undefined): Promise<string | undefined> {
  if (kind === 1) return readHost((await bytesFrom(client, 4)).join('.'));
  if (kind === 4) {
    const groups = (await bytesFrom(client, 16)).toString('hex').match(/.{4}/g) ?? [];
    return readHost(`[${groups.join(':')}]`);
  }
  if (kind !== 3) return undefined;
  const [length = 0] = await bytesFrom(client, 1);
  return readHost((await bytesFrom(client, length)).toString('latin1'));
}

function replyOf(reply: number): Buffer {
  return Buffer.from([version, reply, 0, 1, 0, 0, 0, 0, 0, 0]);
}

/** The next bytes, and no more than these. What follows stays for whoever reads next. */
async function bytesFrom(client: Socket, count: number): Promise<Buffer> {
  if (count === 0) return Buffer.alloc(0);
  for (;;) {
    const bytes: unknown = client.read(count);
    if (Buffer.isBuffer(bytes) && bytes.length === count) return bytes;
    if (client.readableEnded || client.destroyed || Buffer.isBuffer(bytes)) throw new Error('the client left early');
    await new Promise<void>((resolve) => {
      const go = () => {
        for (const event of ['readable', 'end', 'close'] as const) client.off(event, go);
        resolve();
      };
      for (const event of ['readable', 'end', 'close'] as const) client.once(event, go);
    });
  }
}
