import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, IconButton } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, TextInput } from '../../ui/field.tsx';
import { stringifySearch } from '../../shell/search.ts';
import type { OpsSearch } from './ops-search.ts';
import { filterOf } from './ops-search.ts';
import type { SavedView } from './saved-views.ts';
import { givenViews, isAnythingSet, isShown, readViews, withView } from './saved-views.ts';

const place = 'reeve-ops-views';

interface ViewsDialogProps {
  readonly search: OpsSearch;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Named views. Each is a link that shows the same to anyone. The names stay in this browser. */
export function ViewsDialog({ search, isOpen, onClose }: ViewsDialogProps) {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Views" width="narrow">
      <Views search={search} onClose={onClose} />
    </Dialog>
  );
}

function Views({ search, onClose }: Omit<ViewsDialogProps, 'isOpen'>) {
  const [views, setViews] = useState(() => readViews(localStorage.getItem(place)));
  const [name, setName] = useState('');
  const keep = (next: readonly SavedView[]) => {
    localStorage.setItem(place, JSON.stringify(next));
    setViews(next);
  };
  return (
    <div className="space-y-4">
      <ul aria-label="Views" className="space-y-0.5">
        {givenViews.map((view) => (
          <ViewLink key={view.name} view={view} search={search} onOpen={onClose} />
        ))}
        {views.map((view) => (
          <ViewLink
            key={`own ${view.name}`}
            view={view}
            search={search}
            onOpen={onClose}
            onDelete={() => keep(views.filter((each) => each !== view))}
          />
        ))}
      </ul>
      <form
        className="flex items-start gap-2 border-t pt-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() === '') return;
          keep(withView(views, { name: name.trim(), filter: filterOf(search) }));
          setName('');
        }}
      >
        <Field
          label="Save what is shown now as"
          className="flex-1"
          {...(isAnythingSet(search)
            ? {}
            : { hint: 'No filter or order is set now: it would show all that is in flight.' })}
        >
          <TextInput value={name} maxLength={60} autoComplete="off" onChange={(event) => setName(event.target.value)} />
        </Field>
        {/* Aligned with the field, whatever the height of its hint. */}
        <Button type="submit" disabled={name.trim() === ''} className="mt-[1.4375rem]">
          Save view
        </Button>
      </form>
    </div>
  );
}

interface ViewLinkProps {
  readonly view: SavedView;
  readonly search: OpsSearch;
  readonly onOpen: () => void;
  readonly onDelete?: () => void;
}

function ViewLink({ view, search, onOpen, onDelete }: ViewLinkProps) {
  const isCurrent = isShown(view, search);
  return (
    <li className="flex items-center gap-1">
      <Link
        to="/ops"
        search={view.filter}
        onClick={onOpen}
        {...(isCurrent ? { 'aria-current': 'true' as const } : {})}
        className={classes(
          'min-w-0 flex-1 truncate rounded-md px-2 py-1.5 hover:bg-hover',
          isCurrent && 'bg-accent-soft font-medium text-accent',
        )}
      >
        {view.name}
      </Link>
      <CopyButton
        text={`${location.origin}/ops${stringifySearch(view.filter)}`}
        label={`Copy the link to ${view.name}`}
      />
      {onDelete === undefined ? null : (
        <IconButton icon="close" size="small" label={`Delete the view ${view.name}`} onClick={onDelete} />
      )}
    </li>
  );
}
