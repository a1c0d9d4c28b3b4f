import type { ReactNode } from 'react';
import { ThemeMenu } from './account-menu.tsx';
import { Mark } from './navigation.tsx';

interface PublicFrameProps {
  readonly title: string;
  readonly children: ReactNode;
}

/** The frame of the pages for people who are not signed in. */
export function PublicFrame({ title, children }: PublicFrameProps) {
  return (
    <div className="flex min-h-dvh flex-col">
      <title>{`${title} · Reeve`}</title>
      <header className="flex h-12 items-center justify-end px-3">
        <ThemeMenu />
      </header>
      <main className="flex flex-1 flex-col items-center px-4 pt-[8dvh] pb-10">
        <div className="w-full max-w-96">
          <p className="mb-6 flex items-center gap-2.5 text-lg font-semibold">
            <Mark />
            Reeve
          </p>
          <div className="rounded-lg border bg-surface p-5 sm:p-6">
            <h1 className="mb-4 text-xl font-semibold">{title}</h1>
            {children}
          </div>
        </div>
      </main>
    </div>
  );
}
