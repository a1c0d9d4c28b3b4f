import type { Json } from '../audit/index.ts';

/** A JSON Schema, or a part of one. */
export type Schema = { readonly [member: string]: Json };

/** The schema of each member that a parser knows. */
export type Members<Key extends string> = Readonly<Record<Key, Schema>>;
