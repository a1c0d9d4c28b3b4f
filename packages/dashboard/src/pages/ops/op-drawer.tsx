import { isOver } from '@reeve/contract/names';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { Button } from '../../ui/button.tsx';
import { Drawer } from '../../ui/dialog.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { noticeText } from './notice-text.ts';
import { partsOf } from './op.ts';
import { OpApproval } from './op-approval.tsx';
import { OpDecision } from './op-decision.tsx';
import { OpFacts } from './op-facts.tsx';
import { OpHistory } from './op-history.tsx';
import { OpReceipt } from './op-receipt.tsx';
import { OpRequest } from './op-request.tsx';
import type { Act } from './row-actions.tsx';
import type { Row } from './row-model.ts';
import { canAsk } from './row-model.ts';
import { OpStateBadge, staleWords } from './state-cell.tsx';
import type { OpenOp } from './use-open-op.ts';

interface OpDrawerProps {
  /** As named in the URL. */
  readonly asked: string;
  readonly open: OpenOp;
  readonly onClose: () => void;
  /** Missing if the person may only look. */
  readonly onAct?: Act | undefined;
}

/** One operation with its whole history. */
export function OpDrawer({ asked, open, onClose, onAct }: OpDrawerProps) {
  const { row } = open;
  return (
    <Drawer
      isOpen
      onClose={onClose}
      title={row === undefined ? 'Operation' : title(row)}
      {...(row === undefined || onAct === undefined || isOver(row.op.state) || row.isGone
        ? {}
        : { footer: <Controls row={row} onAct={onAct} /> })}
    >
      {row === undefined ? <Missing asked={asked} open={open} /> : <Details row={row} />}
    </Drawer>
  );
}

function title({ op }: Row): string {
  return `${op.agent.agent_id}: ${op.resource === '' ? op.op_id : op.resource}`;
}

function Controls({ row, onAct }: { readonly row: Row; readonly onAct: Act }) {
  const first = row.op.state === 'paused' ? 'resume' : 'pause';
  return (
    <>
      <Button
        icon={first === 'resume' ? 'play' : 'pause'}
        disabled={!canAsk(row, first)}
        onClick={() => onAct(first, [row])}
      >
        {first === 'resume' ? 'Resume' : 'Pause'}
      </Button>
      <Button icon="stop" look="danger" disabled={!canAsk(row, 'terminate')} onClick={() => onAct('terminate', [row])}>
        Terminate
      </Button>
    </>
  );
}

function Details({ row }: { readonly row: Row }) {
  const { op, notice } = row;
  const stamp = [op.updated_at, op.state, op.control?.id, op.control?.status, op.stale].join(' ');
  return (
    <div className="space-y-5">
      <div className="space-y-2">
        <OpStateBadge row={row} />
        {notice === undefined ? null : (
          <p role="alert" className="rounded-md border border-warn/40 bg-warn-soft p-3">
            {noticeText(notice, row)}
          </p>
        )}
        {op.stale ? (
          <p className="rounded-md border border-warn/40 bg-warn-soft p-3">
            <strong>Stale.</strong> {staleWords} Terminating it releases what is reserved.
          </p>
        ) : null}
      </div>
      <OpFacts op={op} />
      <Section title="Request">
        <OpRequest opId={op.op_id} agent={op.agent} />
      </Section>
      {op.state === 'pending' ? (
        <Section title="Waiting for">
          <OpApproval op={op} key={stamp} />
        </Section>
      ) : null}
      {op.control === null ? null : (
        <Section title="Last control">
          <OpReceipt control={op.control} />
        </Section>
      )}
      <Section title="Decision">
        <OpDecision opKey={row.key} key={op.action_type} />
      </Section>
      <Section title="History">
        <OpHistory opId={op.op_id} agent={op.agent} stamp={stamp} />
      </Section>
    </div>
  );
}

function Section({ title: name, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="space-y-2 border-t pt-4">
      <h3 className="font-semibold">{name}</h3>
      {children}
    </section>
  );
}

/** The operation is not in flight. The audit log may still know it. */
function Missing({ asked, open }: { readonly asked: string; readonly open: OpenOp }) {
  const { error, candidates, retry } = open;
  if (candidates.length > 0) {
    return (
      <div className="space-y-3">
        <p>Several agents have an operation with this id. Which one is meant?</p>
        <ul className="space-y-1">
          {candidates.map((candidate) => (
            <li key={candidate}>
              <Link to="/ops" search={{ op: candidate }} className="break-all text-accent underline underline-offset-2">
                {candidate}
              </Link>
            </li>
          ))}
        </ul>
      </div>
    );
  }
  if (error === null) return <Skeleton lines={6} label="Loading the operation" className="p-0" />;
  if (!(error instanceof ApiError) || error.status !== 404) {
    return <ErrorNotice error={error} title="The operation could not be loaded" onRetry={retry} />;
  }
  const parts = partsOf(asked);
  return (
    <div className="space-y-5">
      <p>
        It is not in flight: it has ended and the gateway has let go of it, or there has never been one with this id.
        What the audit log knows of it is below.
      </p>
      <Section title="Request">
        <OpRequest opId={parts?.op_id ?? asked} agent={parts?.agent} />
      </Section>
      {parts === undefined ? null : (
        <Section title="Decision">
          <OpDecision opKey={asked} />
        </Section>
      )}
      <Section title="History">
        <OpHistory opId={parts?.op_id ?? asked} agent={parts?.agent} stamp="" />
      </Section>
    </div>
  );
}
