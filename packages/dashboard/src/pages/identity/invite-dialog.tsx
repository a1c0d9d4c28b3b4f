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
import { bindingOf } from './key-model.ts';
import type { Role } from './member-rules.ts';
import { givenRoles, roles } from './member-rules.ts';

interface InviteDialogProps {
  readonly grant: Grant;
  readonly onClose: () => void;
  readonly onMade: (made: Answer<'createInvite'>) => void;
}

export function InviteDialog({ grant: { account, orgId, teamId }, onClose, onMade }: InviteDialogProps) {
  // An owner is bound to no org, and makes no owner that is.
  const isOwner = account?.role === 'owner' && orgId === null;
  const form = useId();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('developer');
  const [org, setOrg] = useState('');
  const [team, setTeam] = useState('');
  const tenant = {
    ...(org.trim() === '' ? {} : { org_id: org.trim() }),
    ...(team.trim() === '' ? {} : { team_id: team.trim() }),
  };
  const invite = useAction(() => callRoute('createInvite', { body: { email: email.trim(), role, ...tenant } }), {
    success: ({ invite: made }) => `${made.email} is invited.`,
    invalidates: ['listInvites'],
    isFailureShown: true,
    onSuccess: onMade,
  });
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
        {orgId === null ? (
          <Field label="Org (optional)" hint="Empty: the member sees all orgs." error={faultOf('org_id')}>
            <TextInput
              autoComplete="off"
              spellCheck={false}
              required={team.trim() !== ''}
              value={org}
              onChange={(event) => setOrg(event.target.value)}
            />
          </Field>
        ) : null}
        {teamId === null ? (
          <Field
            label="Team (optional)"
            hint={
              orgId === null
                ? 'Only with an org: then the member sees this team.'
                : 'Then the member sees this team only.'
            }
            error={faultOf('team_id')}
          >
            <TextInput
              autoComplete="off"
              spellCheck={false}
              value={team}
              onChange={(event) => setTeam(event.target.value)}
            />
          </Field>
        ) : null}
        {orgId === null ? null : (
          <p className="text-sm text-muted">
            The member sees {bindingOf({ org_id: orgId, team_id: teamId })} at most, as you do.
          </p>
        )}
        {isOwner ? null : <p className="text-sm text-muted">Only an owner invites another owner.</p>}
        {error === null || isShownAtField(error, ['email', 'role', 'org_id', 'team_id']) ? null : (
          <ErrorNotice error={error} />
        )}
      </form>
    </Dialog>
  );
}
