import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './api/query-client.ts';
import { session } from './api/session.ts';
import { router } from './router.tsx';
import './styles.css';

const queryClient = createQueryClient();

// Whenever a session begins or ends, the router checks again who may see what. At its end, all shown data is dropped.
let { status } = session.state.value;
let accountId = session.grant?.account?.id;
session.state.subscribe(() => {
  const [statusBefore, idBefore] = [status, accountId];
  ({ status } = session.state.value);
  accountId = session.grant?.account?.id;
  // Another person may have signed in, in another tab.
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
