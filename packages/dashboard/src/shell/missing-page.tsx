import { Link } from '@tanstack/react-router';
import { buttonClasses } from '../ui/button.tsx';
import { PublicFrame } from './public-frame.tsx';

/** Shown to everybody, signed in or not: it tells nothing. */
export function MissingPage() {
  return (
    <PublicFrame title="There is no such page">
      <p className="mb-5 text-muted">Nothing is at this address. It may have been mistyped, or moved.</p>
      <Link to="/" className={buttonClasses()}>
        Go to the overview
      </Link>
    </PublicFrame>
  );
}
