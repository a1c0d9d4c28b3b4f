import type { Grant } from '../../api/grant.ts';
import { Field, TextInput } from '../../ui/field.tsx';
import { bindingOf } from './key-model.ts';

/** The org and team that somebody or something is to be bound to, as they are typed. */
export interface Tenant {
  readonly org: string;
  readonly team: string;
}

type Binding = Pick<Grant, 'orgId' | 'teamId'>;

/** What is typed at first: what the caller is bound to, because nobody gives more than they have. */
export function firstTenant({ orgId, teamId }: Binding): Tenant {
  return { org: orgId ?? '', team: teamId ?? '' };
}

/** The members of a request. Nothing typed means all orgs, or all teams of the org. */
export function tenantMembers({ org, team }: Tenant): { readonly org_id?: string; readonly team_id?: string } {
  return {
    ...(org.trim() === '' ? {} : { org_id: org.trim() }),
    ...(team.trim() === '' ? {} : { team_id: team.trim() }),
  };
}

interface TenantFieldsProps {
  /** Who is to be bound: "the member". */
  readonly who: string;
  readonly grant: Binding;
  readonly tenant: Tenant;
  readonly onChange: (tenant: Tenant) => void;
  readonly faultOf: (member: string) => string | undefined;
  /** Whether a caller that is bound to an org may name a team of it. */
  readonly mayNarrow?: boolean;
}

/** Asks which org and team. What the caller is bound to is not asked for, but said. */
export function TenantFields({ who, grant, tenant, onChange, faultOf, mayNarrow = false }: TenantFieldsProps) {
  const { orgId, teamId } = grant;
  const isTeamAsked = orgId === null || (mayNarrow && teamId === null);
  return (
    <>
      {orgId === null ? (
        <Field label="Org (optional)" hint={`Empty: ${who} sees all orgs.`} error={faultOf('org_id')}>
          <TextInput
            autoComplete="off"
            spellCheck={false}
            required={tenant.team.trim() !== ''}
            value={tenant.org}
            onChange={(event) => onChange({ ...tenant, org: event.target.value })}
          />
        </Field>
      ) : null}
      {isTeamAsked ? (
        <Field
          label="Team (optional)"
          hint={
            orgId === null ? `Only with an org: then ${who} sees this team.` : `Empty: ${who} sees all of ${orgId}.`
          }
          error={faultOf('team_id')}
        >
          <TextInput
            autoComplete="off"
            spellCheck={false}
            value={tenant.team}
            onChange={(event) => onChange({ ...tenant, team: event.target.value })}
          />
        </Field>
      ) : null}
      {orgId === null ? null : (
        <p className="text-sm text-muted sm:col-span-full">
          {`${who.slice(0, 1).toUpperCase()}${who.slice(1)} is bound to ${bindingOf({ org_id: orgId, team_id: teamId })}, as you are.`}
        </p>
      )}
    </>
  );
}
