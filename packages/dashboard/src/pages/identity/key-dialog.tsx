import type { Scope } from '@reeve/contract/names';
import { useId, useState } from 'react';
import { callRoute } from '../../api/call.ts';
import type { Grant } from '../../api/grant.ts';
import { useAction } from '../../api/use-route.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Field, Select, TextInput } from '../../ui/field.tsx';
import { isShownAtField, memberRefusal } from '../sign-in/refusal.ts';
import { grants, lifetimes, scopesOf } from './key-model.ts';
import type { MadeKey } from './made-key.tsx';
import { firstTenant, TenantFields, tenantMembers } from './tenant-fields.tsx';

interface KeyDialogProps {
  readonly grant: Grant;
  readonly onClose: () => void;
  readonly onMade: (made: MadeKey) => void;
}

export function KeyDialog({ grant, onClose, onMade }: KeyDialogProps) {
  const form = useId();
  const [label, setLabel] = useState('');
  const [scope, setScope] = useState<Scope>('write');
  // A tenant's credential makes keys only with its own binding.
  const [tenant, setTenant] = useState(() => firstTenant(grant));
  const [lifetime, setLifetime] = useState<(typeof lifetimes)[number]['value']>(lifetimes[4].value);
  const create = useAction(
    () =>
      callRoute('createApiKey', {
        body: {
          label: label.trim(),
          scopes: scopesOf(scope),
          ...tenantMembers(tenant),
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
        <TenantFields who="it" grant={grant} tenant={tenant} onChange={setTenant} faultOf={faultOf} />
        {error === null || isShownAtField(error, ['label', 'scopes', 'ttl_secs', 'org_id', 'team_id']) ? null : (
          <div className="sm:col-span-2">
            <ErrorNotice error={error} />
          </div>
        )}
      </form>
    </Dialog>
  );
}
