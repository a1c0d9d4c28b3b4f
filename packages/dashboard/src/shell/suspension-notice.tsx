import { useState } from 'react';
import { callRoute } from '../api/call.ts';
import type { Answer } from '../api/send.ts';
import { useRefreshOn } from '../api/use-refresh.ts';
import { useAction, useRoute } from '../api/use-route.ts';
import { useCan } from '../api/use-session.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Time } from '../ui/time.tsx';

export type Suspension = Answer<'listSuspensions'>['items'][number];

/** More than these are counted, not named. */
const mostShown = 5;
/** What looks different once a scope is suspended or lifted. */
const concerned = ['listSuspensions', 'topologyOverview', 'topologyStats', 'getAgent'] as const;

/** What is suspended, above every page: whoever wonders why nothing runs sees it first, and may lift it. */
export function SuspensionNotice() {
  const { data } = useRoute('listSuspensions', { query: { per_page: mostShown } }, { refetchInterval: 60_000 });
  useRefreshOn(['suspension'], concerned, 300);
  const mayWrite = useCan('write');
  const [lifting, setLifting] = useState<Suspension>();
  if (data === undefined || data.items.length === 0) return null;
  const more = data.total - data.items.length;
  return (
    <section aria-label="Suspended" className="border-b bg-danger-soft px-4 py-2 text-danger">
      <ul className="space-y-1">
        {data.items.map((each) => (
          <li key={each.id} className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <Icon name="pause" />
            <p className="min-w-0 flex-1 break-words">
              <strong>{nameOfSuspended(each)} is suspended</strong> since <Time at={each.since} form="clock" /> by{' '}
              {each.by.label === '' ? each.by.id : each.by.label}
              {each.reason === '' ? '' : `: ${each.reason}`}
            </p>
            {mayWrite ? (
              <Button size="small" icon="play" onClick={() => setLifting(each)}>
                Lift
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
      {more > 0 ? <p className="mt-1 text-sm">And {more} more: “reeve suspensions” lists them all.</p> : null}
      {lifting === undefined ? null : <LiftDialog suspension={lifting} onClose={() => setLifting(undefined)} />}
    </section>
  );
}

function LiftDialog({ suspension, onClose }: { readonly suspension: Suspension; readonly onClose: () => void }) {
  const name = nameOfSuspended(suspension);
  const action = useAction(
    (reason: string) => callRoute('liftSuspension', { params: { id: suspension.id }, body: { reason } }),
    { success: () => `This suspension of ${inSentence(name)} is lifted`, invalidates: concerned, isFailureShown: true },
  );
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`Lift the suspension of ${inSentence(name)}?`}
      confirmLabel="Lift the suspension"
      reason="optional"
      onConfirm={(reason) => action.mutateAsync(reason)}
    >
      <p>
        Checks in it are decided by the policies again, and what the suspension paused goes on, unless something else
        holds it.
      </p>
    </ConfirmDialog>
  );
}

function inSentence(name: string): string {
  return `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`;
}

interface SuspendedScope {
  readonly org_id: string | null;
  readonly team_id: string | null;
}

/** What is suspended, at the beginning of a sentence. */
function nameOfSuspended({ org_id: org, team_id: team }: SuspendedScope): string {
  if (org === null) return 'Everything';
  const name = (id: string) => (id === '' ? '-' : id);
  return team === null ? `Org ${name(org)}` : `Team ${name(org)}/${name(team)}`;
}
