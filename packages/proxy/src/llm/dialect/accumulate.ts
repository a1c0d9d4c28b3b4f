import type { Members } from '../results/tool-message.ts';
import { membersIn } from '../results/tool-message.ts';

/** Members that each part says anew. */
const constant = new Set(['id', 'type', 'role', 'name', 'index', 'object', 'model']);

/** What parts of an answer say together: texts are joined, lists grow, and items with an index go on. */
export function accumulate(known: Members, part: Members): Members {
  const sum: Record<string, unknown> = { ...known };
  for (const [name, value] of Object.entries(part)) {
    if (value !== null && value !== undefined) sum[name] = joined(name, sum[name], value);
    else sum[name] ??= value;
  }
  return sum;
}

function joined(name: string, before: unknown, value: unknown): unknown {
  if (typeof before === 'string' && typeof value === 'string') {
    return constant.has(name) && before === value ? before : before + value;
  }
  if (Array.isArray(value)) return withItems(Array.isArray(before) ? before : [], value);
  if (typeof value === 'object') return accumulate(membersIn(before), membersIn(value));
  return value;
}

function withItems(before: readonly unknown[], items: readonly unknown[]): readonly unknown[] {
  const sum = [...before];
  for (const item of items) {
    const { index } = membersIn(item);
    const at = index === undefined ? -1 : sum.findIndex((known) => membersIn(known)['index'] === index);
    const next = typeof item === 'object' && item !== null ? accumulate(membersIn(sum[at]), membersIn(item)) : item;
    if (at < 0) sum.push(Array.isArray(item) ? item : next);
    else sum[at] = next;
  }
  return sum;
}
