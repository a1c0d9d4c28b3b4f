import { useId, useState } from 'react';
import { callRoute } from '../../api/call.ts';
import type { Grant, Scope } from '../../api/grant.ts';
import { useAction } from '../../api/use-route.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Field, Select, TextInput } from '../../ui/field.tsx';
import { isShownAtField, memberRefusal } from '../sign-in/refusal.ts';
import { bindingOf, grants, lifetimes, scopesOf } from './key-model.ts';
import type { MadeKey } from './made-key.tsx';

interface KeyDialogProps {
  readonly grant: Grant;
  readonly onClose: () => void;
  readonly onMade: (made: MadeKey) => void;
}

export function KeyDialog({ grant, onClose, onMade }: KeyDialogProps) {
  const form = useId();
  const [label, setLabel] = useState('');
  const [scope, setScope] = useState<Scope>('write');
  const [org, setOrg] = useState('');
  const [team, setTeam] = useState('');
  const [lifetime, setLifetime] = useState<(typeof lifetimes)[number]['value']>(lifetimes[4].value);
  const create = useAction(
    () =>
      callRoute('createApiKey', {
        body: {
          label: label.trim(),
          scopes: scopesOf(scope),
          ...(org.trim() === '' ? {} : { org_id: org.trim() }),
          ...(team.trim() === '' ? {} : { team_id: team.trim() }),
          ...(lifetime === '' ? {} : { ttl_secs: Number(lifetime) }),
        },
      }),
    {
      success: (made) => `The key “${made.label}” is created.`,
      invalidates: ['listApiKeys'],
      isFailureShown: true,
      onSuccess: onMade,
    },
  );
  const { error } = create;
  const faultOf = (member: string) => memberRefusal(error, member);
  // A tenant's credential makes keys only with its own binding.
  const { orgId, teamId } = grant;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="Create an API key"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={form} look="primary" isPending={create.isPending}>
            Create
          </Button>
        </>
      }
    >
      <form
        id={form}
        className="grid gap-4 sm:grid-cols-2"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <Field
          label="Label"
          hint="What it is for, such as the name of the agent."
          error={faultOf('label')}
          className="sm:col-span-2"
        >
          <TextInput required maxLength={128} value={label} onChange={(event) => setLabel(event.target.value)} />
        </Field>
        <Field label="May" hint="A higher scope includes the lower ones." error={faultOf('scopes')}>
          <Select value={scope} choices={grants} onChange={setScope} />
        </Field>
        <Field label="Works for" error={faultOf('ttl_secs')}>
          <Select value={lifetime} choices={lifetimes} onChange={setLifetime} />
        </Field>
        {orgId === null ? (
          <Field label="Org (optional)" hint="Empty: it sees all orgs." error={faultOf('org_id')}>
            <TextInput
              autoComplete="off"
              spellCheck={false}
              required={team.trim() !== ''}
              value={org}
              onChange={(event) => setOrg(event.target.value)}
            />
          </Field>
        ) : null}
        {orgId === null ? (
          <Field label="Team (optional)" hint="Only with an org: then it sees this team." error={faultOf('team_id')}>
            <TextInput
              autoComplete="off"
              spellCheck={false}
              value={team}
              onChange={(event) => setTeam(event.target.value)}
            />
          </Field>
        ) : (
          <p className="text-sm text-muted sm:col-span-2">
            It is bound to {bindingOf({ org_id: orgId, team_id: teamId })}, as you are.
          </p>
        )}
        {error === null || isShownAtField(error, ['label', 'scopes', 'ttl_secs', 'org_id', 'team_id']) ? null : (
          <div className="sm:col-span-2">
            <ErrorNotice error={error} />
          </div>
        )}
      </form>
    </Dialog>
  );
}
