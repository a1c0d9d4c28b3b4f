import { useEffect, useEffectEvent, useRef, useState } from 'react';
import type { ApiFault } from '../../api/api-error.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import type { YamlEditor } from './yaml-editor.ts';

interface SourceEditorProps {
  readonly label: string;
  readonly text: string;
  readonly isReadOnly?: boolean;
  readonly onChange?: (text: string) => void;
  readonly faults?: readonly ApiFault[];
  /** The cursor target. A new object each time. */
  readonly place?: ApiFault | undefined;
  readonly className?: string;
}

/** The editor, loaded on first use. */
export function SourceEditor({
  label,
  text,
  isReadOnly = false,
  onChange,
  faults,
  place,
  className,
}: SourceEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<YamlEditor>();
  // Texts that the editor has reported and the page has not returned yet. During fast typing the page lags behind. Its
  // echo of older text is not an outside change, and must not undo what was typed since.
  const said = useRef<string[]>([]);
  const changed = useEffectEvent((next: string) => {
    said.current.push(next);
    onChange?.(next);
  });
  const first = useEffectEvent(() => text);
  useEffect(() => {
    let made: YamlEditor | undefined;
    let isGone = false;
    void import('./yaml-editor.ts').then(({ YamlEditor }) => {
      if (isGone || host.current === null) return;
      made = new YamlEditor(host.current, { label, text: first(), isReadOnly, onChange: (next) => changed(next) });
      setEditor(made);
    });
    return () => {
      isGone = true;
      made?.destroy();
      setEditor(undefined);
    };
  }, [label, isReadOnly]);
  useEffect(() => {
    const at = said.current.indexOf(text);
    if (at < 0) editor?.replace(text);
    else said.current.splice(0, at + 1);
  }, [editor, text]);
  useEffect(() => editor?.mark(faults ?? []), [editor, faults]);
  useEffect(() => {
    if (place !== undefined) editor?.goTo(place);
  }, [editor, place]);
  return (
    <div className={className ?? 'h-[28rem]'}>
      {editor === undefined ? <Skeleton lines={8} label="The editor is being loaded" /> : null}
      <div ref={host} className="h-full overflow-hidden" />
    </div>
  );
}
