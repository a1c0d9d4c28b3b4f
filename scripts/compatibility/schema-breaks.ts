/** A JSON Schema, as the OpenAPI document has them. */
export type Schema = { readonly [keyword: string]: unknown };

/** Whether callers send what the schema describes, or are sent it. */
type Direction = 'sent' | 'received';

interface Place {
  readonly direction: Direction;
  /** What a message says of the place. */
  readonly where: string;
  /** The definitions of both documents, by reference. */
  readonly before: Definitions;
  readonly after: Definitions;
  /** The pairs of references that are being compared: schemas may contain themselves. */
  readonly open?: ReadonlySet<string>;
}

type Definitions = Readonly<Record<string, Schema>>;

const upperBounds = ['maxLength', 'maxItems', 'maximum', 'exclusiveMaximum', 'maxProperties'] as const;
const lowerBounds = ['minLength', 'minItems', 'minimum', 'exclusiveMinimum', 'minProperties'] as const;
/** These are compared as a whole: any other value may refuse what was accepted. */
const opaque = ['pattern', 'format', 'not', 'propertyNames', 'contentMediaType'] as const;

/**
 * What a caller of the schema before may trip over. A value more in an enum, and a member more in an answer, break
 * nobody: clients pass over what they do not know.
 */
export function schemaBreaks(before: Schema, after: Schema, place: Place): readonly string[] {
  const pair = `${String(before['$ref'])} ${String(after['$ref'])}`;
  if ('$ref' in before || '$ref' in after) {
    if (place.open?.has(pair) === true) return [];
    const open = new Set([...(place.open ?? []), pair]);
    return schemaBreaks(resolved(before, place.before), resolved(after, place.after), { ...place, open });
  }
  const one = branches(before);
  const other = branches(after);
  if (one.length > 1 || other.length > 1) return unionBreaks(one, other, place);
  return [typeBreaks, memberBreaks, jointBreaks, boundBreaks].flatMap((rule) => [...rule(before, after, place)]);
}

function resolved(schema: Schema, definitions: Definitions): Schema {
  return typeof schema['$ref'] === 'string' ? (definitions[schema['$ref']] ?? {}) : schema;
}

/** The schemas one of which holds. A list of types, and a word or null, count as such. */
function branches(schema: Schema): readonly Schema[] {
  const { anyOf, oneOf, type, ...rest } = schema;
  const union = anyOf ?? oneOf;
  if (Array.isArray(union)) return (union as Schema[]).map((branch) => ({ ...rest, ...branch }));
  return Array.isArray(type) ? (type as string[]).map((one) => ({ ...rest, type: one })) : [schema];
}

function unionBreaks(before: readonly Schema[], after: readonly Schema[], place: Place): readonly string[] {
  const { direction, where } = place;
  const fits = (one: Schema, other: Schema) => schemaBreaks(one, other, place).length === 0;
  // What was not a union and is one now: every kind of answer is new to callers who know one kind.
  const isNewUnion = before.length === 1 && direction === 'received';
  const lost = isNewUnion
    ? after.filter((other) => !before.some((one) => fits(one, other)))
    : before.filter((one) => !after.some((other) => fits(one, other)));
  if (lost.length === 0) return [];
  // Less was promised than is kept: an answer that may no longer be null.
  if (direction === 'received' && after.every((other) => before.some((one) => fits(one, other)))) return [];
  const [first] = lost;
  const shown = JSON.stringify(first).slice(0, 120);
  return [isNewUnion ? `${where}: may be ${shown} now` : `${where}: is never ${shown} any more`];
}

