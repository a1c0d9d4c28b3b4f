import { agentPath } from '@reeve/contract/names';
import { Link } from '@tanstack/react-router';
import { entranceName, entranceTitle } from '../../api/entrance-name.ts';
import type { Answer } from '../../api/send.ts';
import { buttonClasses } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Icon } from '../../ui/icon.tsx';
import { Time } from '../../ui/time.tsx';
import { inkTone } from '../../ui/tone.ts';
import { coverageWords } from './coverage-words.ts';

const box = { warn: 'border-warn/40 bg-warn-soft', neutral: 'bg-sunken' } as const;

/** By which doors the checks of an agent come, and what was never checked. */
export function AgentDoors({ agent }: { readonly agent: Answer<'getAgent'> }) {
  const { doors, uncovered } = agent;
  const [missing] = uncovered;
  return (
    <div className="space-y-3">
      {doors.length === 0 ? <p className="text-muted">It has never asked for anything.</p> : null}
      <ul className="space-y-1">
        {doors.map(({ door, names, last_used_at: lastUsedAt }) => (
          <li key={door} className="flex flex-wrap items-baseline gap-x-2">
            <span className="font-medium" title={entranceTitle(door)}>
              {entranceName(door)}
            </span>
            <span className="min-w-0 break-all text-muted">{names.join(', ')}</span>
            <span className="text-sm text-muted">
              last used <Time at={lastUsedAt} />
            </span>
          </li>
        ))}
      </ul>
      {missing === undefined && doors.length > 0 ? null : (
        <div className="space-y-2">
          {uncovered.map((family) => (
            <div key={family} className={classes('space-y-1 rounded-md border p-3', box[coverageWords(family).tone])}>
              <p className={classes('flex items-center gap-1.5 font-semibold', inkTone[coverageWords(family).tone])}>
                <Icon name="alert" />
                {coverageWords(family).title}
              </p>
              <p>{coverageWords(family).explanation}</p>
              <p className="text-sm">
                More about this: <code>docs/guides/tenants.md</code>, “Coverage”.
              </p>
            </div>
          ))}
          <Link
            to="/connect"
            search={{
              agent: agentPath(agent),
              ...(missing === undefined ? {} : { door: coverageWords(missing).door }),
            }}
            className={buttonClasses('plain', 'small')}
          >
            How to connect it
          </Link>
        </div>
      )}
    </div>
  );
}
