import { Link } from '@tanstack/react-router';
import { buttonClasses } from '../ui/button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Page } from '../ui/page.tsx';

export function MissingPage() {
  return (
    <Page title="There is no such page">
      <EmptyState
        title="Nothing is at this address"
        actions={
          <Link to="/" className={buttonClasses()}>
            Go to the overview
          </Link>
        }
      >
        It may have been mistyped, or moved.
      </EmptyState>
    </Page>
  );
}
