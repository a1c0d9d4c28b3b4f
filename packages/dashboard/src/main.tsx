import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './api/query-client.ts';
import { session } from './api/session.ts';
import { router } from './router.tsx';
import './styles.css';

const queryClient = createQueryClient();

// Wherever the session begins or ends, the router asks again who may see what; at its end, all that was shown is forgotten.
let { status } = session.state.value;
let accountId = session.grant?.account?.id;
session.state.subscribe(() => {
  const [statusBefore, idBefore] = [status, accountId];
  ({ status } = session.state.value);
  accountId = session.grant?.account?.id;
  // Somebody else may have signed in, in another tab.
  const isAnother = status === 'signed_in' && statusBefore === 'signed_in' && accountId !== idBefore;
  if (status === statusBefore && !isAnother) return;
  if (status === 'signed_out' || isAnother) queryClient.clear();
  void router.invalidate();
});

const place = document.getElementById('root');
if (place === null) throw new Error('the page has no place for the dashboard');
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
