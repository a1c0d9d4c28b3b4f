/** Says of a result, or of a prompt, why it cannot be judged, and the way out. It names no part of it. */
export class UnjudgeableResult extends Error {}

/**
 * A copy of a value that JSON shows whole. What JSON leaves out would pass unjudged: so it is left out here, too, or the value
 * is refused. Nobody changes the copy while it is judged, and every member is read once.
 */
export function plainCopy(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw notJson(String(value));
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol') {
    throw notJson(`a ${typeof value}`);
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Array.from(value, plainCopy);
  if (!isPlain(value)) throw notJson(`a ${value.constructor?.name ?? 'special object'}`);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plainCopy(member)]));
}

function isPlain(value: object): boolean {
  const above: unknown = Object.getPrototypeOf(value);
  const isBare = above === null || Object.getPrototypeOf(above) === null;
  return isBare && typeof (value as { toJSON?: unknown }).toJSON !== 'function';
}

export function notJson(what: string): UnjudgeableResult {
  return new UnjudgeableResult(
    `cannot be judged: it holds ${what}; give back a text, or JSON of objects, lists, texts and numbers`,
  );
}
