import { userText } from '@reeve/contract/names';
import { Link } from '@tanstack/react-router';
import { userOfPayload } from '../../api/user-of-payload.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { Copyable } from '../../ui/copy-button.tsx';
import { Drawer } from '../../ui/dialog.tsx';
import { Fact, Facts } from '../../ui/facts.tsx';
import { JsonBlock } from '../../ui/json-block.tsx';
import { RuleLink } from '../../ui/rule-link.tsx';
import { Time } from '../../ui/time.tsx';
import { Unknown } from '../../ui/unknown.tsx';
import { placeOfOp } from '../runs/run.ts';
import { RunLink } from '../runs/run-link.tsx';
import { EntryHash } from './entry-hash.tsx';
import type { AuditEntry } from './use-audit-entries.ts';

interface EntryDrawerProps {
  readonly entry: AuditEntry;
  readonly onClose: () => void;
}

/** All details of an entry, and whether its hash matches. */
export function EntryDrawer({ entry, onClose }: EntryDrawerProps) {
  const { lineage, actor } = entry;
  return (
    <Drawer isOpen onClose={onClose} title={`Entry ${entry.seq}: ${entry.event_type}`}>
      <div className="space-y-5">
        <Facts>
          <Fact name="At">
            <Time at={entry.at} form="full" />
          </Fact>
          <Fact name="Agent">
            <AgentLink path={subjectOf(entry)} />
          </Fact>
          {lineage.parent_agent_id === null ? null : (
            <Fact name="Parent">{`${lineage.parent_agent_id} (depth ${lineage.depth})`}</Fact>
          )}
          <Fact name="Actor">
            {actor.label === '' ? actor.id : actor.label} <span className="text-muted">({actor.kind})</span>
          </Fact>
          <ForUser payload={entry.payload} />
          {entry.decision === null ? null : (
            <Fact name="Decision">
              <StateBadge state={entry.decision} />
            </Fact>
          )}
          {entry.reason === null ? null : <Fact name="Reason">{entry.reason}</Fact>}
          {entry.policy_rule === null ? null : (
            <Fact name="Rule">
              <RuleLink rule={entry.policy_rule} />
            </Fact>
          )}
          {entry.policy_version === null ? null : (
            <Fact name="Policies">
              <code>{entry.policy_version}</code>
            </Fact>
          )}
          {entry.op_id === null ? null : (
            <Fact name="Operation">
              <Link
                to="/audit"
                search={{ op_id: entry.op_id }}
                className="break-all text-accent underline underline-offset-2"
              >
                {entry.op_id}
              </Link>
            </Fact>
          )}
          <OfRun entry={entry} />
        </Facts>
        <section className="space-y-1.5">
          <h3 className="font-semibold">Payload</h3>
          {Object.keys(entry.payload).length === 0 ? <Unknown /> : <JsonBlock value={entry.payload} />}
        </section>
        <section className="space-y-1.5">
          <h3 className="font-semibold">Hash</h3>
          <EntryHash entry={entry} />
          <Copyable text={entry.hash} label="Copy the hash" />
          <p className="pt-1 text-sm text-muted">Hash of the entry before</p>
          <Copyable text={entry.prev_hash} label="Copy the hash of the entry before" />
        </section>
      </div>
    </Drawer>
  );
}

function ForUser({ payload }: Pick<AuditEntry, 'payload'>) {
  const user = userOfPayload(payload);
  if (user === undefined) return null;
  const { email, sub } = user;
  return (
    <Fact name="For">
      <Link
        to="/audit"
        search={{ user: email === '' ? sub : email }}
        className="break-all text-accent underline underline-offset-2"
      >
        {userText(user)}
      </Link>
    </Fact>
  );
}

/** The run that the entry names. Whoever controls a run of an org need not name its team, which the link would need. */
function OfRun({ entry: { lineage, payload } }: Pick<EntryDrawerProps, 'entry'>) {
  const runId = payload['run_id'];
  if (typeof runId !== 'string' || runId === '') return null;
  const isPlaced = lineage.agent_id !== '' || typeof payload['team_id'] === 'string';
  const place = placeOfOp({ ...lineage, org_id: lineage.org_id ?? '' }, runId);
  return <Fact name="Run">{isPlaced ? <RunLink run={place} /> : runId}</Fact>;
}

function AgentLink({ path }: { readonly path: string | undefined }) {
  if (path === undefined) return <span className="text-muted">none</span>;
  if (path.split('/').length < 3) return path;
  return (
    <Link to="/topology" search={{ agent: path }} className="break-all text-accent underline underline-offset-2">
      {path}
    </Link>
  );
}

/** `org/team/agent`, or the org or team that the entry is about. Undefined if it is about the gateway. */
export function subjectOf({ lineage }: AuditEntry): string | undefined {
  const { org_id: org, team_id: team, agent_id: agent } = lineage;
  if (agent === '' && org !== null && org !== '') return team === '' ? org : `${org}/${team}`;
  const parts = [org, team, agent].map((part) => (part === null || part === '' ? '-' : part));
  return agent === '' && (org === null || org === '') ? undefined : parts.join('/');
}
