import { useState } from 'react';
import { callRoute } from '../../api/call.ts';
import { useAction } from '../../api/use-route.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Field, TextInput } from '../../ui/field.tsx';
import type { PolicyText } from './policy-list.ts';

interface SaveBarProps {
  /** Undefined for a document that is not stored yet. */
  readonly policy: PolicyText | undefined;
  readonly isChanged: boolean;
  readonly isSound: boolean;
  readonly isPending: boolean;
  readonly onSave: (note: string) => Promise<unknown>;
  readonly onUndo: () => void;
  readonly onRemoved: () => void;
}

/** Puts a text in force, with a note, or takes the document out of force. */
export function SaveBar({ policy, isChanged, isSound, isPending, onSave, onUndo, onRemoved }: SaveBarProps) {
  const [note, setNote] = useState('');
  const [isRemoving, setRemoving] = useState(false);
  const remove = useAction(() => callRoute('deletePolicy', { params: { name: policy?.name ?? '' } }), {
    success: () => 'Out of force. Its versions stay, and it can be rolled back to.',
    invalidates: ['listPolicies', 'getPolicy', 'policyVersions'],
    isFailureShown: true,
    onSuccess: onRemoved,
  });
  const save = async () => {
    // The panel shows why it failed. The note stays for the next attempt.
    const isSaved = await onSave(note).then(
      () => true,
      () => false,
    );
    if (isSaved) setNote('');
  };
  return (
    <div className="flex flex-wrap items-end gap-2">
      <Field label="Note (optional)" className="min-w-48 flex-1">
        <TextInput
          value={note}
          maxLength={1000}
          placeholder="why it was changed"
          onChange={(event) => setNote(event.target.value)}
        />
      </Field>
      {policy === undefined ? null : (
        <Button look="quiet" onClick={() => setRemoving(true)}>
          Take out of force
        </Button>
      )}
      {isChanged && policy !== undefined ? <Button onClick={onUndo}>Undo changes</Button> : null}
      <Button look="primary" isPending={isPending} disabled={!isChanged || !isSound} onClick={() => void save()}>
        Save and put in force
      </Button>
      {policy === undefined ? null : (
        <ConfirmDialog
          isOpen={isRemoving}
          onClose={() => setRemoving(false)}
          title={`Take ${policy.name} out of force`}
          confirmLabel="Take out of force"
          look="danger"
          typed={policy.name}
          onConfirm={() => remove.mutateAsync()}
        >
          <p>Its rules stop deciding at once. Its versions stay: it can be rolled back to.</p>
        </ConfirmDialog>
      )}
    </div>
  );
}
