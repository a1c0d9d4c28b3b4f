import { useState } from 'react';
import { callRoute } from '../../api/call.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Checkbox } from '../../ui/field.tsx';
import { toast } from '../../ui/toast.ts';
import type { ClearRequest } from './run.ts';

/** Whose labels are cleared, and which there are. */
export interface Clearing {
  /** `run order-17`, `agent bot`. */
  readonly name: string;
  readonly whose: Pick<ClearRequest, 'org_id' | 'team_id' | 'run_id' | 'agent_id'>;
  readonly labels: readonly string[];
}

interface ClearLabelsDialogProps {
  readonly clearing: Clearing;
  readonly onClose: () => void;
  readonly onDone: () => Promise<unknown>;
}

/** Asks which labels to clear, and why. */
export function ClearLabelsDialog({ clearing: { name, whose, labels }, onClose, onDone }: ClearLabelsDialogProps) {
  const [kept, setKept] = useState<ReadonlySet<string>>(new Set());
  const picked = labels.filter((label) => !kept.has(label));
  const clear = async (reason: string) => {
    const { cleared } = await callRoute('clearRunLabels', { body: { ...whose, labels: picked, reason } });
    toast.ok(cleared.length === 0 ? 'They had been cleared already.' : `Cleared: ${cleared.join(', ')}.`);
    await onDone();
  };
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`Clear labels of ${name}?`}
      confirmLabel="Clear labels"
      look="danger"
      reason="required"
      reasonHint="Kept in the audit log."
      isBlocked={picked.length === 0}
      onConfirm={clear}
    >
      <p>Rules that look at these labels hold nothing back any more. What was answered before stays as it is.</p>
      <fieldset>
        <legend className="sr-only">Labels</legend>
        {labels.map((label) => (
          <Checkbox
            key={label}
            label={label}
            checked={!kept.has(label)}
            onChange={(isPicked) => {
              const next = new Set(kept);
              if (isPicked) next.delete(label);
              else next.add(label);
              setKept(next);
            }}
          />
        ))}
      </fieldset>
    </ConfirmDialog>
  );
}
