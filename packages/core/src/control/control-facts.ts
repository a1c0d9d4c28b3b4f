import type { Meanings } from '../journal/index.ts';
import { nothingToApply, touchesNobody, touchesOrg } from '../journal/index.ts';
import { agentKey } from '../kernel/index.ts';
import { controlRows } from './control-rows.ts';
import type { ControlChange } from './control-slice.ts';
import type { Controls } from './controls.ts';
import { followControl } from './follow-control.ts';

function follow(gov: Controls, change: ControlChange) {
  followControl(gov, change);
  return nothingToApply();
}

export const controlFacts: Meanings<Controls, ControlChange> = {
  receipt_saved: {
    apply: follow,
    touch: ({ receipt }) => ({ agent: agentKey(receipt.agent) }),
    rows: controlRows.receipt_saved,
  },
  control_sequence_saved: {
    apply: follow,
    touch: ({ sequence }) => ({ agent: agentKey(sequence.agent) }),
    rows: controlRows.control_sequence_saved,
  },
  bulk_control_saved: {
    apply: follow,
    touch: ({ bulk }) => touchesOrg(bulk.orgId),
    rows: controlRows.bulk_control_saved,
  },
  run_control_saved: {
    apply: follow,
    touch: ({ control }) => touchesOrg(control.orgId),
    rows: controlRows.run_control_saved,
  },
  run_control_used: { apply: follow, touch: touchesNobody, rows: controlRows.run_control_used },
  run_control_removed: {
    apply: follow,
    touch: ({ control }) => touchesOrg(control.orgId),
    rows: controlRows.run_control_removed,
  },
  departure_saved: {
    apply: follow,
    touch: ({ departure }) => touchesOrg(departure.orgId),
    rows: controlRows.departure_saved,
  },
  departure_removed: {
    apply: follow,
    touch: ({ departure }) => touchesOrg(departure.orgId),
    rows: controlRows.departure_removed,
  },
  receipts_removed: { apply: nothingToApply, touch: touchesNobody, rows: controlRows.receipts_removed },
};
