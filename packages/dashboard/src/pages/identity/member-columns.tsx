import type { Grant } from '../../api/grant.ts';
import { Badge, StateBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/column.ts';
import { Field, Select } from '../../ui/field.tsx';
import { Time } from '../../ui/time.tsx';
import { bindingOf } from './key-model.ts';
import type { Member, Role } from './member-rules.ts';
import { givenRoles, nameOf, roles, whyFixed } from './member-rules.ts';

export interface MemberChange {
  readonly member: Member;
  readonly role?: Role;
  readonly status?: Member['status'];
}

interface MemberColumnsProps {
  readonly members: readonly Member[];
  readonly grant: Grant;
  /** On a phone the status stands below the name, and the button below the role. */
  readonly isWide: boolean;
  readonly onAsk: (change: MemberChange) => void;
}

export function memberColumns({ members, grant, isWide, onAsk }: MemberColumnsProps): readonly Column<Member>[] {
  const isOwner = grant.account?.role === 'owner';
  const actOf = (member: Member) =>
    whyFixed(member, members, isOwner) === undefined ? <ActButton member={member} onAsk={onAsk} /> : null;
  return [
    {
      id: 'who',
      header: 'Member',
      sortBy: (member) => nameOf(member).toLowerCase(),
      cell: (member) => (
        <div className="min-w-0 py-0.5">
          <span className="flex flex-wrap items-center gap-x-2">
            <span className="font-medium wrap-anywhere">{nameOf(member)}</span>
            {member.id === grant.account?.id ? <Badge tone="accent">you</Badge> : null}
          </span>
          {member.name === '' ? null : <span className="block text-xs wrap-anywhere text-muted">{member.email}</span>}
          {member.org_id === null ? null : (
            <span className="block text-xs text-muted">{`sees ${bindingOf(member)}`}</span>
          )}
          {isWide || member.status === 'active' ? null : <StateBadge state={member.status} />}
        </div>
      ),
    },
    {
      id: 'role',
      header: 'Role',
      cell: (member) => (
        <div className="space-y-1.5">
          <RoleCell member={member} why={whyFixed(member, members, isOwner)} isOwner={isOwner} onAsk={onAsk} />
          {isWide ? null : actOf(member)}
        </div>
      ),
    },
    {
      id: 'status',
      header: 'Status',
      isWideOnly: true,
      sortBy: ({ status }) => status,
      cell: ({ status }) => <StateBadge state={status} />,
    },
    {
      id: 'last',
      header: 'Last sign-in',
      isWideOnly: true,
      sortBy: ({ last_login_at: at }) => at ?? '',
      cell: ({ last_login_at: at }) => <Time at={at} />,
    },
    {
      id: 'since',
      header: 'Since',
      isWideOnly: true,
      sortBy: ({ created_at: at }) => at,
      cell: ({ created_at: at }) => <Time at={at} form="date" />,
    },
    ...(isWide
      ? [
          {
            id: 'act',
            header: <span className="sr-only">Disable or enable</span>,
            align: 'right' as const,
            cell: actOf,
          },
        ]
      : []),
  ];
}

function ActButton({ member, onAsk }: Pick<RoleCellProps, 'member' | 'onAsk'>) {
  const isActive = member.status === 'active';
  return (
    <Button
      size="small"
      aria-label={`${isActive ? 'Disable' : 'Enable'} ${nameOf(member)}`}
      onClick={() => onAsk({ member, status: isActive ? 'disabled' : 'active' })}
    >
      {isActive ? 'Disable' : 'Enable'}
    </Button>
  );
}

interface RoleCellProps {
  readonly member: Member;
  /** Why the member cannot be changed, if so. */
  readonly why: string | undefined;
  readonly isOwner: boolean;
  readonly onAsk: (change: MemberChange) => void;
}

function RoleCell({ member, why, isOwner, onAsk }: RoleCellProps) {
  if (why !== undefined) {
    return (
      <div className="min-w-24 py-0.5">
        {roles.find(({ value }) => value === member.role)?.label}
        <span className="block text-xs text-muted">{why}</span>
      </div>
    );
  }
  return (
    <Field label={`Role of ${nameOf(member)}`} isLabelHidden className="w-28">
      <Select
        value={member.role}
        choices={givenRoles(isOwner)}
        onChange={(role) => {
          if (role !== member.role) onAsk({ member, role });
        }}
      />
    </Field>
  );
}
