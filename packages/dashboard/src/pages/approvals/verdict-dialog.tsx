import { useState } from 'react';
import { callRoute } from '../../api/call.ts';
import type { RequestOf } from '../../api/send.ts';
import { useEvents } from '../../api/use-events.ts';
import { useAction } from '../../api/use-route.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Field, Select, TextArea, TextInput } from '../../ui/field.tsx';
import { Money } from '../../ui/money.tsx';
import type { Approval } from './approval-queue.ts';
import { approvalWords, approvedSoFar } from './approval-queue.ts';

type Reach = 'once' | 'run' | 'until';

interface VerdictDialogProps {
  readonly approval: Approval;
  readonly verdict: 'approve' | 'reject';
  readonly onClose: () => void;
}

/** Asks for the reason, and whether the approval should stand beyond this once. */
export function VerdictDialog({ approval, verdict, onClose }: VerdictDialogProps) {
  const [reason, setReason] = useState('');
  const [reach, setReach] = useState<Reach>('once');
  const [until, setUntil] = useState(inAnHour);
  const isApproval = verdict === 'approve';
  const decide = useAction(
    () => {
      const params = { id: approval.id };
      if (!isApproval) return callRoute('reject', { params, body: { reason } });
      return callRoute('approve', { params, body: { reason, ...grantOf(reach, until) } });
    },
    {
      success: (record) => successWords(record),
      invalidates: ['listApprovals', 'listGrants'],
      isFailureShown: true,
      onSuccess: onClose,
    },
  );
  const { title } = approval;
  const meanwhile = useDecidedElsewhere(approval.id, decide.isIdle || decide.isError);
  if (meanwhile !== undefined) {
    return (
      <Dialog isOpen onClose={onClose} title={title} width="narrow" footer={<Button onClick={onClose}>Close</Button>}>
        <p role="alert">{meanwhileWords(meanwhile)}</p>
      </Dialog>
    );
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={isApproval ? 'Approve' : 'Reject'}
      width="narrow"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            form="verdict"
            look={isApproval ? 'primary' : 'danger'}
            isPending={decide.isPending}
            disabled={reach === 'until' && Number.isNaN(Date.parse(until))}
          >
            {isApproval ? 'Approve' : 'Reject'}
          </Button>
        </>
      }
    >
      <form
        id="verdict"
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!decide.isPending) decide.mutate();
        }}
      >
        <code className="block max-h-40 overflow-auto break-all whitespace-pre-wrap">{title}</code>
        <p>
          {isApproval
            ? `${approvalWords(approval)} ${approval.agent.agent_id} may do it as it was asked for, and for `
            : `It does not happen, and ${approval.agent.agent_id} is told. It would have cost `}
          <Money usd={approval.cost_usd} />.
        </p>
        <Field label="Reason (optional)" hint="Kept in the audit log.">
          {/* The dialog was opened to write the reason. */}
          {/* oxlint-disable-next-line jsx-a11y/no-autofocus */}
          <TextArea autoFocus maxLength={8192} value={reason} onChange={(event) => setReason(event.target.value)} />
        </Field>
        {isApproval && approval.grantable ? (
          <GrantFields runId={approval.run_id} {...{ reach, until }} onReach={setReach} onUntil={setUntil} />
        ) : null}
        {decide.error === null ? null : <ErrorNotice error={decide.error} />}
      </form>
    </Dialog>
  );
}

interface GrantFieldsProps {
  readonly runId: string;
  readonly reach: Reach;
  readonly until: string;
  readonly onReach: (reach: Reach) => void;
  readonly onUntil: (until: string) => void;
}

function GrantFields({ runId, reach, until, onReach, onUntil }: GrantFieldsProps) {
  return (
    <>
      <Field
        label="For how long"
        hint="The same agent, action and resource, under the rules that ask now. Grants are listed and can be revoked."
      >
        <Select
          value={reach}
          onChange={onReach}
          choices={[
            { value: 'once', label: 'This once' },
            ...(runId === '' ? [] : [{ value: 'run' as const, label: `For the rest of run ${runId}` }]),
            { value: 'until', label: 'Until a time' },
          ]}
        />
      </Field>
      {reach === 'until' ? (
        <Field label="Until" hint="In your time zone, at most 30 days ahead.">
          <TextInput type="datetime-local" value={until} onChange={(event) => onUntil(event.target.value)} />
        </Field>
      ) : null}
    </>
  );
}

/** The verdict of somebody else while this person was thinking. */
function useDecidedElsewhere(id: string, isUndecided: boolean): Approval | undefined {
  const [decided, setDecided] = useState<Approval>();
  useEvents(['approval'], (events) => {
    const last = events.map(({ payload }) => payload.approval).findLast((approval) => approval.id === id);
    if (isUndecided && last !== undefined && last.state !== 'open') setDecided(last);
  });
  return decided;
}

function meanwhileWords({ state, verdicts }: Approval): string {
  const last = verdicts.at(-1);
  const who = last === undefined ? undefined : last.actor.label === '' ? last.actor.id : last.actor.label;
  if (state === 'approved') return `${who ?? 'Somebody else'} has approved it meanwhile: it runs.`;
  if (state === 'rejected') return `${who ?? 'Somebody else'} has rejected it meanwhile: it does not happen.`;
  return state === 'expired' ? 'It has expired meanwhile.' : 'Its operation has ended meanwhile.';
}

function grantOf(reach: Reach, until: string): Pick<NonNullable<RequestOf<'approve'>['body']>, 'grant'> {
  if (reach === 'once') return {};
  return { grant: reach === 'run' ? { reach } : { reach, until: new Date(until).toISOString() } };
}

function successWords(approval: Approval): string {
  const { state, required } = approval;
  if (state === 'approved') return 'Approved: it runs.';
  if (state === 'rejected') return 'Rejected: it does not happen.';
  return `Your approval counts: ${approvedSoFar(approval)} of ${required}. It does not run yet.`;
}

/** In the format of the date field. */
function inAnHour(): string {
  const at = new Date(Date.now() + 3_600_000);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
