import { userText } from '@reeve/contract/names';
import { Link } from '@tanstack/react-router';
import type { ProvenUser } from '../api/user-of-payload.ts';

/** For whom an agent acts, which leads to all that agents did for them. */
export function UserLink({ user }: { readonly user: ProvenUser }) {
  return (
    <Link
      to="/people"
      search={{ sub: user.sub, issuer: user.issuer }}
      className="break-all text-accent underline underline-offset-2"
    >
      {userText(user)}
    </Link>
  );
}
