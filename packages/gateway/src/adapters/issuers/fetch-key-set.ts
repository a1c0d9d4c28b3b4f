import { readFile, stat } from 'node:fs/promises';
import { boundedFetch } from '../oidc/bounded-fetch.ts';

/** No set of keys is larger. */
const mostBytes = 1024 * 1024;
/** An endpoint may take its time: nobody waits for this. */
const timeoutMs = 10_000;

/** The text of a set of keys, over https or loopback, without redirects. */
export async function fetchKeySet(uri: string, ended: AbortSignal): Promise<string> {
  const signal = AbortSignal.any([ended, AbortSignal.timeout(timeoutMs)]);
  const headers = { accept: 'application/jwk-set+json, application/json' };
  const answer = await boundedFetch(uri, { method: 'GET', headers, body: undefined, redirect: 'manual', signal });
  if (answer.status !== 200) throw new Error(`it answers with status ${answer.status}`);
  return answer.text();
}

/** The text of a set of keys in a file. */
export async function readKeySet(file: string): Promise<string> {
  const { size } = await stat(file);
  if (size > mostBytes) throw new Error('it has more than 1 MiB');
  return readFile(file, 'utf8');
}
