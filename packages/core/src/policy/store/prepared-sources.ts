import { authorOf } from '../document-name.ts';
import type { ParsedSource, PolicySource } from '../parsed-source.ts';

/** Besides those that were read last, so many characters of texts are kept. */
const mostCharacters = 1024 * 1024;

/** Texts that were read aside and are about to be put in force. */
export class PreparedSources {
  /** The ones that were read last are the last. */
  readonly #sources = new Map<string, ParsedSource>();

  find(source: PolicySource): ParsedSource | undefined {
    return this.#sources.get(keyOf(source));
  }

  keep(read: readonly ParsedSource[]): void {
    for (const parsed of read) {
      const key = keyOf(parsed.source);
      this.#sources.delete(key);
      this.#sources.set(key, parsed);
    }
    const keys = [...this.#sources.keys()];
    let characters = keys.reduce((sum, key) => sum + key.length, 0);
    for (const key of keys.slice(0, keys.length - read.length)) {
      if (characters <= mostCharacters) return;
      this.#sources.delete(key);
      characters -= key.length;
    }
  }
}

/** What an author may write depends on how wide its credential is: the same text of another one is read anew. */
function keyOf(source: PolicySource): string {
  const { file, name = '', namespace = '', text } = source;
  return [file, name, authorOf(source), namespace, text].join('\n');
}
