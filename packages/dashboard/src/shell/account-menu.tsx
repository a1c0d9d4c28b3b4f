import { useNavigate } from '@tanstack/react-router';
import { messageOf } from '../api/api-error.ts';
import { session } from '../api/session.ts';
import { useGrant } from '../api/use-session.ts';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { toast } from '../ui/toast.ts';
import { chooseTheme, useThemeChoice } from './theme.ts';

/** Who is signed in, with what rights, and the sign-out. */
export function AccountMenu() {
  const grant = useGrant();
  const navigate = useNavigate();
  if (grant === undefined) return null;
  const signOut = () => session.logOut().catch((error: unknown) => toast.failed(messageOf(error)));
  const tenant = grant.orgId === null ? 'all orgs' : [grant.orgId, grant.teamId].filter(Boolean).join('/');
  return (
    <Menu
      label={`Account: ${grant.label}`}
      trigger={
        <>
          <Icon name={grant.kind === 'account' ? 'identity' : 'key'} />
          <span className="max-w-40 truncate max-md:hidden">{grant.label}</span>
        </>
      }
      header={
        <div className="text-sm">
          <p className="font-semibold">{grant.label}</p>
          {grant.account === undefined ? <p className="text-muted">API key</p> : <p>{grant.account.email}</p>}
          <p className="text-muted">
            {grant.account === undefined ? '' : `${grant.account.role} · `}
            {grant.scopes.join(', ')} · {tenant}
          </p>
        </div>
      }
      items={[
        { label: 'Identity and access', icon: 'identity', onSelect: () => void navigate({ to: '/identity' }) },
        { label: 'API reference', icon: 'external', onSelect: () => window.open('/docs', '_blank', 'noopener') },
        { label: 'Sign out', icon: 'sign_out', onSelect: () => void signOut() },
      ]}
    />
  );
}

export function ThemeMenu() {
  const choice = useThemeChoice();
  const icon = ({ light: 'sun', dark: 'moon', system: 'system' } as const)[choice];
  return (
    <Menu
      label="Theme"
      trigger={<Icon name={icon} />}
      items={(
        [
          ['light', 'Light', 'sun'],
          ['dark', 'Dark', 'moon'],
          ['system', 'As the system', 'system'],
        ] as const
      ).map(([value, label, name]) => ({
        label,
        icon: name,
        isChosen: choice === value,
        onSelect: () => chooseTheme(value),
      }))}
    />
  );
}
