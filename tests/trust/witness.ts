import type { LoggedEntry } from '../harness/audit-log.ts';
import { readAuditLog } from '../harness/audit-log.ts';
import type { Registered, TestGateway } from '../harness/gateway.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { verifyChain } from '../harness/verify-chain.ts';

/** Decisions by their wire number. */
const decisionNames = ['none', 'allow', 'deny', 'pending'] as const;

/** Records what a gateway has acknowledged, and checks its store against all of it. */
export class Witness {
  readonly decisions = new Map<string, string>();
  readonly completions = new Set<string>();
  readonly controls = new Set<string>();
  readonly verdicts = new Set<string>();
  readonly registered: Registered[] = [];

  get acknowledged(): number {
    const { decisions, completions, controls, verdicts, registered } = this;
    return decisions.size + completions.size + controls.size + verdicts.size + registered.length;
  }

  decided({ opId, decision }: { readonly opId: string; readonly decision: number }): void {
    this.decisions.set(opId, decisionNames[decision] ?? 'none');
  }

  /** Acknowledged records that are not in the store exactly once, and faults of the store. */
  faultsOf(folder: string): string[] {
    const chain = verifyChain(folder);
    const entries = readAuditLog(folder);
    const broken = brokenLifecycle(entries);
    return [
      ...(chain.accepted ? [] : [`the chain is broken: ${chain.says}`]),
      ...(broken === undefined ? [] : [`an operation moved from where it was not: entry ${broken.seq}`]),
      ...this.#missingDecisions(entries),
      ...missing('completion', this.completions, idsOf(entries, 'OpStateChanged', 'completing')),
      ...missing('control', this.controls, payloadIds(entries, 'OpControlRequested', 'control_id')),
      ...missing('verdict', this.verdicts, [
        ...payloadIds(entries, 'ApprovalGranted', 'approval_id'),
        ...payloadIds(entries, 'ApprovalRejected', 'approval_id'),
      ]),
      ...missing('registration', new Set(this.registered.map(({ id }) => id.agentId)), registeredIn(entries)),
    ];
  }

  /** Where a running gateway contradicts what it has acknowledged: its balances, and a few of the agents. */
  async faultsOfRunning(gateway: TestGateway): Promise<string[]> {
    const { body, text } = await gateway.api.get<{ consistent: boolean }>('/api/v1/budgets/verify', bootstrapKey);
    const unknown: string[] = [];
    for (const agent of this.registered.slice(-3)) {
      const heard = await gateway.heartbeat(agent).catch((error: unknown) => String(error));
      if (typeof heard === 'string') unknown.push(`agent ${agent.id.agentId} is not known any more: ${heard}`);
    }
    return [...(body.consistent ? [] : [`the books do not agree with the log: ${text}`]), ...unknown];
  }

  #missingDecisions(entries: readonly LoggedEntry[]): string[] {
    const seen = new Map<string, string[]>();
    for (const { op_id, decision, payload } of entries) {
      if (op_id === null || decision === null || payload['replay'] === true) continue;
      seen.set(op_id, [...(seen.get(op_id) ?? []), decision]);
    }
    return [...this.decisions].flatMap(([opId, decision]) => {
      const logged = seen.get(opId) ?? [];
      if (logged.length === 1 && logged[0] === decision) return [];
      return [`the decision ${decision} of ${opId} was acknowledged, and the log has [${logged.join(', ')}]`];
    });
  }
}

/** The first transition that does not start at the operation's state, or the first repeated decision. */
function brokenLifecycle(entries: readonly LoggedEntry[]): LoggedEntry | undefined {
  const states = new Map<string, unknown>();
  return entries.find(({ event_type, op_id, lineage, decision, payload }) => {
    const op = `${lineage.agent_id} ${op_id}`;
    const { from, to, op_state, replay } = payload;
    if (event_type === 'OpStateChanged') {
      if (states.get(op) !== from) return true;
      states.set(op, to);
    } else if (decision !== null && op_state !== undefined && replay !== true) {
      if (states.has(op)) return true;
      states.set(op, op_state);
    }
    return false;
  });
}

function missing(what: string, wanted: ReadonlySet<string>, logged: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const id of logged) counts.set(id, (counts.get(id) ?? 0) + 1);
  return [...wanted].flatMap((id) =>
    counts.get(id) === 1
      ? []
      : [`the ${what} of ${id} was acknowledged, and the log has it ${counts.get(id) ?? 0} times`],
  );
}

function idsOf(entries: readonly LoggedEntry[], type: string, to: string): string[] {
  return entries.flatMap(({ event_type, op_id, payload }) =>
    event_type === type && payload['to'] === to && op_id !== null ? [op_id] : [],
  );
}

function payloadIds(entries: readonly LoggedEntry[], type: string, member: string): string[] {
  return entries.flatMap(({ event_type, payload }) => (event_type === type ? [String(payload[member])] : []));
}

function registeredIn(entries: readonly LoggedEntry[]): string[] {
  return entries.flatMap(({ event_type, lineage }) => (event_type === 'AgentRegistered' ? [lineage.agent_id] : []));
}
