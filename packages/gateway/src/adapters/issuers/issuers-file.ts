import { readFile } from 'node:fs/promises';
import type { Clock, Issuers, IssuerSettings, PolicyProblem, Sha256, TrustedIssuer } from '@reeve/core';
import { messageOf } from '@reeve/core';
import { fingerprintOf, watchPlace } from '../files/watch-place.ts';
import { JoseVerifier } from './jose-verifier.ts';
import type { KeyPlace, Place } from './key-place.ts';
import type { KeyPlaces } from './key-places.ts';
import type { EntryForm, ReadIssuer } from './read-issuers.ts';
import { readIssuers } from './read-issuers.ts';

export interface IssuersFilePorts {
  readonly clock: Clock;
  readonly sha256: Sha256;
  readonly places: KeyPlaces;
}

/** The issuers that a file names. Those of the last valid content are trusted. */
export class IssuersFile<Settings extends IssuerSettings> implements Issuers<Settings> {
  readonly path: string;
  readonly #form: EntryForm<Settings>;
  readonly #ports: IssuersFilePorts;
  #trusted: readonly TrustedIssuer<Settings>[] = [];
  #held: readonly KeyPlace[] = [];
  /** Files of keys without which the last content could not be put in force. They may come later than it. */
  #lacking: readonly string[] = [];
  #unwatch: (() => void) | undefined;

  constructor(path: string, form: EntryForm<Settings>, ports: IssuersFilePorts) {
    this.path = path;
    this.#form = form;
    this.#ports = ports;
  }

  get trusted(): readonly TrustedIssuer<Settings>[] {
    return this.#trusted;
  }

  /** Reads the file and puts it in force, or returns what keeps it from that. Keys of files are read, too. */
  async load(): Promise<readonly PolicyProblem[]> {
    const text = await this.#text();
    if (typeof text !== 'string') return [text];
    const { entries, problems } = readIssuers(this.path, text, this.#form);
    if (problems.length > 0) return problems;
    const held = entries.map(({ settings }) => this.#ports.places.hold(placeOf(settings)));
    const unreadable = await unreadableFiles(entries, held);
    this.#lacking = unreadable.map(({ keys }) => keys);
    if (unreadable.length > 0) {
      this.#release(held);
      return unreadable.map(({ problem }) => problem);
    }
    this.#trusted = entries.flatMap(({ settings }, index) => {
      const keys = held[index];
      return keys === undefined ? [] : [{ settings, verifier: new JoseVerifier(settings, keys, this.#ports) }];
    });
    this.#release(this.#held);
    this.#held = held;
    return [];
  }

  watch(changed: () => void): void {
    const fingerprint = () => [this.path, ...this.#lacking].map((file) => fingerprintOf(() => [file])).join('\n');
    this.#unwatch = watchPlace(this.path, fingerprint, changed);
  }

  close(): void {
    this.#unwatch?.();
    this.#release(this.#held);
    this.#held = [];
  }

  async #text(): Promise<string | PolicyProblem> {
    try {
      return await readFile(this.path, 'utf8');
    } catch (error) {
      return { file: this.path, line: 1, column: 1, message: `cannot be read: ${messageOf(error)}` };
    }
  }

  #release(held: readonly KeyPlace[]): void {
    for (const keys of held) this.#ports.places.release(keys);
  }
}

function placeOf({ jwksUri, jwksFile = '' }: IssuerSettings): Place {
  return jwksUri === undefined ? { file: jwksFile } : { uri: jwksUri };
}

/** Files are here at once. Endpoints are not waited for. */
async function unreadableFiles(
  entries: readonly ReadIssuer<IssuerSettings>[],
  held: readonly KeyPlace[],
): Promise<{ readonly keys: string; readonly problem: PolicyProblem }[]> {
  const found: { readonly keys: string; readonly problem: PolicyProblem }[] = [];
  for (const [index, { keysAt }] of entries.entries()) {
    const keys = held[index];
    if (keys === undefined || !('file' in keys.place)) continue;
    await keys.started;
    if (keys.failure === undefined) continue;
    const problem = { ...keysAt, message: `the keys cannot be read: ${keys.failure}` };
    found.push({ keys: keys.place.file, problem });
  }
  return found;
}
