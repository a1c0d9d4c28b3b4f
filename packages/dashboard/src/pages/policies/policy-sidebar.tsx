import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { classes } from '../../ui/classes.ts';
import { plural } from '../../api/format.ts';
import type { Policy } from './policy-list.ts';
import { byScope, scopeTitle } from './policy-list.ts';

interface PolicySidebarProps {
  readonly policies: readonly Policy[];
  readonly chosen: string | undefined;
  readonly onChoose: (name: string) => void;
}

/** The documents in force, by scope. */
export function PolicySidebar({ policies, chosen, onChoose }: PolicySidebarProps) {
  return (
    <Card isFlush>
      <nav aria-label="Documents">
        {byScope(policies).map(({ scope, policies: items }) => (
          <section key={scope} className="border-t first:border-t-0">
            <h2 className="px-4 pt-2.5 pb-1 text-sm font-medium break-all text-muted">{scopeTitle(scope)}</h2>
            <ul className="pb-1.5">
              {items.map((policy) => (
                <li key={policy.name}>
                  <button
                    type="button"
                    aria-current={policy.name === chosen}
                    onClick={() => onChoose(policy.name)}
                    className={classes(
                      'flex min-h-9 w-full items-center justify-between gap-2 px-4 py-1 text-left -outline-offset-2 hover:bg-hover',
                      policy.name === chosen && 'bg-accent-soft shadow-[inset_3px_0_0_var(--color-accent)]',
                    )}
                  >
                    <span className="min-w-0">
                      <span className="block font-medium break-all">{policy.name}</span>
                      <span className="block text-sm text-muted">
                        {plural(policy.rules, 'rule')}
                        {policy.has_budget ? ', budget' : ''}
                        {policy.has_pricing ? ', prices' : ''}
                      </span>
                    </span>
                    <span className="flex shrink-0 gap-1">
                      {policy.mode === 'observe' ? <Badge tone="info">observed</Badge> : null}
                      <Badge>{policy.origin === 'file' ? 'file' : `v${policy.version}`}</Badge>
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </nav>
    </Card>
  );
}
