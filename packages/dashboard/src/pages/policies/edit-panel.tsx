import { useState } from 'react';
import type { ApiFault } from '../../api/api-error.ts';
import { ApiError } from '../../api/api-error.ts';
import { callRoute } from '../../api/call.ts';
import { useAction } from '../../api/use-route.ts';
import { useCan, useGrant } from '../../api/use-session.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Field, TextInput } from '../../ui/field.tsx';
import { FaultList } from './fault-list.tsx';
import type { PolicyText } from './policy-list.ts';
import { nameIn } from './document-name.ts';
import { isChangeable } from './policy-list.ts';
import { SourceEditor } from './source-editor.tsx';
import { useValidation } from './use-validation.ts';

const none: readonly ApiFault[] = [];
const changed = ['listPolicies', 'getPolicy', 'policyVersions'] as const;

interface EditPanelProps {
  /** Undefined for a document that is not stored yet. */
  readonly policy: PolicyText | undefined;
  readonly source: string;
  readonly onEdit: (source: string) => void;
  readonly onStored: (name: string) => void;
  readonly onRemoved: () => void;
}

/** The text of a document, checked as it is written. Saving puts it in force. */
export function EditPanel({ policy, source, onEdit, onStored, onRemoved }: EditPanelProps) {
  const isAdmin = useCan('admin');
  const isFromFile = policy?.origin === 'file';
  const grant = useGrant();
  const isWiders = !isFromFile && policy !== undefined && grant !== undefined && !isChangeable(policy, grant);
  const isReadOnly = isFromFile || isWiders || !isAdmin;
  const { faults, error } = useValidation(source, policy?.name);
  const [place, setPlace] = useState<ApiFault>();
  const [note, setNote] = useState('');
  const [isRemoving, setRemoving] = useState(false);
  const name = policy?.name ?? nameIn(source);
  const save = useAction(
    () => {
      if (name === undefined) throw new Error('Give the document a name: name: my-policy');
      const base =
        policy === undefined ? { base_version: 0 } : policy.version === null ? {} : { base_version: policy.version };
      return callRoute('putPolicy', { params: { name }, body: { source, note, ...base } });
    },
    {
      success: (stored) => `In force: ${stored.name}, version ${stored.version}.`,
      invalidates: changed,
      isFailureShown: true,
      onSuccess: (stored) => {
        setNote('');
        onStored(stored.name);
      },
    },
  );
  const remove = useAction(() => callRoute('deletePolicy', { params: { name: name ?? '' } }), {
    success: () => 'Out of force. Its versions stay, and it can be rolled back to.',
    invalidates: changed,
    isFailureShown: true,
    onSuccess: onRemoved,
  });
  const isChanged = policy === undefined || source !== policy.source;
  return (
    <div className="space-y-3">
      {isFromFile ? (
        <p className="text-muted">
          This document comes from the file <code className="break-all">{policy.file}</code> of the gateway. It is
          changed there, and put in force as it is saved. Below it can be tried out.
        </p>
      ) : null}
      {isWiders ? (
        <p className="text-muted">
          {policy.width === 'unbound' ? 'The operator' : 'An admin of the whole org'} has written this document, and
          changes it. Below it can be tried out.
        </p>
      ) : null}
      {!isAdmin && !isFromFile && !isWiders ? (
        <p className="text-muted">Changing policies needs the scope “admin”.</p>
      ) : null}
      <Card isFlush>
        <SourceEditor
          label="Policy document"
          text={source}
          isReadOnly={isReadOnly}
          onChange={onEdit}
          // The text of a file is in force already. That its name is taken is not a fault.
          faults={isReadOnly ? none : (faults ?? none)}
          place={place}
        />
        {isReadOnly ? null : (
          <div className="border-t">
            {error === null ? (
              <FaultList faults={faults} onGoTo={(fault) => setPlace({ ...fault })} />
            ) : (
              <div className="p-3">
                <ErrorNotice error={error} title="The text could not be checked" />
              </div>
            )}
          </div>
        )}
      </Card>
      {isReadOnly ? null : (
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
          {isChanged && policy !== undefined ? (
            <Button onClick={() => onEdit(policy.source)}>Undo changes</Button>
          ) : null}
          <Button
            look="primary"
            isPending={save.isPending}
            disabled={!isChanged || faults === undefined || faults.length > 0}
            onClick={() => save.mutate()}
          >
            Save and put in force
          </Button>
        </div>
      )}
      {save.error === null ? null : <ErrorNotice error={save.error} {...titleFor(save.error)} />}
      <ConfirmDialog
        isOpen={isRemoving}
        onClose={() => setRemoving(false)}
        title={`Take ${name ?? ''} out of force`}
        confirmLabel="Take out of force"
        look="danger"
        typed={name ?? ''}
        onConfirm={() => remove.mutateAsync()}
      >
        <p>Its rules stop deciding at once. Its versions stay: it can be rolled back to.</p>
      </ConfirmDialog>
    </div>
  );
}

function titleFor(error: unknown): { readonly title?: string } {
  if (!(error instanceof ApiError)) return {};
  if (error.code === 'policy_changed')
    return { title: 'Somebody has stored another version meanwhile. Nothing was changed' };
  return error.code === 'policy_in_file' ? { title: 'The name is taken' } : {};
}
