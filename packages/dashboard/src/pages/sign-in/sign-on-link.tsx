import { encodeRequest } from '@reeve/contract/encode-request';
import { nextPath } from '../../shell/next-path.ts';
import { buttonClasses } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Icon } from '../../ui/icon.tsx';
import { signOnFailure } from './sign-on-failure.ts';

interface SignOnLinkProps {
  /** The path to open afterwards. */
  readonly next: string | undefined;
  /** There is no form below it. */
  readonly isAlone: boolean;
}

/** Leads to the provider, which sends the browser back. */
export function SignOnLink({ next, isAlone }: SignOnLinkProps) {
  const { path } = encodeRequest('startSignOn', { query: { return_to: nextPath(next) } });
  return (
    <div className="space-y-4">
      <a href={path} className={classes(buttonClasses('primary'), 'w-full')}>
        Sign in with single sign-on
      </a>
      {isAlone ? null : (
        <p className="flex items-center gap-3 text-sm text-muted before:flex-1 before:border-t after:flex-1 after:border-t">
          or
        </p>
      )}
    </div>
  );
}

export function SignOnFailure({ code }: { readonly code: string }) {
  return (
    <div role="alert" className="mb-4 flex items-start gap-2.5 rounded-md border border-danger/40 bg-danger-soft p-3">
      <Icon name="alert" className="mt-0.5 text-danger" />
      <p className="min-w-0 flex-1">{signOnFailure(code)}</p>
    </div>
  );
}
