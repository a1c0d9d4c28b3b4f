import type { ReactNode } from 'react';
import { useId, useState } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorNotice } from './error-notice.tsx';
import { Field, TextArea, TextInput } from './field.tsx';

interface ConfirmDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** What will happen, in plain words. */
  readonly children: ReactNode;
  /** The verb: "Terminate 12 operations". */
  readonly confirmLabel: string;
  readonly look?: 'primary' | 'danger';
  /** The text to type first, if a slip would cost much. */
  readonly typed?: string;
  readonly reason?: 'none' | 'optional' | 'required';
  /** Something else is still missing. */
  readonly isBlocked?: boolean;
  /** Who reads the reason. */
  readonly reasonHint?: string;
  /** Performs the action. The dialog shows its progress, closes on success, and shows the error on failure. */
  readonly onConfirm: (reason: string) => Promise<unknown>;
}

/** Asks for confirmation of something important. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  return props.isOpen ? <OpenConfirm {...props} /> : null;
}

function OpenConfirm({
  onClose,
  title,
  children,
  confirmLabel,
  look = 'primary',
  typed,
  reason = 'none',
  reasonHint = 'Kept in the audit log; the agent is told.',
  isBlocked = false,
  onConfirm,
}: ConfirmDialogProps) {
  const form = useId();
  const [given, setGiven] = useState('');
  const [text, setText] = useState('');
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const isReady =
    !isBlocked && (typed === undefined || text.trim() === typed) && (reason !== 'required' || given.trim() !== '');
  const confirm = async () => {
    setPending(true);
    setError(undefined);
    try {
      await onConfirm(given.trim());
      onClose();
    } catch (caught) {
      setError(caught);
      setPending(false);
    }
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={title}
      width="narrow"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={form} look={look} isPending={isPending} disabled={!isReady}>
            {confirmLabel}
          </Button>
        </>
      }
    >
      <form
        id={form}
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !isPending) void confirm();
        }}
      >
        <div className="space-y-2">{children}</div>
        {reason === 'none' ? null : (
          <Field label={reason === 'required' ? 'Reason' : 'Reason (optional)'} hint={reasonHint}>
            <TextArea value={given} maxLength={8192} onChange={(event) => setGiven(event.target.value)} />
          </Field>
        )}
        {typed === undefined ? null : (
          <Field
            label={
              <>
                Type <code className="rounded-sm bg-sunken px-1">{typed}</code> to confirm
              </>
            }
          >
            <TextInput
              value={text}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => setText(event.target.value)}
            />
          </Field>
        )}
        {error === undefined ? null : <ErrorNotice error={error} />}
      </form>
    </Dialog>
  );
}
