import { Badge, StateBadge } from '../../ui/badge.tsx';
import type { Column } from '../../ui/column.ts';
import { Icon } from '../../ui/icon.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Time } from '../../ui/time.tsx';
import type { AskedKey } from './key-act-dialog.tsx';
import type { ApiKey } from './key-model.ts';
import { bindingOf, stateOf } from './key-model.ts';

interface KeyColumnsProps {
  readonly now: number;
  /** The id of the key that the person is signed in with. */
  readonly ownId: string | undefined;
  /** On a phone the binding stands below the label. */
  readonly isWide: boolean;
  readonly onAsk: (asked: AskedKey) => void;
}

export function keyColumns({ now, ownId, isWide, onAsk }: KeyColumnsProps): readonly Column<ApiKey>[] {
  return [
    {
      id: 'label',
      header: 'Key',
      sortBy: ({ label }) => label.toLowerCase(),
      cell: ({ id, label, ...binding }) => (
        <div className="min-w-0 py-0.5">
          <span className="flex flex-wrap items-center gap-x-2">
            <span className="font-medium break-words">{label}</span>
            {id === ownId ? <Badge tone="accent">yours</Badge> : null}
          </span>
          <code className="block text-xs text-muted">{id}</code>
          {isWide ? null : <span className="block text-xs wrap-anywhere text-muted">{bindingOf(binding)}</span>}
        </div>
      ),
    },
    {
      id: 'scopes',
      header: 'Scopes',
      cell: ({ scopes }) => (
        <span className="flex flex-wrap gap-1">
          {scopes.map((scope) => (
            <Badge key={scope} tone={scope === 'admin' ? 'warn' : 'neutral'}>
              {scope}
            </Badge>
          ))}
        </span>
      ),
    },
    {
      id: 'binding',
      header: 'Sees',
      isWideOnly: true,
      sortBy: bindingOf,
      cell: (key) => <span className="break-all">{bindingOf(key)}</span>,
    },
    { id: 'state', header: 'State', cell: (key) => <StateBadge state={stateOf(key, now)} /> },
    {
      id: 'used',
      header: 'Last used',
      isWideOnly: true,
      sortBy: ({ last_used_at: at }) => at ?? '',
      cell: ({ last_used_at: at }) => (at === null ? <span className="text-muted">never</span> : <Time at={at} />),
    },
    {
      id: 'expires',
      header: 'Expires',
      isWideOnly: true,
      sortBy: ({ expires_at: at }) => at ?? '9',
      cell: ({ expires_at: at }) => (at === null ? <span className="text-muted">never</span> : <Time at={at} />),
    },
    {
      id: 'made',
      header: 'Created',
      isWideOnly: true,
      sortBy: ({ created_at: at }) => at,
      cell: ({ created_at: at }) => <Time at={at} form="date" />,
    },
    {
      id: 'act',
      header: <span className="sr-only">Rotate or revoke</span>,
      align: 'right',
      cell: (apiKey) =>
        apiKey.revoked_at !== null ? null : (
          <Menu
            label={`Actions for ${apiKey.label}`}
            trigger={<Icon name="more" />}
            size="small"
            items={[
              { label: 'Rotate', icon: 'refresh', onSelect: () => onAsk({ act: 'rotate', apiKey }) },
              { label: 'Revoke', icon: 'close', isDangerous: true, onSelect: () => onAsk({ act: 'revoke', apiKey }) },
            ]}
          />
        ),
    },
  ];
}
