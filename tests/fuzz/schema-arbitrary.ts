import type { Arbitrary } from 'fast-check';
import * as fc from 'fast-check';
import type { JsonSchema } from './document.ts';

export interface Sources {
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** Meaningful values for this gateway, by the name of the parameter or member. */
  readonly known: Readonly<Record<string, readonly string[]>>;
}

const longest = 64;
/** Many of these would make the body too long. */
const longestFull = 9000;

/** Values that a schema accepts. */
export function valuesOf(schema: JsonSchema, sources: Sources, name = ''): Arbitrary<unknown> {
  if (schema.$ref !== undefined) {
    const target = sources.schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {};
    return valuesOf(target, sources, name);
  }
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const options = schema.anyOf ?? schema.allOf?.find(({ anyOf }) => anyOf !== undefined)?.anyOf;
  if (options !== undefined) {
    return fc.oneof(...options.map((option) => valuesOf(narrowed(schema, option), sources, name)));
  }
  const types = [schema.type ?? 'anything'].flat();
  return fc.oneof(...types.map((type) => valuesOfType(type, schema, sources, name)));
}

/** A schema with one of its options. Both apply to a member. */
function narrowed(choice: JsonSchema, option: JsonSchema): JsonSchema {
  const { anyOf: _, allOf, ...rest } = choice;
  const others = allOf?.filter(({ anyOf }) => anyOf === undefined) ?? [];
  const schema = others.length === 0 ? rest : { ...rest, allOf: others };
  const required = [...(schema.required ?? []), ...(option.required ?? [])];
  if (schema.properties === undefined || option.properties === undefined) return { ...schema, ...option, required };
  const members = Object.entries(option.properties).map(([name, member]): [string, JsonSchema] => [
    name,
    together(schema.properties?.[name] ?? {}, member),
  ]);
  return {
    ...schema,
    properties: { ...schema.properties, ...Object.fromEntries(members) },
    required,
  };
}

/** What both allow if one of them is a choice: its options that the other has as well. */
function together(schema: JsonSchema, other: JsonSchema): JsonSchema {
  if (other.anyOf !== undefined) return other;
  if (schema.anyOf === undefined || other.type === undefined) return { ...schema, ...other };
  return { ...schema, anyOf: schema.anyOf.filter(({ type }) => type === other.type) };
}

function valuesOfType(type: string, schema: JsonSchema, sources: Sources, name: string): Arbitrary<unknown> {
  switch (type) {
    case 'string':
      return texts(schema, sources.known[name] ?? []);
    case 'integer':
    case 'number':
      return integers(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(valuesOf(schema.items ?? {}, sources), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 4, (schema.minItems ?? 0) + 4),
      });
    case 'object':
      return objects(schema, sources);
    default:
      return fc.jsonValue();
  }
}

function integers({ exclusiveMinimum, maximum = Number.MAX_SAFE_INTEGER, ...schema }: JsonSchema) {
  const beyond = exclusiveMinimum === undefined ? Number.MIN_SAFE_INTEGER : exclusiveMinimum + 1;
  const { minimum = beyond } = schema;
  return fc.oneof(
    fc.integer({ min: Math.max(minimum, -(2 ** 31)), max: Math.min(maximum, 2 ** 31 - 1) }),
    fc.constantFrom(minimum, maximum),
  );
}

function objects(schema: JsonSchema, sources: Sources): Arbitrary<Record<string, unknown>> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const members = Object.entries(properties).map(([name, member]) => [name, valuesOf(member, sources, name)] as const);
  if (typeof additionalProperties !== 'object') {
    return namesOf(schema).chain((names) => fc.record(Object.fromEntries(members.filter(([name]) => names.has(name)))));
  }
  const record = fc.record(Object.fromEntries(members), { requiredKeys: [...required] });
  const extras = fc.dictionary(fc.string({ minLength: 1 }), valuesOf(additionalProperties, sources), { maxKeys: 3 });
  return fc.tuple(record, extras).map(([own, extra]) => ({ ...extra, ...own }));
}

/**
 * The names of members that go together. They are chosen before any value: of names for the same thing only one may be
 * there, so nearly all objects would be made in vain.
 */
