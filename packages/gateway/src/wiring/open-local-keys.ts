import type { Access } from '@reeve/core';
import { replaceLostKey } from '@reeve/core';
import { openKeySocket } from '../adapters/key-socket/open-key-socket.ts';
import type { WiringContext } from './wiring-context.ts';

/**
 * Lets the user of this machine replace a lost admin key while the gateway runs. Without a data folder of its own, or
 * where the folder cannot hold a socket, the gateway runs without that. Returns whether it can be asked.
 */
export async function openLocalKeys(
  { logger, opened }: WiringContext,
  folder: string | undefined,
  access: Access,
): Promise<boolean> {
  if (folder === undefined || process.platform === 'win32') return false;
  try {
    const close = await openKeySocket(folder, async () => {
      const { key, record } = await replaceLostKey(access);
      const { id, label, scopes, createdAt } = record;
      logger.warn({ key_id: id }, 'an admin key was made on this machine, by reeve keys bootstrap');
      return { key, id, label, scopes, createdAt };
    });
    opened.defer(close, 'the socket for lost keys');
    return true;
  } catch (error) {
    logger.warn(
      { error },
      'there is no socket in the data folder: reeve keys bootstrap works once the gateway is stopped',
    );
    return false;
  }
}
