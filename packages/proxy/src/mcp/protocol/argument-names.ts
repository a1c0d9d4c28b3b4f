import { foldedName } from '../../json/lookalike.ts';
import type { JsonObject } from './message.ts';
import { isObject } from './message.ts';

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

/** How many schemas and names are looked at. No tool has reason to declare more; what is beyond is not declared. */
const mostLooks = 3000;

/** Reads a JSON schema as far as it says names: properties and items, also of what it refers to or puts together. */
export function argumentNames(root: unknown): ArgumentNames {
  const looks = { left: mostLooks };
  const known = new Map<JsonObject, Names>();
  const read = (schemas: readonly JsonObject[]): ArgumentNames => {
    const [only] = schemas;
    const before = schemas.length === 1 && only !== undefined ? known.get(only) : undefined;
    if (before !== undefined || only === undefined || looks.left <= 0) return before ?? noNames;
    const names = new Names();
    // Schemas may refer to themselves.
    if (schemas.length === 1) known.set(only, names);
    const parts = partsOf(schemas, root, looks);
    const properties = parts.map(({ properties: own }) => (isObject(own) ? own : {}));
    for (const name of new Set(properties.flatMap(Object.keys))) {
      if (--looks.left < 0) return names;
      names.declared.add(name);
      names.folded.add(foldedName(name));
      names.members.set(name, read(properties.map((own) => memberOf(own, name)).filter(isObject)));
    }
    names.items = read(parts.flatMap(({ items, prefixItems }) => [items, prefixItems].flat()).filter(isObject));
    names.others = read(parts.map(({ additionalProperties }) => additionalProperties).filter(isObject));
    return names;
  };
  return read(isObject(root) ? [root] : []);
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

/** Schemas, and all that they say is to hold as well, or may. */
function partsOf(schemas: readonly JsonObject[], root: unknown, looks: { left: number }): readonly JsonObject[] {
  const parts = new Set<JsonObject>();
  const add = (given: unknown) => {
    for (const each of Array.isArray(given) ? given : [given]) {
      if (--looks.left < 0) return;
      if (isObject(each)) parts.add(each);
    }
  };
  add(schemas);
  for (const { $ref, allOf, anyOf, oneOf } of parts) {
    for (const more of [placeIn(root, $ref), allOf, anyOf, oneOf]) if (more !== undefined) add(more);
  }
  return [...parts];
}

/** What a reference within the same document means (RFC 6901). */
function placeIn(root: unknown, reference: unknown): unknown {
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined;
  const steps = reference.split('/').slice(1);
  const named = (step: string) => step.replaceAll('~1', '/').replaceAll('~0', '~');
  return steps.reduce<unknown>((at, step) => (isObject(at) ? memberOf(at, named(step)) : undefined), root);
}

function memberOf(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function firstOf<Item, Found>(items: readonly Item[], find: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
