import type { PagePath } from '@reeve/contract/pages';
import { pages } from '@reeve/contract/pages';
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { session } from './api/session.ts';
import { parseApprovalsSearch } from './pages/approvals/approvals-search.ts';
import { parseAuditSearch } from './pages/audit/audit-search.ts';
import { parseBudgetsSearch } from './pages/budgets/budgets-search.ts';
import { parseCliLoginSearch } from './pages/cli-login/cli-login-search.ts';
import { parseConnectSearch } from './pages/connect/connect-search.ts';
import { parseIdentitySearch } from './pages/identity/identity-search.ts';
import { parseOpsSearch } from './pages/ops/ops-search.ts';
import { parseOverviewSearch } from './pages/overview/overview-search.ts';
import { parsePeopleSearch } from './pages/people/people-search.ts';
import { parsePoliciesSearch } from './pages/policies/policies-search.ts';
import { parseRunSearch } from './pages/runs/run-search.ts';
import { parseRunsSearch } from './pages/runs/runs-search.ts';
import { parseSignInSearch } from './pages/sign-in/sign-in-search.ts';
import { parseTopologySearch } from './pages/topology/topology-search.ts';
import { AppShell } from './shell/app-shell.tsx';
import { CrashPage } from './shell/crash-page.tsx';
import { mailToken, tokenIn } from './shell/mail-token.ts';
import { MissingPage } from './shell/missing-page.tsx';
import { nextPath } from './shell/next-path.ts';
import { parseSearch, stringifySearch } from './shell/search.ts';
import { Skeleton } from './ui/skeleton.tsx';
import { ToastRegion } from './ui/toast-region.tsx';

const root = createRootRoute({
  component: () => (
    <>
      <Outlet />
      <ToastRegion />
    </>
  ),
});

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: AppShell,
  beforeLoad: async ({ location }) => {
    await session.resume();
    if (session.grant !== undefined) return;
    const state = session.state.value;
    const hasLeft = state.status === 'signed_out' && state.reason === 'signed_out';
    // After a sign-out, nothing leads the next person back to the page.
    const next = location.href === '/' || hasLeft ? undefined : location.href;
    throw redirect({ to: '/sign-in', search: next === undefined ? {} : { next }, replace: true });
  },
});

