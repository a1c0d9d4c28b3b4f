export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Numbers that JavaScript would write differently than they were written. */
const delicateNumbers = /\d{16}|\d\.\d|\d[eE]/;

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const exactJson = JSON as unknown as {
  parse(text: string, reviver: Reviver): unknown;
  rawJSON(text: string): unknown;
  isRawJSON(value: unknown): value is { readonly rawJSON: string };
};

const keepDigits: Reviver = (_key, value, { source }) =>
  typeof value === 'number' && source !== undefined && source !== String(value) ? exactJson.rawJSON(source) : value;

export function hasDelicateNumbers(text: string): boolean {
  return delicateNumbers.test(text);
}

/** Reads JSON. Numbers that JavaScript would write differently stay as they were written. Throws if it is no JSON. */
export function parseWritten(text: string): unknown {
  return exactJson.parse(text, keepDigits);
}

/** The digits of a number within a written value. Undefined if it is no number. */
export function writtenNumber(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return exactJson.isRawJSON(value) ? value.rawJSON : undefined;
}
