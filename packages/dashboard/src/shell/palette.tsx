import { useNavigate } from '@tanstack/react-router';
import type { KeyboardEvent } from 'react';
import { useId, useState } from 'react';
import { useObservable } from '../api/observable.ts';
import { classes } from '../ui/classes.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Kbd } from '../ui/kbd.tsx';
import type { Command } from './commands.ts';
import { commands } from './commands.ts';
import { pages } from './pages.ts';

interface PaletteProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Every action and page, found by typing a part of its name. An id leads to its operation or agent. */
export function Palette({ isOpen, onClose }: PaletteProps) {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Command palette" width="normal">
      <Search onClose={onClose} />
    </Dialog>
  );
}

function Search({ onClose }: { readonly onClose: () => void }) {
  const id = useId();
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const found = useCommands(query);
  const chosen = found[Math.min(at, found.length - 1)];
  const run = (command: Command) => {
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt(Math.min(at + 1, found.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(at - 1, 0));
    else if (event.key === 'Enter' && chosen !== undefined) run(chosen);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        type="text"
        role="combobox"
        aria-label="Find a page, an action, an operation or an agent"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        {...(chosen === undefined ? {} : { 'aria-activedescendant': `${id}-${found.indexOf(chosen)}` })}
        placeholder="Go to a page, run an action, paste an id"
        autoComplete="off"
        spellCheck={false}
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
        className="field-box mb-3 h-10 text-lg"
      />
      <div role="listbox" id={`${id}-list`} aria-label="Found" tabIndex={-1} className="max-h-80 overflow-auto">
        {found.map((command, index) => (
          // The field above keeps the focus and takes the keys.
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
          <div
            key={`${command.group} ${command.label}`}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={command === chosen}
            onMouseMove={() => setAt(index)}
            onClick={() => run(command)}
            className={classes(
              'flex min-h-9 cursor-pointer items-center gap-2.5 rounded-md px-2.5',
              command === chosen && 'bg-accent-soft',
            )}
          >
            <Icon name={command.icon ?? 'right'} className="text-muted" />
            <span className="min-w-0 flex-1 truncate">{command.label}</span>
            {command.keys === undefined ? (
              <span className="text-sm text-muted">{command.group}</span>
            ) : (
              <Kbd keys={command.keys} />
            )}
          </div>
        ))}
      </div>
      {found.length === 0 ? <p className="py-4 text-center text-muted">Nothing is called “{query}”.</p> : null}
    </>
  );
}

function useCommands(query: string): Command[] {
  const navigate = useNavigate();
  const registered = useObservable(commands);
  const wanted = query.trim().toLowerCase();
  const toPages = pages.map(({ to, label, icon, key }): Command => {
    return { label, icon, group: 'Pages', keys: `g ${key}`, run: () => void navigate({ to }) };
  });
  const matching = [...registered.toReversed(), ...toPages].filter(({ label, group }) =>
    wanted.split(/\s+/).every((word) => `${label} ${group}`.toLowerCase().includes(word)),
  );
  return [...matching, ...jumps(query.trim(), (path, search) => void navigate({ to: path, search: search as never }))];
}

/** Text that may be an id: `trace:span` is an operation, other text of that form may be an agent. */
function jumps(text: string, go: (path: string, search: Readonly<Record<string, string>>) => void): Command[] {
  if (!/^[\w./:-]{2,}$/.test(text)) return [];
  const isOp = text.includes(':');
  const toOp: Command = {
    label: `Open operation ${text}`,
    group: 'Jump',
    icon: 'ops',
    run: () => go('/ops', { op: text }),
  };
  const toAgent: Command = {
    label: `Find agent ${text}`,
    group: 'Jump',
    icon: 'topology',
    run: () => go('/topology', { q: text }),
  };
  const toLog: Command = {
    label: `Search the audit log for ${text}`,
    group: 'Jump',
    icon: 'audit',
    run: () => go('/audit', { q: text }),
  };
  return isOp ? [toOp, toLog] : [toAgent, toLog];
}
