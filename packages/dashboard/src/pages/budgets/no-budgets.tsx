import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';

interface NoBudgetsProps {
  readonly isNarrowed: boolean;
  readonly isNear: boolean;
  readonly onClear: () => void;
}

/** Shown in place of budgets. */
export function NoBudgets({ isNarrowed, isNear, onClear }: NoBudgetsProps) {
  if (isNarrowed) {
    const title = isNear ? 'Nothing has used up 80 % of its cap' : 'No budget fits these filters';
    return <EmptyState icon="search" title={title} actions={<Button onClick={onClear}>Clear filters</Button>} />;
  }
  return (
    <EmptyState icon="budgets" title="No org, team or agent has a budget yet" command="reeve policy init">
      Each has one as soon as agents register. Caps are set in a policy:
    </EmptyState>
  );
}
