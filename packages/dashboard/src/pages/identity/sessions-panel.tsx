import { useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { callRoute } from '../../api/call.ts';
import { plural } from '../../api/format.ts';
import type { Answer } from '../../api/send.ts';
import { useAction, useRoute } from '../../api/use-route.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import type { Column } from '../../ui/column.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Time } from '../../ui/time.tsx';
import { useIsWide } from '../../ui/use-is-wide.ts';
import { browserName } from './browser-name.ts';

type Session = Answer<'listSessions'>['items'][number];

/** Where the person is signed in, and how to end a session. */
export function SessionsPanel() {
  const sessions = useRoute('listSessions', { query: { per_page: 1000 } }, { refetchInterval: 15_000 });
  const isWide = useIsWide();
  const [ended, setEnded] = useState<readonly Session[]>();
  const end = useAction((chosen: readonly Session[]) => endAll(chosen), {
    success: (_, chosen) => `${plural(chosen.length, 'session')} ended.`,
    invalidates: ['listSessions'],
    isFailureShown: true,
  });
  return (
    <Loaded query={sessions} what="Your sessions">
      {({ items }) => {
        const others = items.filter(({ current }) => !current);
        return (
          <>
            <Card
              title={plural(items.length, 'open session')}
              isFlush
              actions={
                others.length === 0 ? undefined : (
                  <Button size="small" onClick={() => setEnded(others)}>
                    End all others
                  </Button>
                )
              }
            >
              <DataTable
                caption="Your sessions"
                columns={columnsOf(isWide, (session) => setEnded([session]))}
                rows={items}
                rowKey={({ id }) => id}
              />
            </Card>
            {ended === undefined ? null : (
              <ConfirmDialog
                isOpen
                onClose={() => setEnded(undefined)}
                title={ended.length === 1 ? 'End the session' : `End ${plural(ended.length, 'session')}`}
                confirmLabel="End"
                look="danger"
                onConfirm={() => end.mutateAsync(ended)}
              >
                <p>
                  {ended.length === 1 ? 'It is' : 'They are'} signed out at once. This session, the one that you use
                  now, stays.
                </p>
              </ConfirmDialog>
            )}
          </>
        );
      }}
    </Loaded>
  );
}

/** One after the other. A session that ended by itself meanwhile is no failure. */
async function endAll(chosen: readonly Session[]): Promise<void> {
  for (const { id } of chosen) {
    await callRoute('revokeSession', { params: { id } }).catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.code !== 'session_not_found') throw error;
    });
  }
}

function columnsOf(isWide: boolean, onEnd: (session: Session) => void): readonly Column<Session>[] {
  return [
    {
      id: 'what',
      header: 'Signed in with',
      cell: ({ user_agent: agent, address, current, remember_me: isRemembered }) => (
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="font-medium" title={agent}>
            {browserName(agent)}
          </span>
          {current ? <Badge tone="accent">this one</Badge> : null}
          {isRemembered ? <Badge title="Stays signed in when the browser is closed">remembered</Badge> : null}
          {isWide ? null : <span className="w-full text-xs text-muted">{address}</span>}
        </span>
      ),
    },
    {
      id: 'address',
      header: 'Address',
      isWideOnly: true,
      cell: ({ address }) => <span className="tabular-nums">{address}</span>,
    },
    { id: 'used', header: 'Last used', cell: ({ last_used_at: at }) => <Time at={at} /> },
    { id: 'since', header: 'Since', isWideOnly: true, cell: ({ created_at: at }) => <Time at={at} form="full" /> },
    { id: 'until', header: 'Ends', isWideOnly: true, cell: ({ expires_at: at }) => <Time at={at} /> },
    {
      id: 'end',
      header: <span className="sr-only">End</span>,
      align: 'right',
      cell: (session) =>
        session.current ? null : (
          <Button size="small" onClick={() => onEnd(session)}>
            End
          </Button>
        ),
    },
  ];
}
