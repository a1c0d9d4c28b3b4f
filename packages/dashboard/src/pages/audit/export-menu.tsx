import { useState } from 'react';
import { formatCount } from '../../api/format.ts';
import { messageOf } from '../../api/api-error.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Menu } from '../../ui/menu.tsx';
import { toast } from '../../ui/toast.ts';
import type { LogFilter } from './audit-search.ts';
import { saveExport } from './save-export.ts';

/** Saves everything that the filter matches, and shows the size so far. */
export function ExportMenu({ filter }: { readonly filter: LogFilter }) {
  const [running, setRunning] = useState<{ readonly bytes: number; readonly abort: AbortController }>();
  const start = async (format: 'jsonl' | 'csv') => {
    const abort = new AbortController();
    setRunning({ bytes: 0, abort });
    try {
      const bytes = await saveExport(filter, format, abort.signal, (bytes) => setRunning({ bytes, abort }));
      if (bytes !== undefined) toast.ok(`Exported ${sizeOf(bytes)}.`);
    } catch (error) {
      if (!abort.signal.aborted) toast.failed(`The export broke off. ${messageOf(error)}`);
    } finally {
      setRunning(undefined);
    }
  };
  if (running !== undefined) {
    return (
      <div className="flex items-center gap-2">
        <p role="status" className="text-sm text-muted">
          Exporting: {sizeOf(running.bytes)}
        </p>
        <Button size="small" onClick={() => running.abort.abort()}>
          Stop
        </Button>
      </div>
    );
  }
  return (
    <Menu
      label="Export"
      look="plain"
      trigger={
        <>
          <Icon name="download" /> Export
        </>
      }
      items={[
        { label: 'JSON lines, verifiable', icon: 'download', onSelect: () => void start('jsonl') },
        { label: 'CSV, for spreadsheets', icon: 'download', onSelect: () => void start('csv') },
      ]}
    />
  );
}

function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 ** 2) return `${formatCount(Math.round(bytes / 1024))} KiB`;
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
