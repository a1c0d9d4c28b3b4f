import { existsSync, statfsSync } from 'node:fs';
import type { ActiveContext } from '../context/active-context.ts';
import { readConfig } from '../context/config-file.ts';
import { coarseDuration } from '../output/duration.ts';
import type { Finding } from './finding.ts';
import { failed, messageOf, ok, skipped, warning } from './finding.ts';

/** Checks of this machine that call nobody. */

export async function checkConfiguration(context: ActiveContext): Promise<Finding> {
  const { contexts } = await readConfig(context.folder);
  const known = contexts.size === 0 ? 'no contexts' : `contexts: ${[...contexts.keys()].join(', ')}`;
  const { name, apiUrl } = context;
  // Without a name, the URL stands for it.
  return ok('configuration', `${known}; using ${name === apiUrl ? apiUrl : `${name} at ${apiUrl}`}`);
}

export function checkSession({ session, apiKey }: ActiveContext): Finding {
  if (session === undefined) {
    if (apiKey !== undefined) return ok('session', 'none; an API key is used as it is');
    return warning('session', 'not logged in, and no API key', 'Run "reeve login".');
  }
  const left = session.expiresAt - Date.now() / 1000;
  const expiry = left <= 0 ? 'expired; the next call renews it' : `expires in ${coarseDuration(left)}`;
  return ok('session', `scopes ${session.scopes.join(', ')}; ${expiry}`);
}

const littleBytes = 256 * 1024 * 1024;

/** The disk of this machine. It is the gateway's disk if the gateway runs here. */
export function checkDisk({ folder }: ActiveContext): Finding {
  try {
    const place = existsSync(folder.path) ? folder.path : folder.home;
    const { bavail, bsize, blocks } = statfsSync(place);
    const free = bavail * bsize;
    const share = blocks === 0 ? 0 : Math.round((100 * bavail) / blocks);
    const detail = `${Math.round(free / 1024 ** 2)} MiB free (${share} %) at ${place}`;
    return free < littleBytes
      ? warning('disk', detail, 'Make room: sessions, and a gateway on this machine, need some.')
      : ok('disk', detail);
  } catch (error) {
    return skipped('disk', messageOf(error), 'Set HOME to a folder that exists.');
  }
}

export function brokenConfiguration(error: unknown): Finding {
  return failed('configuration', messageOf(error), 'Mend the file, or remove it and run "reeve context set".');
}
