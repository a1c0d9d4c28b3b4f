import type { Field } from './hpack/field.ts';

const none: readonly string[] = [];

/** The metadata of a request. Calls with the same header block share it, so what was looked up once costs little. */
export class Metadata {
  readonly #fields: readonly Field[];
  #texts: Map<string, readonly string[]> | undefined;

  constructor(fields: readonly Field[]) {
    this.#fields = fields;
  }

  /** The value of this name, in lower case; undefined if there is none or more than one. */
  get(name: string): string | undefined {
    const values = this.getAll(name);
    return values.length === 1 ? values[0] : undefined;
  }

  getAll(name: string): readonly string[] {
    this.#texts ??= new Map();
    const known = this.#texts.get(name);
    if (known !== undefined) return known;
    const values: string[] = [];
    for (const field of this.#fields) if (field.name === name) values.push(field.value);
    // Only names that are there, because the others have no bound.
    if (values.length === 0) return none;
    this.#texts.set(name, values);
    return values;
  }

  /** The values of a name that ends with `-bin`: base64 with or without padding, several separated by commas. */
  getBinary(name: string): readonly Buffer[] {
    return this.getAll(name).flatMap((list) => list.split(',').map((value) => Buffer.from(value.trim(), 'base64')));
  }
}

/** Entries of response metadata: bytes for names that end with `-bin`, text for the others. */
export type MetadataEntries = readonly (readonly [name: string, value: string | Uint8Array])[];

const nameForm = /^[0-9a-z_.-]+$/;
const valueForm = /^[\x20-\x7e]*$/;

/** Entries as header fields. Throws on what gRPC does not allow. */
export function metadataFields(entries: MetadataEntries): (readonly [name: string, value: string])[] {
  return entries.map(([name, value]) => {
    if (!nameForm.test(name) || name.startsWith('grpc-')) throw new TypeError(`"${name}" is no name for metadata`);
    if (name.endsWith('-bin'))
      return [
        name,
        Buffer.from(value as Uint8Array)
          .toString('base64')
          .replace(/(?<!=)=+$/, ''),
      ];
    if (typeof value !== 'string' || !valueForm.test(value)) {
      throw new TypeError(`the metadata "${name}" is not printable ASCII; use a name that ends with -bin for bytes`);
    }
    return [name, value];
  });
}
