import type { TimeForm } from '../api/format.ts';
import { formatDuration, formatTime, formatUtc } from '../api/format.ts';
import { useNow } from './now.ts';
import { Unknown } from './unknown.tsx';

interface TimeProps {
  /** As the gateway writes it. Null if unknown. */
  readonly at: string | null | undefined;
  readonly form?: TimeForm;
}

/** A moment in the viewer's zone, with the exact UTC on hover. */
export function Time({ at, form = 'relative' }: TimeProps) {
  const moment = parse(at);
  if (moment === undefined) return <Unknown />;
  return form === 'relative' ? <Relative at={moment} /> : <Fixed at={moment} form={form} />;
}

function Fixed({ at, form }: { readonly at: Date; readonly form: TimeForm }) {
  const now = useNow(10_000);
  return (
    <time dateTime={at.toISOString()} title={formatUtc(at)} className="whitespace-nowrap">
      {formatTime(at, form, new Date(now))}
    </time>
  );
}

function Relative({ at }: { readonly at: Date }) {
  const now = useNow(1000);
  return (
    <time dateTime={at.toISOString()} title={formatUtc(at)} className="whitespace-nowrap">
      {formatTime(at, 'relative', new Date(now))}
    </time>
  );
}

interface AgeProps {
  readonly since: string | null | undefined;
  /** The end. Without one, the time runs on. */
  readonly until?: string | null | undefined;
}

/** A duration that runs like a stopwatch until it has an end. */
export function Age({ since, until }: AgeProps) {
  const start = parse(since);
  const end = parse(until);
  if (start === undefined) return <Unknown />;
  return end === undefined ? (
    <Running since={start} />
  ) : (
    <span title={`${formatUtc(start)} to ${formatUtc(end)}`} className="whitespace-nowrap">
      {formatDuration(end.getTime() - start.getTime())}
    </span>
  );
}

function Running({ since }: { readonly since: Date }) {
  const now = useNow(1000);
  return (
    <span title={`since ${formatUtc(since)}`} className="whitespace-nowrap">
      {formatDuration(now - since.getTime())}
    </span>
  );
}

interface CountdownProps {
  readonly to: string | null | undefined;
  /** The text after the moment has passed. */
  readonly over?: string;
}

export function Countdown({ to, over = 'now' }: CountdownProps) {
  const now = useNow(1000);
  const end = parse(to);
  if (end === undefined) return <Unknown />;
  const leftMs = end.getTime() - now;
  return (
    <time dateTime={end.toISOString()} title={formatUtc(end)} className="whitespace-nowrap">
      {leftMs <= 0 ? over : formatDuration(leftMs < 10_000 ? Math.ceil(leftMs / 1000) * 1000 : leftMs)}
    </time>
  );
}

function parse(at: string | null | undefined): Date | undefined {
  if (at === null || at === undefined || at === '') return undefined;
  const moment = new Date(at);
  return Number.isNaN(moment.getTime()) ? undefined : moment;
}
