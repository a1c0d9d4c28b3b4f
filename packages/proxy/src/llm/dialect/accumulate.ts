import type { Members } from '../results/tool-message.ts';
import { membersIn } from '../results/tool-message.ts';
import { indexIn, OddStream } from './stream-form.ts';

/** What grows with each part. Nobody else holds it, so that a part costs no more than its own size. */
export type Growing = Record<string, unknown>;

/** Members that each part says anew. */
const constant = new Set(['id', 'type', 'role', 'name', 'index', 'object', 'model', 'format', 'finish_reason']);
/** Lists whose items come in parts. */
const numbered = new Set(['choices', 'tool_calls']);

const itemsByIndex = new WeakMap<readonly unknown[], Map<number, Growing>>();

/** Adds a part of an answer to what is known of it: texts are joined, lists grow, and items with an index go on. */
export function accumulate(sum: Growing, part: Members): Growing {
  for (const [name, value] of Object.entries(part)) {
    requireName(name);
    if (value !== null && value !== undefined) sum[name] = joined(name, sum[name] ?? undefined, value);
    else sum[name] ??= value;
  }
  return sum;
}

/** Takes the members that are said anew in place of those before. */
export function replace(sum: Growing, part: Members): void {
  for (const [name, value] of Object.entries(part)) {
    requireName(name);
    sum[name] = value;
  }
}

/** Who assigns this one hides members from those who judge. */
function requireName(name: string): void {
  if (name === '__proto__') throw new OddStream('a member has the name __proto__');
}

function joined(name: string, before: unknown, value: unknown): unknown {
  if (before !== undefined && kindOf(before) !== kindOf(value)) throw new OddStream('a value changes its type');
  if (typeof value === 'string') {
    const known = (before ?? '') as string;
    return constant.has(name) && known === value ? known : known + value;
  }
  if (Array.isArray(value)) return withItems(name, (before ?? []) as unknown[], value);
  if (typeof value === 'object') return accumulate((before ?? {}) as Growing, membersIn(value));
  return value;
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'list' : typeof value;
}

function withItems(name: string, sum: unknown[], items: readonly unknown[]): unknown[] {
  const known = itemsByIndex.get(sum) ?? new Map<number, Growing>();
  itemsByIndex.set(sum, known);
  for (const item of items) {
    const { index } = membersIn(item);
    if (index === undefined && !numbered.has(name)) sum.push(item);
    else {
      const at = indexIn(index);
      const before = known.get(at);
      const next = accumulate(before ?? {}, membersIn(item));
      known.set(at, next);
      if (before === undefined) sum.push(next);
    }
  }
  return sum;
}
