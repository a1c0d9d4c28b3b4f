import type { Answer } from '../../api/send.ts';

export type Approval = Answer<'listApprovals'>['items'][number];

/** What waits, the one that expires first at the top. */
export function queueOf(approvals: readonly Approval[], now: number): readonly Approval[] {
  return approvals
    .filter(({ state, expires_at: at }) => state === 'open' && Date.parse(at) > now)
    .toSorted((one, other) => one.expires_at.localeCompare(other.expires_at) || one.id.localeCompare(other.id));
}

/** The list with what an event said of one approval. */
export function withApproval(approvals: readonly Approval[], changed: Approval): readonly Approval[] {
  const rest = approvals.filter(({ id }) => id !== changed.id);
  return changed.state === 'open' ? [...rest, changed] : rest;
}

/** The one at hand: the chosen one while it waits; where it is gone, the one that took its place. */
export function atHand(
  queue: readonly Approval[],
  chosenId: string | undefined,
  lastIndex: number,
): Approval | undefined {
  return queue.find(({ id }) => id === chosenId) ?? queue[Math.min(lastIndex, queue.length - 1)];
}

/** The neighbour of the one at hand; the ends hold. */
export function stepFrom(queue: readonly Approval[], id: string | undefined, step: 1 | -1): Approval | undefined {
  const at = queue.findIndex((approval) => approval.id === id);
  return queue[Math.min(Math.max(at + step, 0), queue.length - 1)];
}

/** What is asked for, in a few words. */
export function titleOf({ summary, resource, action_type: type }: Approval): string {
  if (summary !== '') return summary;
  return resource === '' ? type : `${type}: ${resource}`;
}

export function approvedSoFar({ verdicts }: Approval): number {
  return verdicts.filter(({ verdict }) => verdict === 'approve').length;
}

/** Whether this person has spoken already, where several are needed. */
export function hasSpoken({ verdicts }: Approval, actorId: string | undefined): boolean {
  return actorId !== undefined && verdicts.some(({ actor }) => actor.id === actorId);
}
