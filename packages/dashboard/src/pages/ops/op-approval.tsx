import { Link } from '@tanstack/react-router';
import { useRoute } from '../../api/use-route.ts';
import { buttonClasses } from '../../ui/button.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Countdown } from '../../ui/time.tsx';
import type { Op } from './op.ts';
import { keyOf } from './op.ts';

interface OpApprovalProps {
  readonly op: Pick<Op, 'agent' | 'op_id'> & { readonly action_type: string | null };
}

/** What a pending operation waits for: a person, or its first check. */
export function OpApproval({ op }: OpApprovalProps) {
  const { org_id, team_id, agent_id } = op.agent;
  const query = useRoute('listApprovals', { query: { org_id, team_id, agent_id, per_page: 1000 } });
  return (
    <Loaded query={query} what="The approval" lines={2}>
      {({ items }) => {
        const approval = items.find((each) => keyOf(each) === keyOf(op));
        if (approval === undefined) {
          return (
            <p className="text-muted">
              No approval is open for it. {op.action_type === null ? 'Its agent has yet to ask for leave to act.' : ''}
            </p>
          );
        }
        return (
          <div className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-md border border-warn/40 bg-warn-soft p-3">
            <p className="min-w-0 flex-1">
              {approval.reason === '' ? 'A person has to approve it.' : approval.reason}
              <span className="block text-sm">
                Expires in <Countdown to={approval.expires_at} />
              </span>
            </p>
            <Link to="/approvals" search={{ id: approval.id }} className={buttonClasses('primary', 'small')}>
              Decide
            </Link>
          </div>
        );
      }}
    </Loaded>
  );
}
