import { useId, useState } from 'react';
import { callRoute } from '../../api/call.ts';
import type { Answer } from '../../api/send.ts';
import { useAction } from '../../api/use-route.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Field, Select, TextInput } from '../../ui/field.tsx';
import { memberRefusal } from '../sign-in/refusal.ts';
import type { Role } from './member-rules.ts';
import { givenRoles, roles } from './member-rules.ts';

interface InviteDialogProps {
  readonly isOwner: boolean;
  readonly onClose: () => void;
  readonly onMade: (made: Answer<'createInvite'>) => void;
}

export function InviteDialog({ isOwner, onClose, onMade }: InviteDialogProps) {
  const form = useId();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('developer');
  const invite = useAction(() => callRoute('createInvite', { body: { email: email.trim(), role } }), {
    success: ({ invite: made }) => `${made.email} is invited.`,
    invalidates: ['listInvites'],
    isFailureShown: true,
    onSuccess: onMade,
  });
  const fault = memberRefusal(invite.error, 'email');
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
        <Field label="Email" hint="An open invite to the same email is replaced." error={fault}>
          <TextInput
            type="email"
            autoComplete="off"
            required
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        </Field>
        <Field label="Role" hint={roles.find(({ value }) => value === role)?.may}>
          <Select value={role} choices={givenRoles(isOwner)} onChange={setRole} />
        </Field>
        {isOwner ? null : <p className="text-sm text-muted">Only an owner invites another owner.</p>}
        {invite.error === null || fault !== undefined ? null : <ErrorNotice error={invite.error} />}
      </form>
    </Dialog>
  );
}
