import type { ReactNode } from 'react';
import { Copyable } from './copy-button.tsx';
import type { IconName } from './icon.tsx';
import { Icon } from './icon.tsx';

interface EmptyStateProps {
  readonly title: string;
  readonly icon?: IconName;
  /** Why there is nothing, and how to change that. */
  readonly children?: ReactNode;
  /** The next command to run. */
  readonly command?: string;
  /** Buttons or links. */
  readonly actions?: ReactNode;
}

export function EmptyState({ title, icon, children, command, actions }: EmptyStateProps) {
  return (
    <div className="mx-auto flex max-w-lg flex-col items-center gap-2.5 px-4 py-10 text-center">
      {icon === undefined ? null : <Icon name={icon} className="size-6 text-muted" />}
      <p className="font-semibold">{title}</p>
      {children === undefined ? null : <div className="text-muted">{children}</div>}
      {command === undefined ? null : (
        <div className="mt-1 max-w-full text-left">
          <Copyable text={command} label="Copy the command" />
        </div>
      )}
      {actions === undefined ? null : <div className="mt-1 flex flex-wrap justify-center gap-2">{actions}</div>}
    </div>
  );
}
