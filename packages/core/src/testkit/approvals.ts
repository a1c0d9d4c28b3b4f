import type { Principal } from '../access/principal.ts';
import type { Approval, GrantWish } from '../approvals/approval.ts';
import { expireApprovals } from '../approvals/settle-approval.ts';
import { finish } from './controls.ts';
import { operator, useTool } from './requests.ts';
import type { TestAgent, TestGovernance } from './test-governance.ts';
import { approveAction, rejectAction } from './commands.ts';

/** A person who may decide; by default no administrator. */
export function person(name: string, members: Partial<Principal> = {}): Principal {
  const actor = { id: name, kind: 'account', label: `${name}@example.com` } as const;
  return { ...operator, actor, credentialId: name, scopes: ['write'], ...members };
}

/** Checks `<name>:s`, which somebody must approve, and returns the approval. */
export async function ask(test: TestGovernance, agent: TestAgent, name: string): Promise<string> {
  await test.policies('default: allow\nrules: [{ name: ask, effect: require_approval, tools: [shell] }]\n');
  const action = useTool('shell', { cmd: 'ls' });
  return (await test.check(agent, { traceId: name, spanId: 's', action })).approvalId;
}

export async function approve(
  test: TestGovernance,
  id: string,
  by: Principal = person('alice'),
  { reason = '', grant = null }: { readonly reason?: string; readonly grant?: GrantWish | null } = {},
): Promise<Approval> {
  return await finish(test, approveAction(test.gov, by, id, { reason, grant }));
}

export async function reject(
  test: TestGovernance,
  id: string,
  by: Principal = person('alice'),
  reason = '',
): Promise<Approval> {
  return await finish(test, rejectAction(test.gov, by, id, reason));
}

export async function expire(test: TestGovernance, most = 100): Promise<number> {
  return await finish(test, expireApprovals(test.gov, most));
}
