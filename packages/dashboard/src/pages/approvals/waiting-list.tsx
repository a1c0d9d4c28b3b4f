import { agentPath, userText } from '@reeve/contract/names';
import { useEffect, useRef } from 'react';
import { classes } from '../../ui/classes.ts';
import { Money } from '../../ui/money.tsx';
import { Countdown } from '../../ui/time.tsx';
import type { Approval } from './approval-queue.ts';
import { approvedSoFar } from './approval-queue.ts';

interface WaitingListProps {
  readonly queue: readonly Approval[];
  readonly chosen: Approval | undefined;
  readonly onChoose: (approval: Approval) => void;
}

/** The queue. It marks the current approval, and scrolls to it when keys move it. */
export function WaitingList({ queue, chosen, onChoose }: WaitingListProps) {
  const list = useRef<HTMLUListElement>(null);
  const chosenId = chosen?.id;
  useEffect(() => {
    if (chosenId === undefined) return;
    list.current?.querySelector(`[data-id="${CSS.escape(chosenId)}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [chosenId]);
  return (
    <ul ref={list} aria-label="Approvals waiting">
      {queue.map((approval) => (
        <li key={approval.id} className="border-t first:border-t-0">
          <button
            type="button"
            data-id={approval.id}
            aria-current={approval.id === chosen?.id}
            onClick={() => onChoose(approval)}
            className={classes(
              'flex w-full items-start justify-between gap-3 px-4 py-2.5 text-left -outline-offset-2 hover:bg-hover',
              approval.id === chosen?.id && 'bg-accent-soft shadow-[inset_3px_0_0_var(--color-accent)]',
            )}
          >
            <span className="min-w-0">
              <span className="line-clamp-2 font-medium break-words" title={approval.title}>
                {approval.title}
              </span>
              {approval.summary === '' ? null : (
                <span className="line-clamp-1 text-sm break-words text-muted">{approval.summary}</span>
              )}
              <span className="line-clamp-2 text-sm wrap-anywhere text-muted">
                {agentPath(approval.agent)}
                {approval.user === null ? null : ` for ${userText(approval.user)}`}
              </span>
              <span className="block text-sm break-all text-muted">{approval.policy_rule}</span>
            </span>
            <span className="shrink-0 text-right text-sm">
              <span className="block font-medium text-warn">
                <Countdown to={approval.expires_at} over="expired" />
              </span>
              <span className="block">
                <Money usd={approval.cost_usd} />
              </span>
              {approval.required > 1 ? (
                <span className="block text-muted">
                  {approvedSoFar(approval)} of {approval.required}
                </span>
              ) : null}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
