import { useObservable } from '../api/observable.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Kbd } from '../ui/kbd.tsx';
import { shortcuts } from './shortcuts.ts';

interface ShortcutListProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** The keyboard shortcuts of the page, opened by `?`. */
export function ShortcutList({ isOpen, onClose }: ShortcutListProps) {
  const all = useObservable(shortcuts);
  const groups = Map.groupBy(all, ({ group }) => group);
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Keyboard shortcuts">
      <div className="gap-x-8 sm:columns-2">
        {[...groups].map(([group, members]) => (
          <section key={group} className="break-inside-avoid pb-5">
            <h3 className="mb-1.5 font-semibold">{group}</h3>
            <dl className="space-y-1">
              {members.map(({ keys, label }) => (
                <div key={keys} className="flex items-center justify-between gap-3">
                  <dt>{label}</dt>
                  <dd>
                    <Kbd keys={keys} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
