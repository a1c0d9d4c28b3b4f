import { Delegators } from '../../ui/delegators.tsx';
import { Fact, Facts } from '../../ui/facts.tsx';
import { JsonBlock } from '../../ui/json-block.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { UserLink } from '../../ui/user-link.tsx';
import { askedAction } from './asked-action.ts';
import { isOfAgent } from './history-words.ts';
import type { Op } from './op.ts';
import { useOpEntries } from './use-op-entries.ts';

interface OpRequestProps {
  readonly opId: string;
  readonly agent: Op['agent'] | undefined;
}

/** What exactly was asked for, with secrets replaced. */
export function OpRequest({ opId, agent }: OpRequestProps) {
  const query = useOpEntries(opId, agent);
  return (
    <Loaded query={query} what="The request" lines={3}>
      {({ items }) => {
        const asked = askedAction(agent === undefined ? items : items.filter((entry) => isOfAgent(entry, agent)));
        if (asked === undefined) return <p className="text-muted">No check of it is on record yet.</p>;
        return (
          <div className="space-y-2">
            <Facts>
              <Fact name="What">
                <code className="break-all whitespace-pre-wrap">{asked.title}</code>
              </Fact>
              {asked.user === undefined ? null : (
                <Fact name="For">
                  <UserLink user={asked.user} />
                </Fact>
              )}
              {agent === undefined || asked.delegators.length === 0 ? null : (
                <Fact name="Delegated by">
                  <Delegators agent={agent} delegators={asked.delegators} />
                </Fact>
              )}
              {asked.facts.map(([name, value]) => (
                <Fact key={name} name={name}>
                  <span className="break-all">{value}</span>
                </Fact>
              ))}
            </Facts>
            {asked.args === undefined ? null : (
              <>
                <h4 className="text-muted">Arguments, with secrets replaced</h4>
                <JsonBlock value={asked.args} />
              </>
            )}
          </div>
        );
      }}
    </Loaded>
  );
}
