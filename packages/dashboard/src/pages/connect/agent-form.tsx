import { agentPath } from '@reeve/contract/names';
import { useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { callRoute } from '../../api/call.ts';
import type { Grant } from '../../api/grant.ts';
import { useCan } from '../../api/use-session.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Field, TextInput } from '../../ui/field.tsx';
import { isShownAtField, memberRefusal } from '../sign-in/refusal.ts';
import { parseAgentPath } from '../topology/topology-model.ts';
import type { MadeAgent } from './made-agent.ts';

interface AgentFormProps {
  readonly grant: Grant;
  /** The agent that a link named, by its path. */
  readonly asked: string | undefined;
  readonly framework: string;
  readonly onMade: (made: MadeAgent) => void;
}

const idForm = '[A-Za-z0-9][A-Za-z0-9._\\-]{0,127}';
const idHint = 'Letters, digits, “.”, “_” and “-”.';

/** Names the agent and makes its token. The answer is kept in no cache. */
export function AgentForm({ grant, asked, framework, onMade }: AgentFormProps) {
  const mayWrite = useCan('write');
  const known = asked === undefined ? undefined : parseAgentPath(asked);
  const [org, setOrg] = useState(grant.orgId ?? known?.org_id ?? '');
  const [team, setTeam] = useState(grant.teamId ?? known?.team_id ?? '');
  const [agent, setAgent] = useState(known?.agent_id ?? '');
  const [name, setName] = useState('');
  const [isPending, setPending] = useState(false);
  const [isReplacing, setReplacing] = useState(false);
  const [error, setError] = useState<unknown>();
  const ids = { org_id: org.trim(), team_id: team.trim(), agent_id: agent.trim() };
  const register = async (replace: boolean) => {
    const body = { ...ids, name: name.trim(), framework, replace };
    onMade(await callRoute('registerAgent', { body }));
  };
  const submit = async () => {
    setPending(true);
    setError(undefined);
    try {
      await register(false);
    } catch (caught) {
      setPending(false);
      if (caught instanceof ApiError && caught.code === 'agent_exists') setReplacing(true);
      else setError(caught);
    }
  };
  if (!mayWrite) return <WhoMay />;
  const faultOf = (member: string) => memberRefusal(error, member);
  return (
    <>
      <form
        className="grid gap-4 sm:grid-cols-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isPending) void submit();
        }}
      >
        <Field label="Agent" hint={idHint} error={faultOf('agent_id')}>
          <IdInput required value={agent} onValue={setAgent} />
        </Field>
        <Field label="Name (optional)" hint="What people call it." error={faultOf('name')}>
          <TextInput maxLength={512} value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        {grant.orgId === null ? (
          <Field label="Org (optional)" error={faultOf('org_id')}>
            <IdInput value={org} onValue={setOrg} />
          </Field>
        ) : null}
        {grant.teamId === null ? (
          <Field label="Team (optional)" error={faultOf('team_id')}>
            <IdInput value={team} onValue={setTeam} />
          </Field>
        ) : null}
        {grant.orgId === null ? null : (
          <p className="text-sm text-muted sm:col-span-2">
            It belongs to {grant.orgId}
            {grant.teamId === null ? '' : `/${grant.teamId}`}, as you do.
          </p>
        )}
        {error === undefined || isShownAtField(error, ['agent_id', 'name', 'org_id', 'team_id']) ? null : (
          <div className="sm:col-span-2">
            <ErrorNotice error={error} />
          </div>
        )}
        <div className="sm:col-span-2">
          <Button type="submit" look="primary" icon="key" isPending={isPending}>
            Make its token
          </Button>
        </div>
      </form>
      <ReplaceDialog
        ids={ids}
        isOpen={isReplacing}
        onClose={() => setReplacing(false)}
        onConfirm={() => register(true)}
      />
    </>
  );
}

interface ReplaceDialogProps extends Pick<Parameters<typeof ConfirmDialog>[0], 'isOpen' | 'onClose' | 'onConfirm'> {
  readonly ids: Parameters<typeof agentPath>[0];
}

/** The agent exists. Its token can only be replaced. */
function ReplaceDialog({ ids, ...dialog }: ReplaceDialogProps) {
  return (
    <ConfirmDialog
      {...dialog}
      title={`Replace the token of ${ids.agent_id}?`}
      confirmLabel="Replace its token"
      look="danger"
    >
      <p>
        There is an agent <strong className="break-all">{agentPath(ids)}</strong> already.
      </p>
      <p>Whoever uses its old token stops at once: all its checks are denied. What it is called and has done stays.</p>
    </ConfirmDialog>
  );
}

interface IdInputProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly required?: boolean;
}

function IdInput({ value, onValue, required = false }: IdInputProps) {
  return (
    <TextInput
      required={required}
      pattern={idForm}
      title={idHint}
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      value={value}
      onChange={(event) => onValue(event.target.value)}
    />
  );
}

function WhoMay() {
  return (
    <div className="space-y-1.5">
      <p>You may look, and not make tokens. These may:</p>
      <ul className="list-disc space-y-0.5 pl-5">
        <li>owners, admins and developers who are signed in here,</li>
        <li>
          whoever has an API key with the scope write, by <code>reeve agents register ORG/TEAM/AGENT</code>.
        </li>
      </ul>
      <p className="text-muted">With the token, the lines below are all that the agent needs.</p>
    </div>
  );
}
