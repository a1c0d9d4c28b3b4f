import { Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { eventStream } from '../api/event-stream.ts';
import { useGrant } from '../api/use-session.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Kbd } from '../ui/kbd.tsx';
import { AccountMenu, ThemeMenu } from './account-menu.tsx';
import { ConnectionState } from './connection-state.tsx';
import { ExpiryNotice } from './expiry-notice.tsx';
import { BottomBar, Mark, Sidebar } from './navigation.tsx';
import { pages } from './pages.ts';
import { Palette } from './palette.tsx';
import { ShortcutList } from './shortcut-list.tsx';
import { listenForShortcuts, useShortcut } from './shortcuts.ts';
import { SuspensionNotice } from './suspension-notice.tsx';

/** The frame around every page for a signed-in person. */
export function AppShell() {
  const [open, setOpen] = useState<'palette' | 'shortcuts'>();
  // If two open in quick succession, the first one reports its closing late.
  const close = (which: typeof open) => setOpen((now) => (now === which ? undefined : now));
  const isSignedIn = useGrant() !== undefined;
  useEffect(() => listenForShortcuts(), []);
  useEffect(() => {
    if (!isSignedIn) return undefined;
    eventStream.start();
    return () => eventStream.stop();
  }, [isSignedIn]);
  useShortcut('mod+k', 'Command palette', () => setOpen('palette'), 'Everywhere');
  useShortcut('?', 'This list', () => setOpen('shortcuts'), 'Everywhere');
  return (
    <div className="flex min-h-dvh">
      <a
        href="#main"
        className="sr-only z-30 rounded-md bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to the page
      </a>
      {pages.map((page) => (
        <PageShortcut key={page.to} to={page.to} label={page.label} keys={`g ${page.key}`} />
      ))}
      <Sidebar />
      <div className="flex min-w-0 flex-1 flex-col">
        <header className="sticky top-0 z-20 flex h-12 items-center gap-1 border-b bg-surface px-3 md:px-5">
          <span className="mr-1 md:hidden">
            <Mark />
          </span>
          <ConnectionState />
          <div className="ml-auto flex items-center gap-1">
            <button
              type="button"
              onClick={() => setOpen('palette')}
              className="flex h-8 items-center gap-2 rounded-md border border-edge/60 px-2.5 text-sm text-muted hover:bg-hover"
            >
              <Icon name="search" />
              <span className="max-md:sr-only">Search or jump to</span>
              <span aria-hidden="true" className="max-md:hidden">
                <Kbd keys="mod+K" />
              </span>
            </button>
            <IconButton
              icon="keyboard"
              label="Keyboard shortcuts"
              className="max-md:hidden"
              onClick={() => setOpen('shortcuts')}
            />
            <ThemeMenu />
            <AccountMenu />
          </div>
        </header>
        <ExpiryNotice />
        {isSignedIn ? <SuspensionNotice /> : null}
        <Main />
      </div>
      <BottomBar />
      <Palette isOpen={open === 'palette'} onClose={() => close('palette')} />
      <ShortcutList isOpen={open === 'shortcuts'} onClose={() => close('shortcuts')} />
    </div>
  );
}

/** Takes the focus on a page change, so that reading starts at the top. */
function Main() {
  const main = useRef<HTMLElement>(null);
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const before = useRef(path);
  useEffect(() => {
    if (before.current !== undefined && before.current !== path) main.current?.focus({ preventScroll: true });
    before.current = path;
  }, [path]);
  return (
    <main ref={main} id="main" tabIndex={-1} className="min-w-0 flex-1 pb-16 outline-none md:pb-0">
      <Outlet />
    </main>
  );
}

function PageShortcut({ to, label, keys }: { readonly to: string; readonly label: string; readonly keys: string }) {
  const navigate = useNavigate();
  useShortcut(keys, label, () => void navigate({ to }), 'Go to');
  return null;
}
