import { isObject } from '../is-object.ts';

/** A tenant's state as text, without what changes with time or by being read. */
export function lastingState(value: unknown, observerId: string): string {
  return JSON.stringify(value, asOf(observerId));
}

function asOf(observerId: string) {
  return (_name: string, value: unknown): unknown => {
    if (Array.isArray(value)) return value.filter((item) => !(isObject(item) && passes(item)));
    if (!isObject(value)) return value;
    // Reading uses the observer's own key, and no other.
    if (value['id'] === observerId) return { ...value, last_used_at: null };
    // The total of a list counts items that disappear by themselves.
    const { items } = value;
    if (Array.isArray(items) && items.some((item) => isObject(item) && 'op_id' in item)) return { ...value, total: 0 };
    // A budget begins anew at midnight. Canaries spend nothing, so no other part of it changes then.
    if ('resets_at' in value) return { ...value, resets_at: null };
    if (isOpen(value)) return { ...value, status: 'open', detail: '' };
    return 'stale' in value ? { ...value, stale: false } : value;
  };
}

/** Ended operations leave the list after a while. The log notes a control that nobody acknowledges. */
function passes(item: Readonly<Record<string, unknown>>): boolean {
  const { state, event_type: event } = item;
  return event === 'OpControlUnconfirmed' || state === 'terminated' || state === 'completing';
}

/** A receipt without an answer from its agent becomes unconfirmed by itself. */
function isOpen(value: Readonly<Record<string, unknown>>): boolean {
  const { status } = value;
  return 'requested_at' in value && ['requested', 'delivered', 'unconfirmed'].includes(String(status));
}