const overview = createRoute({
  getParentRoute: () => shell,
  path: pages.overview,
  validateSearch: parseOverviewSearch,
  component: lazyRouteComponent(() => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
});

const ops = createRoute({
  getParentRoute: () => shell,
  path: pages.ops,
  validateSearch: parseOpsSearch,
  component: lazyRouteComponent(() => import('./pages/ops/ops-page.tsx'), 'OpsPage'),
});

const approvals = createRoute({
  getParentRoute: () => shell,
  path: pages.approvals,
  validateSearch: parseApprovalsSearch,
  component: lazyRouteComponent(() => import('./pages/approvals/approvals-page.tsx'), 'ApprovalsPage'),
});

const topology = createRoute({
  getParentRoute: () => shell,
  path: pages.topology,
  validateSearch: parseTopologySearch,
  component: lazyRouteComponent(() => import('./pages/topology/topology-page.tsx'), 'TopologyPage'),
});

const runs = createRoute({
  getParentRoute: () => shell,
  path: pages.runs,
  validateSearch: parseRunsSearch,
  component: lazyRouteComponent(() => import('./pages/runs/runs-page.tsx'), 'RunsPage'),
});

const run = createRoute({
  getParentRoute: () => shell,
  path: pages.run,
  validateSearch: parseRunSearch,
  component: lazyRouteComponent(() => import('./pages/runs/run-page.tsx'), 'RunPage'),
});

const people = createRoute({
  getParentRoute: () => shell,
  path: pages.people,
  validateSearch: parsePeopleSearch,
  component: lazyRouteComponent(() => import('./pages/people/people-page.tsx'), 'PeoplePage'),
});

const audit = createRoute({
  getParentRoute: () => shell,
  path: pages.audit,
  validateSearch: parseAuditSearch,
  component: lazyRouteComponent(() => import('./pages/audit/audit-page.tsx'), 'AuditPage'),
});

const budgets = createRoute({
  getParentRoute: () => shell,
  path: pages.budgets,
  validateSearch: parseBudgetsSearch,
  component: lazyRouteComponent(() => import('./pages/budgets/budgets-page.tsx'), 'BudgetsPage'),
});

const policies = createRoute({
  getParentRoute: () => shell,
  path: pages.policies,
  validateSearch: parsePoliciesSearch,
  component: lazyRouteComponent(() => import('./pages/policies/policies-page.tsx'), 'PoliciesPage'),
});

const identity = createRoute({
  getParentRoute: () => shell,
  path: pages.identity,
  validateSearch: parseIdentitySearch,
  component: lazyRouteComponent(() => import('./pages/identity/identity-page.tsx'), 'IdentityPage'),
});

const connect = createRoute({
  getParentRoute: () => shell,
  path: pages.connect,
  validateSearch: parseConnectSearch,
  component: lazyRouteComponent(() => import('./pages/connect/connect-page.tsx'), 'ConnectPage'),
});

const cliLogin = createRoute({
  getParentRoute: () => shell,
  path: pages.cliLogin,
  validateSearch: parseCliLoginSearch,
  component: lazyRouteComponent(() => import('./pages/cli-login/cli-login-page.tsx'), 'CliLoginPage'),
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: pages.signIn,
  validateSearch: parseSignInSearch,
  beforeLoad: async ({ search }) => {
    // If the gateway cannot say who is signed in, the form will say why.
    await session.resume().catch(() => undefined);
    if (session.grant !== undefined) throw redirect({ href: nextPath(search.next), replace: true });
  },
  component: lazyRouteComponent(() => import('./pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
});

/** Removes the token of an email link from the URL before any of the page loads. */
function takeMailToken(to: '/invite' | '/reset') {
  return ({ location }: { readonly location: { readonly hash: string } }) => {
    const token = tokenIn(location.hash);
    if (token === undefined) return;
    mailToken.set(token);
    throw redirect({ to, replace: true });
  };
}

const invite = createRoute({
  getParentRoute: () => root,
  path: pages.invite,
  beforeLoad: takeMailToken('/invite'),
  component: lazyRouteComponent(() => import('./pages/invite/invite-page.tsx'), 'InvitePage'),
});

const reset = createRoute({
  getParentRoute: () => root,
  path: pages.reset,
  beforeLoad: takeMailToken('/reset'),
  component: lazyRouteComponent(() => import('./pages/reset/reset-page.tsx'), 'ResetPage'),
});

const forgot = createRoute({
  getParentRoute: () => root,
  path: pages.forgot,
  component: lazyRouteComponent(() => import('./pages/forgot/forgot-page.tsx'), 'ForgotPage'),
});

const routeTree = root.addChildren([
  shell.addChildren([
    overview,
    ops,
    approvals,
    topology,
    runs,
    run,
    people,
    audit,
    budgets,
    policies,
    identity,
    connect,
    cliLogin,
  ]),
  signIn,
  invite,
  reset,
  forgot,
]);

export const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultErrorComponent: CrashPage,
  // An address below a page is no page either, and is told to everybody alike.
  notFoundMode: 'root',
  defaultNotFoundComponent: MissingPage,
  defaultPendingComponent: () => <Skeleton className="mx-auto mt-16 max-w-2xl" />,
  defaultPendingMs: 300,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

type Routed = keyof typeof router.routesByPath;

/** Does not compile if a page of the contract has no route here, or if a route is no page: the gateway answers 404. */
export const isEveryPageRouted: [PagePath, Routed] extends [Routed, PagePath] ? true : never = true;
