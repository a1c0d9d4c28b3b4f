import type { Governance, PolicyVersion } from '@reeve/core';
import type { PolicyNews } from './thread-world.ts';

/** So much text is sent at once; copying more would keep decisions waiting. */
const mostCharacters = 256 * 1024;

type Sources = Governance['library']['sources'];

/** Tells one thread which policies are in force: at first all of them, then what has changed. */
export class PolicyCourier {
  readonly #gov: Pick<Governance, 'library' | 'policies'>;
  readonly #told = new Map<string, PolicyVersion>();
  #files: Sources['files'] = [];
  #sources: Sources | undefined;

  constructor(gov: Pick<Governance, 'library' | 'policies'>) {
    this.#gov = gov;
  }

  /** Whether the thread knows all there is. */
  get isUpToDate(): boolean {
    return this.#sources === this.#gov.library.sources;
  }

  /** The next that the thread has to be told. */
  next(): PolicyNews {
    const { library, policies } = this.#gov;
    const { sources } = library;
    const stored: PolicyVersion[] = [];
    let left = mostCharacters;
    for (const [name, { saved }] of sources.stored) {
      if (this.#told.get(name) === saved) continue;
      if (left <= 0) return { stored, version: undefined };
      this.#told.set(name, saved);
      stored.push(saved);
      left -= saved.source?.length ?? 0;
    }
    const hasOtherFiles = this.#files !== sources.files;
    this.#files = sources.files;
    this.#sources = sources;
    return {
      stored,
      ...(hasOtherFiles ? { files: sources.files.map(({ source }) => source) } : {}),
      version: policies.version,
    };
  }
}
