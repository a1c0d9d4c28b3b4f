import type { Books } from './budgets.ts';

type Json = Readonly<Record<string, unknown>>;

/** What one gateway answers after everything has come to rest. */
export interface Seen {
  readonly name: string;
  readonly ops: readonly Json[];
  readonly agents: readonly Json[];
  readonly approvals: readonly Json[];
  readonly budgets: readonly Json[];
  readonly members: readonly Json[];
  readonly verified: Json;
}

/** What depends on the moment of the question, or on who is asked. */
const momentary = new Set(['last_seen_at', 'reached_at', 'self', 'agents', 'ops_in_flight']);

const inFlight = new Set<unknown>(['pending', 'running', 'paused']);

/** Nothing is left over, the books agree with the log, and all gateways say the same. */
export function gatewayFaults(gateways: readonly Seen[], { sums }: Pick<Books, 'sums'>): string[] {
  const [first] = gateways;
  if (first === undefined) return ['there is no gateway'];
  return [
    ...gateways.flatMap((seen) => leftOver(seen, sums)),
    ...gateways.slice(1).flatMap((other) => difference(first, other)),
  ];
}

function leftOver({ name, ops, approvals, budgets, members, verified }: Seen, sums: Books['sums']): string[] {
  const faults: string[] = [];
  for (const { op_id, state } of ops) {
    if (inFlight.has(state)) faults.push(`${name}: the operation ${String(op_id)} is still ${String(state)}`);
  }
  for (const { id, state } of approvals) {
    if (state === 'open') faults.push(`${name}: the approval ${String(id)} is still open`);
  }
  for (const budget of budgets) {
    const budgetName = nameOf(budget);
    if (Number(budget['reserved_usd']) !== 0) {
      faults.push(`${name}: ${budgetName} still reserves ${String(budget['reserved_usd'])}`);
    }
    // Midnight may have come in between.
    if (budget['period'] === 'day') continue;
    const spent = Math.round(Number(budget['spent_usd']) * 1_000_000);
    const logged = sums.get(budgetName)?.settled ?? 0;
    if (spent !== logged) faults.push(`${name}: ${budgetName} has spent ${spent}, and by the log ${logged}`);
  }
  if (verified['consistent'] !== true) faults.push(`${name}: the books are wrong: ${JSON.stringify(verified)}`);
  const selves = members.filter(({ self }) => self === true).length;
  if (selves !== 1) faults.push(`${name} is listed ${selves} times as itself`);
  return faults;
}

/** The name by which the log is added up. */
function nameOf({ tier, org_id, team_id, agent_id }: Json): string {
  const ids = [org_id, team_id, agent_id].filter((id) => id !== null).map(String);
  return [String(tier), ids.join('/')].filter((part) => part !== '').join(' ');
}

function difference(one: Seen, other: Seen): string[] {
  return (['ops', 'agents', 'approvals', 'budgets', 'members'] as const).flatMap((list) => {
    // Each gateway lists in the order in which it came to know them.
    const [here, there] = [one[list].map(lasting).sort(), other[list].map(lasting).sort()];
    const at = here.findIndex((item, nth) => item !== there[nth]);
    if (at === -1 && here.length === there.length) return [];
    const place = at === -1 ? here.length : at;
    return [
      `${list} of ${one.name} and ${other.name} differ: ${here[place] ?? 'nothing'} and ${there[place] ?? 'nothing'}`,
    ];
  });
}

/** What must be the same at all gateways, as text. */
function lasting(item: Json): string {
  const members = Object.entries(item).filter(([name]) => !momentary.has(name));
  return JSON.stringify(Object.fromEntries(members));
}
