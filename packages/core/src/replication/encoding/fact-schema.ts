import type { Change, DomainEvent } from '../../store.ts';
import { accessChanges, alertEvents, logChanges } from './access-schema.ts';
import { approvalChanges, approvalEvents } from './approvals-schema.ts';
import { budgetChanges, budgetEvents } from './budget-schema.ts';
import type { SchemaOf } from './common.ts';
import { controlChanges } from './control-schema.ts';
import { decisionEvents, opsChanges, opsEvents } from './ops-schema.ts';
import { policyChanges, policyEvents } from './policy-schema.ts';
import { runsChanges } from './runs-schema.ts';
import { tenancyChanges, tenancyEvents } from './tenancy-schema.ts';

/** Every change, and how its members are written. */
export const changeSchema: SchemaOf<Change> = {
  ...accessChanges,
  ...approvalChanges,
  ...budgetChanges,
  ...controlChanges,
  ...logChanges,
  ...opsChanges,
  ...policyChanges,
  ...runsChanges,
  ...tenancyChanges,
};

/** The same for events. */
export const eventSchema: SchemaOf<DomainEvent> = {
  ...alertEvents,
  ...approvalEvents,
  ...budgetEvents,
  ...decisionEvents,
  ...opsEvents,
  ...policyEvents,
  ...tenancyEvents,
};
