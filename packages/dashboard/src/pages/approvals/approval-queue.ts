import type { Answer } from '../../api/send.ts';

export type Approval = Answer<'listApprovals'>['items'][number];

/** Waiting approvals, the next to expire at the top. */
export function queueOf(approvals: readonly Approval[], now: number): readonly Approval[] {
  return approvals
    .filter(({ state, expires_at: at }) => state === 'open' && Date.parse(at) > now)
    .toSorted((one, other) => one.expires_at.localeCompare(other.expires_at) || one.id.localeCompare(other.id));
}

/** The list with one approval updated by an event. */
export function withApproval(approvals: readonly Approval[], changed: Approval): readonly Approval[] {
  const rest = approvals.filter(({ id }) => id !== changed.id);
  const { refusal } = approvals.find(({ id }) => id === changed.id) ?? {};
  return changed.state === 'open' ? [...rest, refusal === undefined ? changed : { ...changed, refusal }] : rest;
}

/** Whether the gateway has yet to say if this person's verdict counts: events do not. */
export function isOpenWho({ refusal, approvers }: Approval): boolean {
  return refusal === undefined && approvers.words !== '';
}

/** The current approval: the chosen one while it waits, then the one that took its place. */
export function atHand(
  queue: readonly Approval[],
  chosenId: string | undefined,
  lastIndex: number,
): Approval | undefined {
  return queue.find(({ id }) => id === chosenId) ?? queue[Math.min(lastIndex, queue.length - 1)];
}

/** The neighbour of the current approval. Stops at both ends. */
export function stepFrom(queue: readonly Approval[], id: string | undefined, step: 1 | -1): Approval | undefined {
  const at = queue.findIndex((approval) => approval.id === id);
  return queue[Math.min(Math.max(at + step, 0), queue.length - 1)];
}

/** How many of the required people have approved. */
export function approvedSoFar({ verdicts }: Approval): number {
  return verdicts.filter(({ verdict }) => verdict === 'approve').length;
}

/** What an approval would do: nothing runs before all required people have given theirs. */
export function approvalWords(approval: Approval): string {
  const { required } = approval;
  const so = approvedSoFar(approval) + 1;
  if (so >= required)
    return required === 1 ? 'It will run at once.' : `Yours is ${so} of ${required}: it will run at once.`;
  const left = required - so;
  return `Yours is ${so} of ${required}: it will not run before ${left} more ${left === 1 ? 'person approves' : 'people approve'}.`;
}

/** Whether this person has already given a verdict, if several are needed. */
export function hasSpoken({ verdicts }: Approval, actorId: string | undefined): boolean {
  return actorId !== undefined && verdicts.some(({ actor }) => actor.id === actorId);
}
