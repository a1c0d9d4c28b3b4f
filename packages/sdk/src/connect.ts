import type { ConnectOptions } from './connect-options.ts';
import { settingsOf } from './connect-options.ts';
import { Reeve } from './reeve.ts';

/** A client of the gateway at `address`. It connects with the first call, and reconnects by itself after a loss. */
export function connect(options: ConnectOptions): Reeve {
  const { settings, apiKey } = settingsOf(options);
  return new Reeve(settings, apiKey);
}
