import { Button } from '../../ui/button.tsx';
import { Copyable } from '../../ui/copy-button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';

interface NoPeopleProps {
  readonly isNarrowed: boolean;
  readonly onClear: () => void;
}

const lines = [
  ['Say whose tokens count:', 'reeve serve --subjects subjects.yaml'],
  [
    'Send the token of the person with each check:',
    "const forAnn = agent.onBehalfOf(tokenOfAnn);\nawait forAnn.check({ tool: 'search' });",
  ],
] as const;

/** Shown in place of people. */
export function NoPeople({ isNarrowed, onClear }: NoPeopleProps) {
  if (isNarrowed) {
    return (
      <EmptyState
        icon="filter"
        title="No agent acted for somebody who fits these filters"
        actions={<Button onClick={onClear}>Clear filters</Button>}
      />
    );
  }
  return (
    <EmptyState icon="people" title="No agent has acted for anybody yet">
      <p>
        People appear here once agents say for whom they act, by a token that your identity provider issued. Rules can
        then say what an agent may do for whom.
      </p>
      <ol className="mt-3 space-y-2 text-left">
        {lines.map(([words, command]) => (
          <li key={words}>
            {words}
            <div className="mt-1 max-w-full text-text">
              <Copyable text={command} label="Copy" />
            </div>
          </li>
        ))}
      </ol>
    </EmptyState>
  );
}
