import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { Copyable } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icon.tsx';

interface ShownOnceProps {
  readonly title: string;
  /** The label of the copy button: "Copy the key". */
  readonly copyLabel: string;
  readonly secret: string;
  readonly children: ReactNode;
  readonly onClose: () => void;
}

/** A secret that the gateway does not keep. The page holds it while this is open. A click outside does not close it. */
export function ShownOnce({ title, copyLabel, secret, children, onClose }: ShownOnceProps) {
  return (
    <Dialog
      isOpen
      isFirm
      onClose={onClose}
      title={title}
      footer={
        <Button look="primary" onClick={onClose}>
          I have kept it
        </Button>
      }
    >
      <div className="space-y-3">
        <p className="flex items-start gap-2 rounded-md bg-warn-soft p-3 text-warn">
          <Icon name="alert" className="mt-0.5" />
          <span>It is shown this once. When this is closed, nobody can see it again.</span>
        </p>
        <Copyable text={secret} label={copyLabel} />
        {children}
      </div>
    </Dialog>
  );
}
