import type { Touched } from '../journal/index.ts';
import type { Commit } from '../store.ts';

/** What other gateways are told of a batch, beside its place in the log. */
type Told = Pick<Commit, 'steps' | 'touched'>;

/** A member that JSON has no number for. No name of ours begins with it. */
const big = '$big';

/** The steps of a batch as text, for other gateways. */
export function commitText({ steps, touched }: Told): string {
  return JSON.stringify({ steps, touched } satisfies Told, (_, value: unknown) =>
    typeof value === 'bigint' ? { [big]: value.toString() } : value,
  );
}

/** Reads what `commitText` wrote, by this release or by another one. */
export function parseCommit(text: string): Told {
  // Reviving visits every value, and nearly no text holds a big number.
  const told = JSON.parse(text, text.includes(`{"${big}":"`) ? revive : undefined) as Partial<Told>;
  return { steps: told.steps ?? [], touched: told.touched ?? everything };
}

/** Unknown is as much as everything. */
const everything: Touched = { agents: [], orgs: [], everything: true };

function revive(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !(big in value)) return value;
  const { [big]: digits } = value;
  return typeof digits === 'string' && Object.keys(value).length === 1 ? BigInt(digits) : value;
}
