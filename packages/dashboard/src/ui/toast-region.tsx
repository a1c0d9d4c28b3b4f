import { useEffect, useRef } from 'react';
import { useObservable } from '../api/observable.ts';
import { IconButton } from './button.tsx';
import { classes } from './classes.ts';
import { Icon } from './icon.tsx';
import type { Toast } from './toast.ts';
import { dismissToast, spoken, toasts } from './toast.ts';
import { inkTone } from './tone.ts';

/** The place of toasts. It is a popover, so that it lies above open dialogs, too. */
export function ToastRegion() {
  const shown = useObservable(toasts);
  const words = useObservable(spoken);
  const region = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = region.current;
    if (element === null) return;
    // Reopened with each toast, so that it lies above anything opened since.
    if (element.matches(':popover-open')) element.hidePopover();
    if (shown.length > 0) element.showPopover();
  }, [shown]);
  return (
    <>
      <p className="sr-only" aria-live="polite">
        {words}
      </p>
      <div
        ref={region}
        popover="manual"
        role="region"
        aria-label="Notifications"
        className="right-3 bottom-18 m-0 w-[min(24rem,calc(100vw-1.5rem))] space-y-2 overflow-visible bg-transparent md:bottom-3"
      >
        {shown.map((toast) => (
          <ToastCard key={toast.id} toast={toast} />
        ))}
      </div>
    </>
  );
}

function ToastCard({ toast }: { readonly toast: Toast }) {
  const { id, tone, text, action } = toast;
  return (
    <div
      {...(tone === 'danger' ? { role: 'alert' } : {})}
      className="flex items-start gap-2.5 rounded-lg border border-edge/60 bg-surface py-2 pr-2 pl-3 text-text"
    >
      <Icon
        name={tone === 'ok' ? 'check' : tone === 'info' ? 'info' : 'alert'}
        className={classes('mt-1', inkTone[tone])}
      />
      <p className="min-w-0 flex-1 py-0.5">{text}</p>
      {action === undefined ? null : (
        <button
          type="button"
          className="min-h-6 rounded-sm px-1 font-medium text-accent hover:underline"
          onClick={() => {
            action.run();
            dismissToast(id);
          }}
        >
          {action.label}
        </button>
      )}
      <IconButton icon="close" size="small" label="Dismiss" onClick={() => dismissToast(id)} />
    </div>
  );
}
