import { useId, useState } from 'react';
import { callRoute } from '../../api/call.ts';
import type { Grant } from '../../api/grant.ts';
import type { Answer } from '../../api/send.ts';
import { useAction } from '../../api/use-route.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Field, Select, TextInput } from '../../ui/field.tsx';
import { isShownAtField, memberRefusal } from '../sign-in/refusal.ts';
import type { Role } from './member-rules.ts';
import { givenRoles, roles } from './member-rules.ts';
import { firstTenant, TenantFields, tenantMembers } from './tenant-fields.tsx';

interface InviteDialogProps {
  readonly grant: Grant;
  readonly onClose: () => void;
  readonly onMade: (made: Answer<'createInvite'>) => void;
}

export function InviteDialog({ grant, onClose, onMade }: InviteDialogProps) {
  // An owner is bound to no org, and makes no owner that is.
  const isOwner = grant.account?.role === 'owner' && grant.orgId === null;
  const form = useId();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('developer');
  const [tenant, setTenant] = useState(() => firstTenant(grant));
  const invite = useAction(
    () => callRoute('createInvite', { body: { email: email.trim(), role, ...tenantMembers(tenant) } }),
    {
      success: ({ invite: made }) => `${made.email} is invited.`,
      invalidates: ['listInvites'],
      isFailureShown: true,
      onSuccess: onMade,
    },
  );
  const { error } = invite;
  const faultOf = (member: string) => memberRefusal(error, member);
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="Invite someone"
      width="narrow"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={form} look="primary" isPending={invite.isPending}>
            Invite
          </Button>
        </>
      }
    >
      <form
        id={form}
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          invite.mutate();
        }}
      >
        <Field label="Email" hint="An open invite to the same email is replaced." error={faultOf('email')}>
          <TextInput
            type="email"
            autoComplete="off"
            required
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        </Field>
        <Field label="Role" hint={roles.find(({ value }) => value === role)?.may} error={faultOf('role')}>
          <Select value={role} choices={givenRoles(isOwner)} onChange={setRole} />
        </Field>
        <TenantFields who="the member" grant={grant} tenant={tenant} onChange={setTenant} faultOf={faultOf} mayNarrow />
        {isOwner ? null : <p className="text-sm text-muted">Only an owner invites another owner.</p>}
        {error === null || isShownAtField(error, ['email', 'role', 'org_id', 'team_id']) ? null : (
          <ErrorNotice error={error} />
        )}
      </form>
    </Dialog>
  );
}
