import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { buttonClasses } from '../../ui/button.tsx';

interface DeadLinkProps {
  readonly children: ReactNode;
  /** Offers a new link, if the person can get one alone. */
  readonly canAskAgain?: boolean;
}

/** An email link that does not work, or its page opened without the link. */
export function DeadLink({ children, canAskAgain = false }: DeadLinkProps) {
  return (
    <div className="space-y-4">
      <div role="alert" className="space-y-2">
        {children}
      </div>
      <div className="flex flex-wrap gap-2">
        {canAskAgain ? (
          <Link to="/forgot" className={buttonClasses('primary')}>
            Ask for a new link
          </Link>
        ) : null}
        <Link to="/sign-in" className={buttonClasses()}>
          Go to the sign-in
        </Link>
      </div>
    </div>
  );
}
