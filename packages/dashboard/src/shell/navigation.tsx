import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { classes } from '../ui/classes.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import type { PageLink } from './pages.ts';
import { pages } from './pages.ts';

/** Beside the page, from 768 px on. */
export function Sidebar() {
  return (
    <nav
      aria-label="Pages"
      className="sticky top-0 flex h-dvh w-50 shrink-0 flex-col border-r bg-surface max-md:hidden"
    >
      <Link to="/" className="flex h-12 items-center gap-2 border-b px-4 text-lg font-semibold -outline-offset-2">
        <Mark />
        Reeve
      </Link>
      <ul className="flex flex-col gap-0.5 p-2">
        {pages.map((page) => (
          <li key={page.to}>
            <NavLink page={page} className="h-8 gap-2.5 px-2.5" />
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Under the page, below 768 px: the main pages, and a sheet with the rest. */
export function BottomBar() {
  const [isOpen, setOpen] = useState(false);
  const bar = 'h-14 flex-1 flex-col justify-center gap-0.5 text-xs';
  return (
    <nav aria-label="Pages" className="fixed inset-x-0 bottom-0 z-20 border-t bg-surface md:hidden">
      <ul className="flex">
        {pages
          .filter(({ isMain }) => isMain)
          .map((page) => (
            <li key={page.to} className="flex flex-1">
              <NavLink page={page} className={bar} isLarge />
            </li>
          ))}
        <li className="flex flex-1">
          <button
            type="button"
            aria-haspopup="dialog"
            onClick={() => setOpen(true)}
            className={classes('flex items-center text-muted -outline-offset-2', bar)}
          >
            <Icon name="menu" className="size-5" />
            More
          </button>
        </li>
      </ul>
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title="Pages" width="narrow">
        <ul className="flex flex-col gap-1">
          {pages.map((page) => (
            <li key={page.to}>
              <NavLink page={page} className="h-10 gap-3 px-3" onFollow={() => setOpen(false)} />
            </li>
          ))}
        </ul>
      </Dialog>
    </nav>
  );
}

interface NavLinkProps {
  readonly page: PageLink;
  readonly className: string;
  readonly isLarge?: boolean;
  readonly onFollow?: () => void;
}

function NavLink({ page, className, isLarge = false, onFollow }: NavLinkProps) {
  return (
    <Link
      to={page.to}
      activeOptions={{ exact: page.to === '/', includeSearch: false }}
      {...(onFollow === undefined ? {} : { onClick: onFollow })}
      className={classes('flex w-full items-center rounded-md font-medium -outline-offset-2', className)}
      activeProps={{ className: 'bg-accent-soft text-accent' }}
      inactiveProps={{ className: 'text-muted hover:bg-hover hover:text-text' }}
    >
      <Icon name={page.icon} className={isLarge ? 'size-5' : 'size-4.5'} />
      {page.label}
    </Link>
  );
}

export function Mark() {
  return (
    <svg viewBox="0 0 32 32" className="size-6" aria-hidden="true">
      <rect width="32" height="32" rx="7" className="fill-accent" />
      <path
        d="M10 24V8h7.5a5 5 0 0 1 0 10H10m7 0 6 6"
        fill="none"
        strokeWidth="3"
        strokeLinecap="round"
        strokeLinejoin="round"
        className="stroke-on-accent"
      />
    </svg>
  );
}
