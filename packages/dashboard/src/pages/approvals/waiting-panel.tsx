import { useState } from 'react';
import { useCan, useGrant } from '../../api/use-session.ts';
import { useShortcut } from '../../shell/shortcuts.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Drawer } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Kbd } from '../../ui/kbd.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { useNow } from '../../ui/now.ts';
import { useIsWide } from '../../ui/use-is-wide.ts';
import { ApprovalDetail } from './approval-detail.tsx';
import type { Approval } from './approval-queue.ts';
import { atHand, hasSpoken, isOpenWho, queueOf, stepFrom } from './approval-queue.ts';
import { useOpenApprovals } from './use-approvals.ts';
import { VerdictDialog } from './verdict-dialog.tsx';
import { WaitingList } from './waiting-list.tsx';

interface Question {
  readonly approval: Approval;
  readonly verdict: 'approve' | 'reject';
}

interface WaitingPanelProps {
  readonly orgId: string | undefined;
  readonly chosenId: string | undefined;
  readonly onChoose: (id: string | undefined) => void;
}

/** The queue beside the current approval. On a phone the current approval covers the queue. */
export function WaitingPanel({ orgId, chosenId, onChoose }: WaitingPanelProps) {
  const approvals = useOpenApprovals(orgId);
  const queue = queueOf(approvals.data ?? [], useNow(1000));
  const [asked, setAsked] = useState<Question>();
  return (
    <Loaded query={approvals} what="The approvals">
      {() => (
        <>
          {queue.length === 0 ? (
            <Card>
              <EmptyState icon="approvals" title="Nothing waits for an approval" command="reeve policy init">
                Actions that match a rule with <code>effect: require_approval</code> wait here for a person. The starter
                pack has such rules:
              </EmptyState>
            </Card>
          ) : (
            <Queue queue={queue} chosenId={chosenId} onChoose={onChoose} onAsk={setAsked} />
          )}
          {/* The dialog stays when the queue moves on under it. */}
          {asked === undefined ? null : <VerdictDialog {...asked} onClose={() => setAsked(undefined)} />}
        </>
      )}
    </Loaded>
  );
}

interface QueueProps {
  readonly queue: readonly Approval[];
  readonly chosenId: string | undefined;
  readonly onChoose: (id: string | undefined) => void;
  readonly onAsk: (question: Question) => void;
}

function Queue({ queue, chosenId, onChoose, onAsk }: QueueProps) {
  const isWide = useIsWide();
  const canDecide = useCan('write');
  // The index of the current approval, so that the next one takes its place.
  const [lastIndex, setLastIndex] = useState(0);
  const chosen = isWide || chosenId !== undefined ? atHand(queue, chosenId, lastIndex) : undefined;
  const index = chosen === undefined ? lastIndex : queue.indexOf(chosen);
  if (index !== lastIndex) setLastIndex(index);
  const ask = (verdict: 'approve' | 'reject') => {
    if (chosen !== undefined && canDecide && chosen.refusal == null && !isOpenWho(chosen))
      onAsk({ approval: chosen, verdict });
  };
  const move = (step: 1 | -1) => onChoose(stepFrom(queue, chosen?.id, step)?.id);
  useShortcut('j', 'Next approval', () => move(1));
  useShortcut('k', 'Previous approval', () => move(-1));
  useShortcut('a', 'Approve', () => ask('approve'));
  useShortcut('r', 'Reject', () => ask('reject'));
  const details = chosen === undefined ? null : <ApprovalDetail approval={chosen} />;
  const buttons = chosen === undefined || !canDecide ? null : <Verdicts approval={chosen} onAsk={ask} />;
  return (
    <div className="grid grid-cols-1 items-start gap-4 md:grid-cols-[minmax(18rem,2fr)_3fr]">
      <Card isFlush>
        <WaitingList queue={queue} chosen={chosen} onChoose={({ id }) => onChoose(id)} />
      </Card>
      {isWide && chosen !== undefined ? (
        <Card title={<Title of={chosen} />} actions={buttons} className="sticky top-16">
          {details}
        </Card>
      ) : null}
      {isWide || chosen === undefined ? null : (
        <Drawer isOpen onClose={() => onChoose(undefined)} title={<Title of={chosen} />} footer={buttons}>
          {details}
        </Drawer>
      )}
    </div>
  );
}

/** The request, in a few lines at most. The details show all of it. */
function Title({ of }: { readonly of: Approval }) {
  return (
    <span className="line-clamp-3" title={of.title}>
      {of.title}
    </span>
  );
}

interface VerdictsProps {
  readonly approval: Approval;
  readonly onAsk: (verdict: 'approve' | 'reject') => void;
}

function Verdicts({ approval, onAsk }: VerdictsProps) {
  const grant = useGrant();
  if (hasSpoken(approval, grant?.account?.id)) {
    return <p className="text-muted">You have approved; somebody else has to, too.</p>;
  }
  if (approval.refusal != null) return <p className="text-muted">You cannot decide: {approval.refusal.detail}.</p>;
  if (isOpenWho(approval)) return null;
  return (
    <>
      <Button className="text-danger!" onClick={() => onAsk('reject')}>
        Reject <Kbd keys="r" isOnButton />
      </Button>
      <Button look="primary" onClick={() => onAsk('approve')}>
        Approve <Kbd keys="a" isOnButton />
      </Button>
    </>
  );
}
