import { ApiError } from '../../api/api-error.ts';
import { plural } from '../../api/format.ts';
import { useRoute } from '../../api/use-route.ts';
import { useCan, useGrant } from '../../api/use-session.ts';
import { Badge, StateBadge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { classes } from '../../ui/classes.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Age, Time } from '../../ui/time.tsx';
import { inkTone } from '../../ui/tone.ts';
import type { Gateway } from './gateways-model.ts';
import { hasMixedVersions, remarksOn, shortId } from './gateways-model.ts';

/** The gateways that act as one. Only admins of the whole gateway may know them, so others do not see the card. */
export function GatewaysCard() {
  const isAdmin = useCan('admin');
  const isBound = (useGrant()?.orgId ?? null) !== null;
  return isAdmin && !isBound ? <ListedGateways /> : null;
}

function ListedGateways() {
  const cluster = useRoute('listGateways', {}, { refetchInterval: 15_000 });
  // The role may have changed since the token was made.
  if (cluster.error instanceof ApiError && cluster.error.status === 403) return null;
  return (
    <Card title="Gateways" isFlush>
      <Loaded query={cluster} what="The gateways" lines={2}>
        {({ gateways }) => {
          const [first] = gateways;
          if (first === undefined) return <p className="p-4 text-muted">No gateway has shown itself yet.</p>;
          return gateways.length === 1 ? <Alone gateway={first} /> : <Several gateways={gateways} />;
        }}
      </Loaded>
    </Card>
  );
}

function Alone({ gateway: { started_at: startedAt, state } }: { readonly gateway: Gateway }) {
  return (
    <p className="flex items-center justify-between gap-3 p-4">
      <span className="text-muted">
        One gateway, up <Age since={startedAt} />
      </span>
      <StateBadge state={state} />
    </p>
  );
}

function Several({ gateways }: { readonly gateways: readonly Gateway[] }) {
  const isMixed = hasMixedVersions(gateways);
  return (
    <>
      {remarksOn(gateways).map(({ tone, text }) => (
        <p key={text} className={classes('border-b px-4 py-2 font-medium', inkTone[tone])}>
          {text}
        </p>
      ))}
      <ul>
        {gateways.map((gateway) => (
          <Row key={gateway.id} gateway={gateway} isVersionMarked={isMixed && gateway.state !== 'lost'} />
        ))}
      </ul>
    </>
  );
}

interface RowProps {
  readonly gateway: Gateway;
  readonly isVersionMarked: boolean;
}

function Row({ gateway, isVersionMarked }: RowProps) {
  const { id, version, started_at: startedAt, state, agents, ops_in_flight: ops, self } = gateway;
  const isLost = state === 'lost';
  return (
    <li className="border-t px-4 py-2 first:border-t-0">
      <p className="flex items-center justify-between gap-3">
        <span className="flex min-w-0 items-center gap-2">
          <code className="truncate font-medium" title={id}>
            {shortId(id)}
          </code>
          {self ? <Badge tone="accent">this one</Badge> : null}
        </span>
        <StateBadge state={state} />
      </p>
      <p className="text-sm text-muted">
        <span className={classes(isVersionMarked && 'font-semibold text-warn')}>version {version}</span>,{' '}
        {isLost ? (
          <>
            started <Time at={startedAt} />
          </>
        ) : (
          <>
            up <Age since={startedAt} />
          </>
        )}
      </p>
      <p className="text-sm text-muted">
        {/* Nobody counts for a lost gateway. These are its own last numbers. */}
        {isLost ? 'last heard with ' : ''}
        {plural(agents, 'agent')}, {plural(ops, 'operation')} in flight
      </p>
    </li>
  );
}
