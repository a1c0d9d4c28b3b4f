import type { Entry } from './log.ts';
import { isDecision, opOf } from './log.ts';

/** The document that operators of a storm put and delete. While it is in force, it denies the tool of its name. */
export const gate = 'gate';

/** Versions of a document are counted without a gap, and each decision is by the policies in force at its place. */
export function policyFaults(entries: readonly Entry[]): string[] {
  const faults: string[] = [];
  let inForce: string | undefined;
  let version = 0;
  let isClosed = false;
  for (const entry of entries) {
    const { seq, payload, policy_version, policy_rule } = entry;
    if (entry.event_type === 'PolicyReloaded' && payload['name'] === gate) {
      inForce = policy_version ?? undefined;
      isClosed = payload['change'] === 'put';
      if (payload['version'] !== ++version)
        faults.push(`entry ${seq}: version ${String(payload['version'])} of a policy comes after ${version - 1}`);
    } else if (isDecision(entry)) {
      if (inForce !== undefined && policy_version !== inForce)
        faults.push(`entry ${seq}: ${opOf(entry)} is decided by policy ${policy_version}, and ${inForce} is in force`);
      const { tool } = (payload['action'] ?? {}) as { readonly tool?: unknown };
      if (tool === gate && isClosed !== (policy_rule === `${gate}/closed`))
        faults.push(
          `entry ${seq}: ${opOf(entry)} is decided by ${policy_rule}, and the gate is ${isClosed ? 'closed' : 'open'}`,
        );
    }
  }
  return faults;
}
