import type { ReactNode } from 'react';

interface PageProps {
  /** The one h1, and the title of the document. */
  readonly title: string;
  /** A number or state beside the title. */
  readonly note?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The frame of every page for signed-in people. */
export function Page({ title, note, actions, children }: PageProps) {
  return (
    <div className="mx-auto flex w-full max-w-[100rem] flex-col gap-4 px-4 py-4 md:px-6 md:py-5">
      <title>{`${title} · Reeve`}</title>
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-2">
        {/* Grows, so that actions stand at the right, or at the left of their own line. */}
        <div className="flex min-w-0 grow flex-wrap items-baseline gap-x-3">
          <h1 className="text-xl font-semibold">{title}</h1>
          {note === undefined ? null : <div className="min-w-0 text-sm text-muted">{note}</div>}
        </div>
        {actions === undefined ? null : <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
      {children}
    </div>
  );
}
