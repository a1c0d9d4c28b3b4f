import { useState } from 'react';
import type { ApiFault } from '../../api/api-error.ts';
import { ApiError } from '../../api/api-error.ts';
import { callRoute } from '../../api/call.ts';
import { useAction } from '../../api/use-route.ts';
import { useCan, useGrant } from '../../api/use-session.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { nameIn } from './document-name.ts';
import type { Draft, useDraft } from './draft.ts';
import { FaultList } from './fault-list.tsx';
import type { PolicyText } from './policy-list.ts';
import { isChangeable } from './policy-list.ts';
import { SaveBar } from './save-bar.tsx';
import { SourceEditor } from './source-editor.tsx';
import { useValidation } from './use-validation.ts';

const none: readonly ApiFault[] = [];

interface EditPanelProps extends ReturnType<typeof useDraft> {
  readonly onStored: (name: string) => void;
  readonly onRemoved: () => void;
}

/** The text of a document, checked as it is written. Saving puts it in force. */
export function EditPanel({ draft, newer, edit, takeStored, goOnFromStored, onStored, onRemoved }: EditPanelProps) {
  const { source, base } = draft;
  const fixed = useWhyFixed(base);
  const { faults, error } = useValidation(source, base?.name);
  const [place, setPlace] = useState<ApiFault>();
  const save = useSave(draft, onStored);
  return (
    <div className="space-y-3">
      {fixed === undefined ? null : <p className="text-muted">{fixed}</p>}
      <Card isFlush>
        <SourceEditor
          label="Policy document"
          text={source}
          isReadOnly={fixed !== undefined}
          onChange={edit}
          // The text of a file is in force already. That its name is taken is not a fault.
          faults={fixed === undefined ? (faults ?? none) : none}
          place={place}
        />
        {fixed !== undefined ? null : (
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
      {fixed !== undefined ? null : (
        <SaveBar
          policy={base}
          isChanged={base === undefined || source !== base.source}
          isSound={faults !== undefined && faults.length === 0}
          isPending={save.isPending}
          onSave={(note) => save.mutateAsync(note)}
          onUndo={takeStored}
          onRemoved={onRemoved}
        />
      )}
      {newer !== undefined ? (
        <Meanwhile newer={newer} onTake={takeStored} onKeep={goOnFromStored} />
      ) : save.error === null ? null : (
        <ErrorNotice error={save.error} {...titleFor(save.error)} />
      )}
    </div>
  );
}

/** Why this person cannot change the document. Undefined if they can. */
function useWhyFixed(policy: PolicyText | undefined): string | undefined {
  const isAdmin = useCan('admin');
  const grant = useGrant();
  if (policy?.origin === 'file') {
    return `This document comes from the file ${policy.file ?? ''} of the gateway. It is changed there, and put in force as it is saved. Below it can be tried out.`;
  }
  if (policy !== undefined && grant !== undefined && !isChangeable(policy, grant)) {
    return `${policy.width === 'unbound' ? 'The operator' : 'An admin of the whole org'} has written this document, and changes it. Below it can be tried out.`;
  }
  return isAdmin ? undefined : 'Changing policies needs the scope “admin”.';
}

function useSave({ source, base }: Draft, onStored: (name: string) => void) {
  return useAction(
    (note: string) => {
      const name = base?.name ?? nameIn(source);
      if (name === undefined) throw new Error('Give the document a name: name: my-policy');
      const version = base === undefined ? 0 : base.version;
      const body = { source, note, ...(version === null ? {} : { base_version: version }) };
      return callRoute('putPolicy', { params: { name }, body });
    },
    {
      success: (stored) => `In force: ${stored.name}, version ${stored.version}.`,
      invalidates: ['listPolicies', 'getPolicy', 'policyVersions'],
      isFailureShown: true,
      onSuccess: (stored) => onStored(stored.name),
    },
  );
}

interface MeanwhileProps {
  readonly newer: PolicyText;
  readonly onTake: () => void;
  readonly onKeep: () => void;
}

/** Two people write at once. The second decides what becomes of their text, with the other's in view. */
function Meanwhile({ newer, onTake, onKeep }: MeanwhileProps) {
  return (
    <div role="alert" className="space-y-2 rounded-md border border-warn/40 bg-warn-soft p-3">
      <p>
        <strong>Somebody has stored another version meanwhile.</strong> Version {newer.version} is in force, and your
        text is still here. The tab “Versions” shows what they changed.
      </p>
      <p className="flex flex-wrap gap-2">
        <Button size="small" onClick={onKeep}>
          Keep my text
        </Button>
        <Button size="small" onClick={onTake}>
          Take theirs
        </Button>
      </p>
    </div>
  );
}

function titleFor(error: unknown): { readonly title?: string } {
  if (!(error instanceof ApiError)) return {};
  if (error.code === 'policy_changed')
    return { title: 'Somebody has stored another version meanwhile. Nothing was changed' };
  return error.code === 'policy_in_file' ? { title: 'The name is taken' } : {};
}
