/** A JSON Schema, with the members that the contract's schemas use. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly const?: string | boolean;
  readonly format?: string;
  readonly pattern?: string;
  readonly default?: string | number | boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
}

const idPattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$';

/** The values of a parameter, in words. */
export function words(schema: Schema): string {
  const byDefault = schema.default === undefined || schema.default === '' ? '' : `; default \`${schema.default}\``;
  return `${kind(schema)}${byDefault}`;
}

function kind(schema: Schema): string {
  const { anyOf, enum: choices, items, properties, type, minimum, maximum, maxLength } = schema;
  if (anyOf !== undefined) return anyOf.map(kind).join(' or ');
  if (choices !== undefined) return choices.map((choice) => `\`${choice}\``).join(', ');
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (items !== undefined) return `list of ${kind(items)}${(schema.minItems ?? 0) > 0 ? ', not empty' : ''}`;
  if (schema.pattern === idPattern) return 'id';
  if (schema.format === 'date-time') return 'RFC 3339';
  if (type === 'integer') return `whole number, ${minimum} to ${maximum}`;
  if (properties !== undefined)
    return `object of ${Object.keys(properties)
      .map((name) => `\`${name}\``)
      .join(', ')}`;
  if (type === 'string') return maxLength === undefined ? 'text' : `text, at most ${maxLength}`;
  return String(type);
}

/** The shape of an answer as a TypeScript-like type; named shapes are shown by name. */
export function shape(schema: Schema, names: ReadonlyMap<string, string>, depth = 0): string {
  const name = names.get(JSON.stringify(schema));
  if (name !== undefined) return name;
  const { $ref, anyOf, enum: choices, items, properties, additionalProperties, type } = schema;
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf('/') + 1);
  if (anyOf !== undefined) return anyOf.map((each) => shape(each, names, depth)).join(' | ');
  if (choices !== undefined) return choices.map((choice) => `"${choice}"`).join(' | ');
  if (schema.const !== undefined) return `"${schema.const}"`;
  if (items !== undefined) return arrayOf(shape(items, names, depth));
  if (properties !== undefined) return members(schema, names, depth);
  if (typeof additionalProperties === 'object') return `{ [name]: ${shape(additionalProperties, names, depth)} }`;
  if (schema.format === 'date-time') return 'timestamp';
  return type === undefined ? 'any' : [type].flat().join(' | ');
}

/** The members of an object, one on each line. */
export function members(schema: Schema, names: ReadonlyMap<string, string>, depth = 0): string {
  const inside = '  '.repeat(depth + 1);
  const lines = Object.entries(schema.properties ?? {}).map(([member, of]) => {
    const mark = schema.required?.includes(member) === true ? '' : '?';
    return `${inside}${member}${mark}: ${shape(of, names, depth + 1)}`;
  });
  return `{\n${lines.join('\n')}\n${'  '.repeat(depth)}}`;
}

function arrayOf(item: string): string {
  return /^[^{]* \| /.test(item) ? `(${item})[]` : `${item}[]`;
}