function* typeBreaks(before: Schema, after: Schema, { direction, where }: Place): Generator<string> {
  const [was, is] = [before['type'], after['type']];
  const widened = direction === 'sent' && (is === undefined || (was === 'integer' && is === 'number'));
  const narrowed = direction === 'received' && (was === undefined || (was === 'number' && is === 'integer'));
  if (was !== is && !widened && !narrowed) yield `${where}: is ${String(is)}, not ${String(was)}`;
  const words = wordsOf(before);
  const wordsNow = wordsOf(after);
  if (wordsNow === undefined) return;
  if (words === undefined && direction === 'sent') yield `${where}: takes only ${wordsNow.join(', ')} now`;
  for (const word of words ?? []) if (!wordsNow.includes(word)) yield `${where}: ${word} is gone`;
}

function wordsOf(schema: Schema): readonly string[] | undefined {
  if ('const' in schema) return [JSON.stringify(schema['const'])];
  return Array.isArray(schema['enum']) ? schema['enum'].map((word) => JSON.stringify(word)) : undefined;
}

function* memberBreaks(before: Schema, after: Schema, place: Place): Generator<string> {
  const { direction, where } = place;
  const members = membersOf(before);
  const membersNow = membersOf(after);
  const [required, requiredNow] = [requiredOf(before), requiredOf(after)];
  for (const [name, member] of Object.entries(members)) {
    const now = membersNow[name];
    const at = { ...place, where: `${where}.${name}` };
    if (now === undefined) yield `${at.where}: is gone`;
    else yield* schemaBreaks(member, now, at);
    if (direction === 'received' && required.has(name) && now !== undefined && !requiredNow.has(name)) {
      yield `${at.where}: may be missing now`;
    }
  }
  if (direction === 'sent') {
    for (const name of requiredNow) if (!required.has(name)) yield `${where}.${name}: is required now`;
  }
  const [rest, restNow] = [before['additionalProperties'], after['additionalProperties']];
  if (direction === 'sent' && rest !== false && restNow === false) yield `${where}: takes no other members now`;
  if (isSchema(rest) && isSchema(restNow)) yield* schemaBreaks(rest, restNow, { ...place, where: `${where}.*` });
  const [items, itemsNow] = [before['items'], after['items']];
  if (isSchema(items) && isSchema(itemsNow)) yield* schemaBreaks(items, itemsNow, { ...place, where: `${where}[]` });
}

/** All of these hold. They are compared one by one, in their order. */
function* jointBreaks(before: Schema, after: Schema, place: Place): Generator<string> {
  const [all, allNow] = [jointOf(before), jointOf(after)];
  for (const [at, now] of allNow.entries()) {
    const one = all[at];
    if (one !== undefined) yield* schemaBreaks(one, now, place);
    else if (place.direction === 'sent') yield `${place.where}: must fit one schema more`;
  }
  if (place.direction === 'received' && allNow.length < all.length) yield `${place.where}: fits one schema less`;
}

function jointOf(schema: Schema): readonly Schema[] {
  return Array.isArray(schema['allOf']) ? (schema['allOf'] as Schema[]) : [];
}

function* boundBreaks(before: Schema, after: Schema, { direction, where }: Place): Generator<string> {
  if (direction === 'received') return;
  for (const [bounds, tighter] of [
    [upperBounds, (was: number, is: number) => is < was],
    [lowerBounds, (was: number, is: number) => is > was],
  ] as const) {
    for (const bound of bounds) {
      const [was, is] = [before[bound], after[bound]];
      if (typeof is !== 'number' || (typeof was === 'number' && !tighter(was, is))) continue;
      yield `${where}: ${bound} is ${is}, ${typeof was === 'number' ? `not ${was}` : 'and there was none'}`;
    }
  }
  for (const keyword of opaque) {
    if (after[keyword] === undefined || JSON.stringify(before[keyword]) === JSON.stringify(after[keyword])) continue;
    yield `${where}: has another ${keyword}`;
  }
}

function membersOf(schema: Schema): Readonly<Record<string, Schema>> {
  return isSchema(schema['properties']) ? (schema['properties'] as Record<string, Schema>) : {};
}

function requiredOf(schema: Schema): ReadonlySet<string> {
  return new Set(Array.isArray(schema['required']) ? (schema['required'] as string[]) : []);
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
