import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { classes } from '../../ui/classes.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Time } from '../../ui/time.tsx';
import { inkTone } from '../../ui/tone.ts';
import type { Entry } from './history-words.ts';
import { isOfAgent, titleOf } from './history-words.ts';
import type { Op } from './op.ts';
import { useOpEntries } from './use-op-entries.ts';

interface OpHistoryProps {
  readonly opId: string;
  /** Unknown if only the id is given. The history then shows entries of all agents with that id. */
  readonly agent: Op['agent'] | undefined;
  /** Changes whenever there may be news. */
  readonly stamp: string;
}

/** All audit log entries of one operation, newest first. */
export function OpHistory({ opId, agent, stamp }: OpHistoryProps) {
  const query = useOpEntries(opId, agent);
  const { refetch } = query;
  const told = useRef(stamp);
  useEffect(() => {
    if (told.current === stamp) return;
    told.current = stamp;
    void refetch();
  }, [stamp, refetch]);
  return (
    <Loaded query={query} what="The history">
      {({ items, next_cursor }) => {
        const own = agent === undefined ? items : items.filter((entry) => isOfAgent(entry, agent));
        if (own.length === 0) return <p className="text-muted">The audit log has no entry about it yet.</p>;
        return (
          <>
            <ol aria-label="History" className="space-y-2.5">
              {own.map((entry) => (
                <HistoryEntry key={entry.seq} entry={entry} />
              ))}
            </ol>
            {next_cursor === null ? null : (
              <Link to="/audit" search={{ op_id: opId }} className="text-accent underline underline-offset-2">
                Older entries are in the audit log
              </Link>
            )}
          </>
        );
      }}
    </Loaded>
  );
}

function HistoryEntry({ entry }: { readonly entry: Entry }) {
  const [title, tone] = titleOf(entry);
  const { actor, reason, policy_rule } = entry;
  return (
    <li className="grid grid-cols-[0.75rem_1fr_auto] gap-x-2">
      <span
        aria-hidden="true"
        className={classes('mt-1.5 size-2 rounded-full border-2 border-current', inkTone[tone])}
      />
      <span className="min-w-0">
        <span className="font-medium">{title}</span>
        <span className="text-muted"> by {actor.label === '' ? actor.id : actor.label}</span>
        {policy_rule === null ? null : <span className="text-muted">{` · rule ${policy_rule}`}</span>}
        {reason === null || reason === '' ? null : <span className="block break-words">{reason}</span>}
      </span>
      <Link
        to="/audit"
        search={{ seq: String(entry.seq) }}
        title={`Entry ${entry.seq} of the audit log`}
        className="text-right text-sm text-muted underline-offset-2 hover:underline"
      >
        <Time at={entry.at} form="clock" />
      </Link>
    </li>
  );
}
