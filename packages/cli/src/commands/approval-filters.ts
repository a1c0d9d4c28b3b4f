import type { RouteOutput, Routes } from '@reeve/contract/http';
import { choice } from '../command-line/values.ts';
import { opFilters } from './op-filters.ts';

export type Approval = RouteOutput<Routes['getApproval']>;
export type Grant = RouteOutput<Routes['revokeGrant']>;

/** Filters for approvals. All given filters must match. */
export const approvalFilters = {
  ...opFilters,
  state: choice(['open', 'approved', 'rejected', 'expired', 'cancelled', 'all'], 'Only those. Default: open.'),
};
