import { useRoute } from '../../api/use-route.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { Loaded } from '../../ui/loaded.tsx';

/** The gateway's report on its parts. */
export function HealthCard() {
  const health = useRoute('readyz', {}, { refetchInterval: 15_000 });
  return (
    <Card title="Gateway">
      <Loaded query={health} what="The parts of the gateway">
        {({ status, version, draining, parts }) => (
          <div className="space-y-3">
            <p className="flex items-center justify-between gap-3">
              <span className="text-muted">Version {version}</span>
              <StateBadge state={status} />
            </p>
            {draining ? <p className="text-warn">It is being stopped.</p> : null}
            <ul className="space-y-2">
              {Object.entries(parts).map(([name, part]) => (
                <li key={name}>
                  <span className="flex items-center justify-between gap-3">
                    <span>{name}</span>
                    <StateBadge state={part.status} />
                  </span>
                  {part.detail === '' ? null : <p className="text-sm break-words text-muted">{part.detail}</p>}
                </li>
              ))}
            </ul>
          </div>
        )}
      </Loaded>
    </Card>
  );
}
