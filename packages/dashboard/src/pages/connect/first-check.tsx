import { agentPath } from '@reeve/contract/names';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { actionName } from '../../api/action-name.ts';
import { entranceWords } from '../../api/entrance-name.ts';
import { useEvents } from '../../api/use-events.ts';
import { useRoute } from '../../api/use-route.ts';
import { OpBadge } from '../../ui/badge.tsx';
import { buttonClasses } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Time } from '../../ui/time.tsx';
import type { MadeAgent } from './made-agent.ts';
import type { SeenOp } from './first-op.ts';
import { firstOf } from './first-op.ts';

interface FirstCheckProps {
  readonly agent: MadeAgent['agent'];
  /** Whether nobody can have used an earlier token. */
  readonly isNew: boolean;
}

/** Waits until an operation of the agent is seen. Events tell at once, and the list tells what came before them. */
export function FirstCheck({ agent, isNew }: FirstCheckProps) {
  const [seen, setSeen] = useState<SeenOp>();
  const [before, setBefore] = useState<ReadonlySet<string>>();
  const list = useRoute('listOps', { query: { agent_id: agent.agent_id, per_page: 50 } });
  useEvents(['ops_change'], (events) => {
    const known = before ?? (isNew ? new Set<string>() : undefined);
    if (known === undefined) return;
    const ops = events.map(({ payload }) => payload.op);
    setSeen((first) => first ?? firstOf(ops, agent, known));
  });
  // What was there before the token is no sign of it.
  if (before === undefined && list.data !== undefined) {
    setBefore(new Set(isNew ? [] : list.data.items.map(({ op_id }) => op_id)));
  }
  const first = seen ?? (before === undefined ? undefined : firstOf(list.data?.items ?? [], agent, before));
  return (
    <div role="status" className="space-y-2">
      {first === undefined ? (
        <p className="flex items-center gap-2">
          <span
            aria-hidden="true"
            className="size-4 animate-spin rounded-full border-2 border-accent border-r-transparent motion-reduce:animate-none"
          />
          Waiting for the first check of <strong className="break-all">{agentPath(agent)}</strong>. Let it do something.
        </p>
      ) : (
        <Connected op={first} path={agentPath(agent)} />
      )}
    </div>
  );
}

function Connected({ op, path }: { readonly op: SeenOp; readonly path: string }) {
  const what = [actionName(op.action_type), op.resource].filter(Boolean).join(' ');
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-md bg-ok-soft p-3">
      <Icon name="check" className="text-ok" />
      <p className="min-w-0 flex-1 basis-60">
        <strong className="text-ok">It is connected.</strong> Its first check came {entranceWords(op.via)},{' '}
        <Time at={op.registered_at} />: <span className="break-all">{what}</span> <OpBadge op={op} />
      </p>
      <Link to="/ops" search={{ op: `${path}/${op.op_id}` }} className={buttonClasses('plain', 'small')}>
        Open the operation
      </Link>
    </div>
  );
}
