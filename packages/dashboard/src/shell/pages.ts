import type { IconName } from '../ui/icon.tsx';

export interface PageLink {
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
  /** The second key after `g`. */
  readonly key: string;
  /** On a phone: whether the page is in the bottom bar, or behind "More". */
  readonly isMain: boolean;
}

/** The pages, in the order of the sidebar. */
export const pages: readonly PageLink[] = [
  { to: '/', label: 'Overview', icon: 'overview', key: 'h', isMain: true },
  { to: '/ops', label: 'Operations', icon: 'ops', key: 'o', isMain: true },
  { to: '/approvals', label: 'Approvals', icon: 'approvals', key: 'a', isMain: true },
  { to: '/topology', label: 'Topology', icon: 'topology', key: 't', isMain: true },
  { to: '/runs', label: 'Runs', icon: 'runs', key: 'r', isMain: false },
  { to: '/people', label: 'People', icon: 'people', key: 'u', isMain: false },
  { to: '/audit', label: 'Audit', icon: 'audit', key: 'l', isMain: false },
  { to: '/budgets', label: 'Budgets', icon: 'budgets', key: 'b', isMain: false },
  { to: '/policies', label: 'Policies', icon: 'policies', key: 'p', isMain: false },
  { to: '/identity', label: 'Identity', icon: 'identity', key: 'i', isMain: false },
  { to: '/connect', label: 'Connect an agent', icon: 'plus', key: 'c', isMain: false },
];
