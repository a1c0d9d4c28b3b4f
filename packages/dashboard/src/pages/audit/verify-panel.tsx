import type { Verdict } from '@reeve/contract/audit';
import { formatCount, plural } from '../../api/format.ts';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Time } from '../../ui/time.tsx';
import type { Tone } from '../../ui/tone.ts';
import { softTone } from '../../ui/tone.ts';
import type { Verification } from './use-verification.ts';
import { canVerify } from './web-crypto.ts';

/** Starts the verification, or stops it. */
export function VerifyButton({ work, start, stop }: Verification) {
  if (!canVerify()) return null;
  if (work.state === 'running') return <Button onClick={stop}>Stop</Button>;
  return (
    <Button icon="check" title="Reads every entry and works out every hash here, in this browser." onClick={start}>
      {work.state === 'idle' ? 'Verify the chain' : 'Verify again'}
    </Button>
  );
}

/** The progress of the verification, and its result. */
export function VerifyPanel({ work }: Pick<Verification, 'work'>) {
  if (!canVerify()) {
    return (
      <p className="text-muted">
        This browser verifies hashes on https and localhost only. In a terminal: <code>reeve audit verify</code>
      </p>
    );
  }
  if (work.state === 'running') {
    return (
      <p role="status" className={strip('neutral')}>
        {plural(work.progress.entries, 'entry', 'entries')} verified so far…
      </p>
    );
  }
  if (work.state === 'done') return <Found verdict={work.verdict} at={work.at} />;
  return work.state === 'idle' ? null : <ErrorNotice error={work.error} title="The log could not be verified" />;
}

function strip(tone: Tone): string {
  return classes('flex min-w-0 items-start gap-1.5 rounded-md px-3 py-2', softTone[tone]);
}

function Found({ verdict, at }: { readonly verdict: Verdict; readonly at: string }) {
  const tone = ({ unbroken: 'ok', broken: 'danger', not_checkable: 'warn' } as const)[verdict.result];
  return (
    <p role={verdict.result === 'broken' ? 'alert' : 'status'} className={strip(tone)}>
      <Icon name={verdict.result === 'unbroken' ? 'check' : 'alert'} className="mt-0.5" />
      <span className="min-w-0 break-words">
        {wordsOf(verdict)}{' '}
        <span className="whitespace-nowrap">
          (<Time at={at} form="clock" />)
        </span>
      </span>
    </p>
  );
}

function wordsOf({ result, entries, first_seq: first, last_seq: last, cut_at: cut, broken_seq: seq, why }: Verdict) {
  if (result === 'broken') return seq === null ? `Broken: ${why}.` : `Entry ${formatCount(seq)} is broken: ${why}.`;
  const count = plural(entries, 'entry', 'entries');
  if (result === 'not_checkable') {
    return `${count}, ${first} to ${last}: each one’s own hash fits. This is a part of the log, so the chain between them cannot be checked.`;
  }
  return `${count}, unbroken${cut === null ? '' : `, after a signed cut at ${formatCount(cut)}`}.`;
}
