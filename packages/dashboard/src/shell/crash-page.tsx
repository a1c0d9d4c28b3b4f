import { useRouter } from '@tanstack/react-router';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { Page } from '../ui/page.tsx';

/** Shown if a page itself fails. */
export function CrashPage({ error }: { readonly error: unknown }) {
  const router = useRouter();
  return (
    <Page title="Something went wrong">
      <ErrorNotice error={error} title="This page could not be shown" onRetry={() => void router.invalidate()} />
    </Page>
  );
}
