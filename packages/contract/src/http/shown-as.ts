import type { z } from 'zod';

/** How the OpenAPI document describes a schema that says by itself less than it checks. */
const shown = new WeakMap<object, z.ZodType>();

/** A schema whose checks a description cannot read, with one beside it that says the same in what a description has. */
export function shownAs<Schema extends z.ZodType>(schema: Schema, as: z.ZodType): Schema {
  shown.set(schema, as);
  return schema;
}

export function descriptionOf(schema: object): z.ZodType | undefined {
  return shown.get(schema);
}
