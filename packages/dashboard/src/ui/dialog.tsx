import type { ReactNode } from 'react';
import { useEffect, useId, useLayoutEffect, useRef } from 'react';
import { IconButton } from './button.tsx';
import { classes } from './classes.ts';

interface DialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: ReactNode;
  /** Buttons at the foot. The main action comes last. */
  readonly footer?: ReactNode;
  readonly width?: 'narrow' | 'normal' | 'wide';
  /** A click outside does not close it, because it shows something only once. */
  readonly isFirm?: boolean;
  readonly children: ReactNode;
}

const widths = { narrow: 'sm:w-[26rem]', normal: 'sm:w-[34rem]', wide: 'sm:w-[56rem]' };

/** The browser's own modal dialog. It traps the focus, closes on Escape and returns the focus. */
export function Dialog({ isOpen, onClose, title, footer, width = 'normal', isFirm = false, children }: DialogProps) {
  return (
    <Modal
      isOpen={isOpen}
      isFirm={isFirm}
      onClose={onClose}
      title={title}
      footer={footer}
      className={classes(
        'max-h-[min(46rem,calc(100dvh-2rem))] w-[calc(100vw-1.5rem)] max-w-none rounded-lg',
        widths[width],
      )}
    >
      {children}
    </Modal>
  );
}

/** A dialog at the side, for the details of one thing. It takes the whole width on a phone. */
export function Drawer({ isOpen, onClose, title, footer, width = 'normal', children }: DialogProps) {
  const wide = { narrow: 'md:w-[26rem]', normal: 'md:w-[36rem]', wide: 'md:w-[52rem]' };
  return (
    <Modal
      isOpen={isOpen}
      onClose={onClose}
      title={title}
      footer={footer}
      className={classes(
        'my-0 mr-0 ml-auto h-dvh max-h-none w-full max-w-none md:border-y-0 md:border-r-0',
        wide[width],
      )}
    >
      {children}
    </Modal>
  );
}

interface ModalProps extends Omit<DialogProps, 'width'> {
  readonly className: string;
}

function Modal({ isOpen, onClose, title, footer, isFirm = false, className, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    if (element === null) return;
    if (isOpen && !element.open) {
      element.showModal();
      startIn(element);
    }
    if (!isOpen && element.open) element.close();
  }, [isOpen]);
  useLayoutEffect(() => {
    const element = dialog.current;
    // A dialog that is unmounted while open returns the focus only if it is closed before.
    return () => element?.close();
  }, []);
  return (
    // A click beside the dialog lands on the element itself, as its content covers the rest. Escape does the same.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions
    <dialog
      ref={dialog}
      tabIndex={-1}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === event.currentTarget && !isFirm) event.currentTarget.close();
      }}
      className={classes('border bg-surface p-0 text-text outline-none', className)}
    >
      {isOpen ? (
        <div className="flex h-full max-h-[inherit] flex-col">
          <div className="flex items-center gap-2 border-b py-2 pr-2 pl-4">
            <h2 id={id} className="min-w-0 flex-1 text-lg font-semibold wrap-anywhere">
              {title}
            </h2>
            <IconButton icon="close" label="Close" onClick={() => dialog.current?.close()} />
          </div>
          {/* Scrolls by keyboard if nothing inside takes the focus. */}
          {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
          <div data-dialog-body className="relative min-h-0 flex-1 overflow-auto p-4 -outline-offset-2" tabIndex={0}>
            {children}
          </div>
          {footer === undefined ? null : (
            <div className="flex flex-wrap justify-end gap-2 border-t px-4 py-3">{footer}</div>
          )}
        </div>
      ) : null}
    </dialog>
  );
}

/** Focuses the first field, else the dialog itself, which is then read out. */
function startIn(dialog: HTMLDialogElement): void {
  const body = dialog.querySelector<HTMLElement>('[data-dialog-body]');
  const field = body?.querySelector<HTMLElement>('input, textarea, select');
  (field ?? dialog).focus({ preventScroll: true });
}
