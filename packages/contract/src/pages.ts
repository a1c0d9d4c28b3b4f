/**
 * The pages of the dashboard, by the names of their routes. The router of the dashboard is made of these, and the
 * gateway knows by them which addresses lead to a page. Any other address has none.
 */
export const pages = {
  overview: '/',
  ops: '/ops',
  approvals: '/approvals',
  topology: '/topology',
  people: '/people',
  runs: '/runs',
  run: '/runs/run',
  audit: '/audit',
  budgets: '/budgets',
  policies: '/policies',
  identity: '/identity',
  connect: '/connect',
  cliLogin: '/cli-login',
  signIn: '/sign-in',
  invite: '/invite',
  reset: '/reset',
  forgot: '/forgot',
} as const;

export type PagePath = (typeof pages)[keyof typeof pages];