function namesOf({ properties = {}, required = [], ...schema }: JsonSchema): Arbitrary<Set<string>> {
  const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY, dependentRequired = {} } = schema;
  const refused = [schema, ...(schema.allOf ?? [])]
    .flatMap(({ not }) => (not === undefined ? [] : [not, ...(not.anyOf ?? [])]))
    .flatMap(({ required: together }) => (together === undefined ? [] : [together]));
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  return fc
    .shuffledSubarray(optional)
    .map((wanted) => {
      const names = new Set(required);
      for (const name of wanted.slice(0, Math.max(0, maxProperties - names.size))) {
        names.add(name);
        if (refused.some((together) => together.every((each) => names.has(each)))) names.delete(name);
      }
      return names;
    })
    .filter(
      (names) =>
        names.size >= minProperties &&
        Object.entries(dependentRequired).every(([name, others]) => !names.has(name) || hasAll(names, others)) &&
        (schema.oneOf ?? [{}]).filter((option) => goesTogether(option, names)).length === 1,
    );
}

function goesTogether(
  { required = [], maxProperties = Number.POSITIVE_INFINITY, not }: JsonSchema,
  names: ReadonlySet<string>,
): boolean {
  if (not !== undefined && goesTogether(not, names)) return false;
  return hasAll(names, required) && names.size <= maxProperties;
}

function hasAll(names: ReadonlySet<string>, wanted: readonly string[]): boolean {
  return wanted.every((name) => names.has(name));
}

function texts(schema: JsonSchema, known: readonly string[]): Arbitrary<string> {
  const free = freeTexts(schema);
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = schema;
  const fits = (text: string) =>
    text.length >= minLength &&
    text.length <= maxLength &&
    (pattern === undefined || new RegExp(pattern, 'u').test(text));
  const fitting = known.filter(fits);
  return fitting.length === 0 ? free : fc.oneof({ arbitrary: fc.constantFrom(...fitting), weight: 4 }, free);
}

function freeTexts({ minLength = 0, maxLength = longest, pattern, ...rest }: JsonSchema): Arbitrary<string> {
  if (rest.format === 'date-time') return dateTimes();
  if (rest.format === 'idn-email') return emails();
  if (rest.contentMediaType === 'application/json') return fc.json();
  if (pattern !== undefined) return matching(new RegExp(pattern), minLength, maxLength);
  const ordinary = fc.string({ minLength, maxLength: Math.min(maxLength, longest), unit: 'grapheme' });
  const binary = fc.string({ minLength, maxLength: Math.min(maxLength, longest), unit: 'binary' });
  const full = fc.constantFrom('x', 'é', '‮', '\u0000').map((char) => char.repeat(Math.min(maxLength, longestFull)));
  const upTo = (text: string) => withinUnits(text, maxLength);
  return fc
    .oneof({ arbitrary: ordinary, weight: 4 }, { arbitrary: binary, weight: 2 }, full)
    .map(upTo)
    .filter((text) => text.length >= minLength);
}

/** A schema counts characters, JavaScript counts UTF-16 units. Text that is short enough by both is valid. */
function withinUnits(text: string, most: number): string {
  if (text.length <= most) return text;
  let kept = '';
  for (const char of text) {
    if (kept.length + char.length > most) break;
    kept += char;
  }
  return kept;
}

/** As long as the schema allows, with surrounding space and letters of many scripts. */
function emails(): Arbitrary<string> {
  const local = fc.constantFrom('name', 'n.a+m', 'ünï', 'x'.repeat(64));
  const domain = fc.constantFrom('example.com', 'a', 'münchen.example', `${'d'.repeat(63)}.${'e'.repeat(63)}`);
  return fc
    .tuple(fc.constantFrom('', ' ', '\n'), local, domain)
    .map(([space, before, after]) => `${space}${before}@${after}${space}`);
}

/** A lookahead without groups in it. */
const lookaheads = /\(\?[=!][^()]*\)/g;

/**
 * Texts cannot be generated from an unanchored pattern, so random ones are filtered. Nor can they from a lookahead: texts of
 * the rest of the pattern are filtered.
 */
function matching(pattern: RegExp, minLength: number, maxLength: number): Arbitrary<string> {
  const anywhere = !pattern.source.startsWith('^');
  const made = anywhere
    ? fc.string({ minLength: 1, maxLength: Math.min(maxLength, longest) })
    : fc.stringMatching(new RegExp(pattern.source.replace(lookaheads, '')));
  return made.filter((text) => text.length >= minLength && pattern.test(text));
}

function dateTimes(): Arbitrary<string> {
  const earliest = new Date('0000-01-01T00:00:00.000Z');
  const latest = new Date('9999-12-31T23:59:59.999Z');
  const zone = fc.constantFrom('Z', '+00:00', '-23:59', '+14:00', '+05:30');
  const fraction = fc.constantFrom('', '.0', '.123', '.123456789012345678901234567890');
  return fc
    .tuple(fc.date({ min: earliest, max: latest, noInvalidDate: true }), fraction, zone)
    .map(([date, digits, offset]) => `${date.toISOString().slice(0, 19)}${digits}${offset}`);
}
