import { foldedName } from '../../json/lookalike.ts';
import type { JsonObject } from './written-json.ts';
import { isObject } from './written-json.ts';

/** The names that the schema of a tool declares, for the arguments and for what is in them. */
export interface ArgumentNames {
  readonly declared: ReadonlySet<string>;
  /** The same, as readers see them that make no difference by case. */
  readonly folded: ReadonlySet<string>;
  readonly members: ReadonlyMap<string, ArgumentNames>;
  /** Of the items of a list. */
  readonly items: ArgumentNames;
  /** Of members that are not declared. */
  readonly others: ArgumentNames;
}

class Names implements ArgumentNames {
  readonly declared = new Set<string>();
  readonly folded = new Set<string>();
  readonly members = new Map<string, ArgumentNames>();
  items: ArgumentNames = noNames;
  others: ArgumentNames = noNames;
}

/** Where nothing is declared, names can still differ from each other by case alone. */
export const noNames: ArgumentNames = {
  declared: new Set(),
  folded: new Set(),
  members: new Map(),
  get items() {
    return noNames;
  },
  get others() {
    return noNames;
  },
};

/** How many schemas and names are looked at. No tool has reason to declare more. */
const mostLooks = 20_000;

/**
 * Reads a JSON schema as far as it says names: properties and items, also of what it refers to or puts together. Undefined
 * if it says too many.
 */
export function argumentNames(root: unknown): ArgumentNames | undefined {
  const reading = new SchemaReading(root);
  const names = reading.namesOf([root]);
  return reading.finish() ? names : undefined;
}

/** Level by level, so that schemas within schemas do not use up what the names above them need. */
class SchemaReading {
  readonly #root: unknown;
  #left = mostLooks;
  readonly #numbers = new Map<JsonObject, number>();
  /** By the schemas that hold together. They may refer to themselves. */
  readonly #known = new Map<string, Names>();
  readonly #unread: { readonly names: Names; readonly parts: readonly JsonObject[] }[] = [];

  constructor(root: unknown) {
    this.#root = root;
  }

  /** The names that these schemas say together. They are read later. */
  namesOf(schemas: readonly unknown[]): ArgumentNames {
    const parts = this.#partsOf(schemas);
    if (parts.length === 0) return noNames;
    const numbers = parts.map((part) => this.#numberOf(part)).sort((a, b) => a - b);
    const key = numbers.join();
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const names = new Names();
    this.#known.set(key, names);
    this.#unread.push({ names, parts });
    return names;
  }

  /** Whether all was read. */
  finish(): boolean {
    for (const { names, parts } of this.#unread) {
      if (this.#left < 0) return false;
      this.#read(names, parts);
    }
    return this.#left >= 0;
  }

  #read(names: Names, parts: readonly JsonObject[]): void {
    const members = new Map<string, unknown[]>();
    for (const { properties } of parts) {
      if (!isObject(properties)) continue;
      for (const name in properties) {
        if (--this.#left < 0) return;
        const same = members.get(name);
        if (same === undefined) members.set(name, [properties[name]]);
        else same.push(properties[name]);
      }
    }
    for (const [name, schemas] of members) {
      names.declared.add(name);
      names.folded.add(foldedName(name));
      names.members.set(name, this.namesOf(schemas));
    }
    names.items = this.namesOf(parts.flatMap(({ items, prefixItems }) => [items, prefixItems]));
    names.others = this.namesOf(
      parts.flatMap(({ additionalProperties, patternProperties }) => [
        additionalProperties,
        valuesOf(patternProperties),
      ]),
    );
  }

  /** Schemas, and all that they say is to hold as well, or may. */
  #partsOf(schemas: readonly unknown[]): readonly JsonObject[] {
    const parts = new Set<JsonObject>();
    const add = (given: unknown) => {
      for (const each of Array.isArray(given) ? given : [given]) {
        if (--this.#left < 0) return;
        if (isObject(each)) parts.add(each);
      }
    };
    for (const schema of schemas) add(schema);
    for (const part of parts) {
      for (const keyword of ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else']) {
        if (part[keyword] !== undefined) add(part[keyword]);
      }
      if (part['dependentSchemas'] !== undefined) add(valuesOf(part['dependentSchemas']));
      if (part['$ref'] !== undefined) add(placeIn(this.#root, part['$ref']));
    }
    return [...parts];
  }

  #numberOf(part: JsonObject): number {
    const number = this.#numbers.get(part) ?? this.#numbers.size;
    this.#numbers.set(part, number);
    return number;
  }
}

/** Of an object. */
function valuesOf(value: unknown): readonly unknown[] {
  return isObject(value) ? Object.values(value) : [];
}

/**
 * The first name in the arguments, at any depth, that differs from a declared one, or from one beside it, by case alone.
 * Some servers take both for the same, and then need not do what was judged.
 */
export function twinIn(value: unknown, names: ArgumentNames): string | undefined {
  if (Array.isArray(value)) return firstOf(value, (item) => twinIn(item, names.items));
  if (!isObject(value)) return undefined;
  const keys = Object.keys(value);
  return twinAmong(keys, names) ?? firstOf(keys, (key) => twinIn(value[key], names.members.get(key) ?? names.others));
}

/** Declared names may differ by case. */
function twinAmong(keys: readonly string[], { declared, folded }: ArgumentNames): string | undefined {
  const seen = new Set<string>();
  return keys.find((key) => {
    if (declared.has(key)) return false;
    const name = foldedName(key);
    return folded.has(name) || seen.size === seen.add(name).size;
  });
}

/** What a reference within the same document means (RFC 6901). */
function placeIn(root: unknown, reference: unknown): unknown {
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined;
  const steps = reference.split('/').slice(1);
  if (steps.length > mostSteps) return undefined;
  return steps.map(named).reduce<unknown>((at, step) => memberOf(at, step), root);
}

const mostSteps = 100;

/** The reference is part of a URI, and its steps have escapes of their own. */
function named(step: string): string {
  return decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function memberOf(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return /^\d{1,9}$/.test(name) ? (value[Number(name)] as unknown) : undefined;
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function firstOf<Item, Found>(items: readonly Item[], find: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
