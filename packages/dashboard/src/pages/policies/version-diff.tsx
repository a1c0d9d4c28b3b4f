import { useEffect, useRef } from 'react';
import { Skeleton } from '../../ui/skeleton.tsx';

interface VersionDiffProps {
  readonly before: string;
  readonly after: string;
  readonly label: string;
}

/** The changes between two texts, one below the other. */
export function VersionDiff({ before, after, label }: VersionDiffProps) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let destroy: (() => void) | undefined;
    let isGone = false;
    void import('./diff-view.ts').then(({ showDiff }) => {
      if (!isGone && host.current !== null) destroy = showDiff(host.current, before, after, label);
    });
    return () => {
      isGone = true;
      destroy?.();
    };
  }, [before, after, label]);
  return (
    <div ref={host} className="min-h-24 overflow-hidden">
      <Skeleton lines={3} />
    </div>
  );
}
