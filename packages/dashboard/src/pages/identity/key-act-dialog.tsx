import { callRoute } from '../../api/call.ts';
import { session } from '../../api/session.ts';
import { useAction } from '../../api/use-route.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import type { ApiKey } from './key-model.ts';
import type { MadeKey } from './made-key.tsx';

export interface AskedKey {
  readonly act: 'rotate' | 'revoke';
  readonly apiKey: ApiKey;
}

interface KeyActDialogProps {
  readonly asked: AskedKey;
  /** Whether the person is signed in with this key. */
  readonly isOwn: boolean;
  readonly onClose: () => void;
  readonly onMade: (made: MadeKey) => void;
}

export function KeyActDialog({ asked: { act, apiKey }, isOwn, onClose, onMade }: KeyActDialogProps) {
  const request = { params: { id: apiKey.id } };
  const rotate = useAction(() => (isOwn ? session.rotateOwnKey(apiKey.id) : callRoute('rotateApiKey', request)), {
    success: ({ label }) => `The key “${label}” is rotated.`,
    invalidates: ['listApiKeys', 'me'],
    isFailureShown: true,
    onSuccess: onMade,
  });
  const revoke = useAction(() => callRoute('revokeApiKey', request), {
    success: ({ label }) => `The key “${label}” is revoked.`,
    invalidates: ['listApiKeys'],
    isFailureShown: true,
  });
  return act === 'rotate' ? (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`Rotate the key “${apiKey.label}”`}
      confirmLabel="Rotate"
      onConfirm={() => rotate.mutateAsync()}
    >
      <p>
        You get a new key with the same rights. The old one, and every token made from it, stops at once: whatever uses
        it has to be given the new one.
      </p>
      {isOwn ? <p>You are signed in with this key, and go on with the new one.</p> : null}
    </ConfirmDialog>
  ) : (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`Revoke the key “${apiKey.label}”`}
      confirmLabel="Revoke"
      look="danger"
      onConfirm={() => revoke.mutateAsync()}
    >
      <p>It and every token made from it stop at once, and for good. Agents that use it are refused from then on.</p>
      {isOwn ? <p>You are signed in with this key: your session ends with it.</p> : null}
    </ConfirmDialog>
  );
}
