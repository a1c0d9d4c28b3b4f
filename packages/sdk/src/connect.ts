import type { ConnectOptions } from './connect-options.ts';
import { settingsOf } from './connect-options.ts';
import { Reeve } from './reeve.ts';

/**
 * A client of the gateway at `address`, of those at `addresses`, or of those that `REEVE_GRPC_ADDR` names. It connects with the first call. After a loss it
 * connects again by itself, to the next gateway if there are several.
 */
export function connect(options: ConnectOptions = {}): Reeve {
  const { settings, apiKey } = settingsOf(options);
  return new Reeve(settings, apiKey);
}
