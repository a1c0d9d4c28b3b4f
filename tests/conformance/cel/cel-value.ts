import { Duration, Timestamp, TypeValue } from '../../../packages/gateway/src/adapters/cel/values.ts';

/** A value of the specification's tests, as JSON. */
export interface CelValue {
  readonly nullValue?: null;
  readonly boolValue?: boolean;
  readonly int64Value?: string;
  readonly uint64Value?: string;
  readonly doubleValue?: number | string;
  readonly stringValue?: string;
  readonly listValue?: { readonly values?: readonly CelValue[] };
  readonly mapValue?: { readonly entries?: readonly { readonly key: CelValue; readonly value: CelValue }[] };
  readonly objectValue?: { readonly '@type'?: string; readonly value?: unknown };
  readonly typeValue?: string;
}

/** Whether a value of ours is the expected one. A double may stand for an int: JSON knows no other numbers. */
export function isValue(value: unknown, expected: CelValue): boolean {
  if ('nullValue' in expected) return value === null;
  if (expected.boolValue !== undefined) return value === expected.boolValue;
  if (expected.stringValue !== undefined) return value === expected.stringValue;
  if (expected.typeValue !== undefined) return value instanceof TypeValue && value.of === nameOf(expected.typeValue);
  const whole = expected.int64Value ?? expected.uint64Value;
  if (whole !== undefined) return value === BigInt(whole) || value === Number(whole);
  if (expected.doubleValue !== undefined) return Object.is(Number(value), Number(expected.doubleValue));
  if (expected.listValue !== undefined) return isList(value, expected.listValue.values ?? []);
  if (expected.mapValue !== undefined) return isMap(value, expected.mapValue.entries ?? []);
  return expected.objectValue !== undefined && isMessage(value, expected.objectValue);
}

function nameOf(type: string): string {
  return type.replace('google.protobuf.', '').replace('null_type', 'null').toLowerCase();
}

function isList(value: unknown, expected: readonly CelValue[]): boolean {
  if (!Array.isArray(value) || value.length !== expected.length) return false;
  return expected.every((item, at) => isValue(value[at], item));
}

function isMap(value: unknown, expected: readonly { readonly key: CelValue; readonly value: CelValue }[]): boolean {
  if (!(value instanceof Map) || value.size !== expected.length) return false;
  const entries = [...(value as ReadonlyMap<unknown, unknown>)];
  return expected.every((entry) =>
    entries.some(([key, item]) => isValue(key, entry.key) && isValue(item, entry.value)),
  );
}

function isMessage(value: unknown, expected: { readonly '@type'?: string; readonly value?: unknown }): boolean {
  const text = String(expected.value);
  if (value instanceof Timestamp) return value.nanos === nanosOf(text);
  if (value instanceof Duration) return value.nanos === nanosOfSeconds(text.replace(/s$/, ''));
  return false;
}

function nanosOf(text: string): bigint {
  const part = /\.(\d+)/.exec(text)?.[1] ?? '';
  return BigInt(Date.parse(text.replace(/\.\d+/, ''))) * 1_000_000n + BigInt(part.padEnd(9, '0'));
}

function nanosOfSeconds(text: string): bigint {
  const [whole = '0', part = ''] = text.replace('-', '').split('.');
  const nanos = BigInt(whole) * 1_000_000_000n + BigInt(part.padEnd(9, '0'));
  return text.startsWith('-') ? -nanos : nanos;
}
