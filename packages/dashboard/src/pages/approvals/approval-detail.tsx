import { agentPath } from '@reeve/contract/names';
import { Link } from '@tanstack/react-router';
import { AgentName } from '../../ui/agent-name.tsx';
import { StateBadge } from '../../ui/badge.tsx';
import { Delegators } from '../../ui/delegators.tsx';
import { actionName } from '../../api/action-name.ts';
import { Fact, Facts } from '../../ui/facts.tsx';
import { JsonBlock } from '../../ui/json-block.tsx';
import { Money } from '../../ui/money.tsx';
import { Countdown, Time } from '../../ui/time.tsx';
import { UserLink } from '../../ui/user-link.tsx';
import { askedAction } from '../ops/asked-action.ts';
import { isOfAgent } from '../ops/history-words.ts';
import { useOpEntries } from '../ops/use-op-entries.ts';
import { placeOfOp } from '../runs/run.ts';
import { RunLink } from '../runs/run-link.tsx';
import type { Approval } from './approval-queue.ts';
import { approvedSoFar } from './approval-queue.ts';

const linkClasses = 'break-all text-accent underline underline-offset-2';

/** Everything to know before a verdict: the exact action with its secrets replaced, the rule, the cost. */
export function ApprovalDetail({ approval }: { readonly approval: Approval }) {
  const { state, required, verdicts } = approval;
  return (
    <div className="space-y-5">
      <Facts>
        <Fact name="State">
          <StateBadge state={state} />{' '}
          {state === 'open' ? (
            <span className="text-warn">
              expires in <Countdown to={approval.expires_at} over="no time" />
            </span>
          ) : (
            <Time at={approval.decided_at} form="full" />
          )}
        </Fact>
        <Fact name="Agent">
          <AgentName agent={approval.agent} />
        </Fact>
        {approval.user === null ? null : (
          <Fact name="For">
            <UserLink user={approval.user} />
          </Fact>
        )}
        <DelegatedBy approval={approval} />
        <Fact name="Action">{actionName(approval.action_type)}</Fact>
        <Fact name="What">
          <code className="break-all whitespace-pre-wrap">{approval.title}</code>
        </Fact>
        {approval.summary === '' ? null : <Fact name="The agent says">{approval.summary}</Fact>}
        <Fact name="Cost">
          <Money usd={approval.cost_usd} /> <span className="text-muted">held back in the budgets</span>
        </Fact>
        <Fact name={approval.rules.length > 1 ? 'Rules' : 'Rule'}>
          {rulesOf(approval).map((rule) => (
            <code key={rule} className="mr-2 break-all">
              {rule}
            </code>
          ))}
        </Fact>
        <Fact name="Why">{approval.reason}</Fact>
        <Fact name="Needed">
          {approvedSoFar(approval)} of {required} {required === 1 ? 'approval' : 'approvals'}
          {required === 1 ? null : <span className="text-muted"> by different people</span>}
        </Fact>
        {approval.approvers.words === '' ? null : <Fact name="Approvers">{approval.approvers.words}</Fact>}
        <Fact name="Asked">
          <Time at={approval.requested_at} form="full" />
        </Fact>
        <Fact name="Run">
          <RunLink run={placeOfOp(approval.agent, approval.run_id)} />
        </Fact>
        <Fact name="Operation">
          <Link to="/ops" search={{ op: opPath(approval) }} className={linkClasses}>
            {approval.op_id}
          </Link>
        </Fact>
      </Facts>
      <section className="space-y-1.5">
        <h3 className="font-semibold">The exact action</h3>
        <JsonBlock value={approval.action} />
        <p className="text-sm text-muted">
          Secrets are replaced. A verdict holds for this request alone: another one under the same id is denied.
        </p>
      </section>
      <Verdicts of={verdicts} />
      <p className="text-sm">
        <Link to="/audit" search={{ op_id: approval.op_id }} className={linkClasses}>
          Audit entries of this operation
        </Link>
      </p>
    </div>
  );
}

function Verdicts({ of: verdicts }: { readonly of: Approval['verdicts'] }) {
  if (verdicts.length === 0) return null;
  return (
    <section className="space-y-1.5">
      <h3 className="font-semibold">Verdicts</h3>
      <ul className="space-y-2">
        {verdicts.map(({ verdict, actor, self_approved: isOwn, reason, at }) => (
          <li key={`${actor.id} ${at}`}>
            <StateBadge state={verdict === 'approve' ? 'approved' : 'rejected'} /> by{' '}
            {actor.label === '' ? actor.id : actor.label}, <Time at={at} />
            {isOwn ? <span className="text-warn"> · self-approved: the agent is their own</span> : null}
            {reason === '' ? null : <p className="text-muted">“{reason}”</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** On whose behalf the agent asked, as the log says: the delegation may be over by now. */
function DelegatedBy({ approval: { agent, op_id: opId } }: { readonly approval: Approval }) {
  const { data } = useOpEntries(opId, agent);
  const own = data?.items.filter((entry) => isOfAgent(entry, agent)) ?? [];
  const delegators = askedAction(own)?.delegators ?? [];
  if (delegators.length === 0) return null;
  return (
    <Fact name="Delegated by">
      <Delegators agent={agent} delegators={delegators} />
    </Fact>
  );
}

/** The reported rule, and all others that ask. */
function rulesOf({ policy_rule: first, rules }: Approval): string[] {
  return [...new Set([first, ...rules])];
}

/** The unambiguous address of an operation: its agent and id. */
function opPath({ agent, op_id: id }: Approval): string {
  return `${agentPath(agent)}/${id}`;
}
