import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { callRoute } from '../../api/call.ts';
import { useAction } from '../../api/use-route.ts';
import { PublicFrame } from '../../shell/public-frame.tsx';
import { EmailField, EntryForm } from '../sign-in/entry-form.tsx';

/** Requests an email with a link. The answer does not reveal whether the account exists. */
export function ForgotPage() {
  const [email, setEmail] = useState('');
  const ask = useAction(() => callRoute('requestReset', { body: { email: email.trim() } }), { isFailureShown: true });
  return (
    <PublicFrame title="Forgot the password">
      {ask.isSuccess ? (
        <div role="status" className="space-y-3">
          <p>
            If there is an account with the email <strong className="break-all">{email.trim()}</strong>, a letter with a
            link is on its way. The link works once, and for a limited time.
          </p>
          <p className="text-muted">
            Nothing came? Look into the spam folder. A gateway that is set up to send no mail cannot send this letter
            either: ask an administrator.
          </p>
        </div>
      ) : (
        <EntryForm action={ask} onSubmit={() => ask.mutate()} submitLabel="Send the link">
          <p className="text-muted">A link to choose a new password will be sent to you.</p>
          <EmailField value={email} onChange={setEmail} />
        </EntryForm>
      )}
      <p className="mt-4 border-t pt-4 text-sm">
        <Link to="/sign-in" className="inline-flex min-h-6 items-center text-accent hover:underline">
          Back to the sign-in
        </Link>
      </p>
    </PublicFrame>
  );
}
