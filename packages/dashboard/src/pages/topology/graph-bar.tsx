import { useReactFlow } from '@xyflow/react';
import { Button, IconButton } from '../../ui/button.tsx';

interface GraphBarProps {
  readonly mayOpenAll: boolean;
  readonly onOpenAll: () => void;
  readonly onCloseAll: () => void;
  readonly onFit: () => void;
}

/** Actions on the whole graph. */
export function GraphBar({ mayOpenAll, onOpenAll, onCloseAll, onFit }: GraphBarProps) {
  const flow = useReactFlow();
  return (
    <div className="flex flex-wrap items-center gap-1.5 border-b px-3 py-1.5">
      <p className="mr-auto text-sm text-muted">
        {mayOpenAll
          ? 'Arrows lead from an agent to those it started.'
          : 'Open an org or team to see its agents, or search for one.'}
      </p>
      {mayOpenAll ? (
        <Button size="small" onClick={onOpenAll}>
          Open all
        </Button>
      ) : null}
      <Button size="small" onClick={onCloseAll}>
        Close all
      </Button>
      <IconButton icon="plus" size="small" label="Zoom in" onClick={() => void flow.zoomIn()} />
      <IconButton icon="minus" size="small" label="Zoom out" onClick={() => void flow.zoomOut()} />
      <IconButton icon="fit" size="small" label="Show everything" onClick={onFit} />
    </div>
  );
}
