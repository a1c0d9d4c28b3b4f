import type { KeyPlaceOptions, Place } from './key-place.ts';
import { KeyPlace } from './key-place.ts';

/**
 * All places of keys. Entries and files that name the same place share its set, so that no issuer is asked more often
 * than it must be.
 */
export class KeyPlaces {
  readonly #options: KeyPlaceOptions;
  readonly #open = new Map<string, { readonly keys: KeyPlace; holders: number }>();

  constructor(options: KeyPlaceOptions) {
    this.#options = options;
  }

  /** The keys of a place, which stay until they are released as often as they were held. */
  hold(place: Place): KeyPlace {
    const name = nameOf(place);
    const known = this.#open.get(name);
    if (known !== undefined) {
      known.holders++;
      return known.keys;
    }
    const keys = new KeyPlace(place, this.#options);
    this.#open.set(name, { keys, holders: 1 });
    return keys;
  }

  release({ place }: KeyPlace): void {
    const name = nameOf(place);
    const known = this.#open.get(name);
    if (known === undefined || --known.holders > 0) return;
    this.#open.delete(name);
    known.keys.close();
  }
}

function nameOf(place: Place): string {
  return 'uri' in place ? `uri ${place.uri}` : `file ${place.file}`;
}
