import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { doorChoices } from './connect-doors.ts';
import { addressWarning, linesFor, shownCode } from './connect-lines.ts';
import type { DoorId } from './door-ids.ts';
import type { Lines, LinesFor } from './lines.ts';
import { tokenMark } from './lines.ts';

interface DoorLinesProps {
  readonly door: DoorId;
  readonly place: LinesFor;
  /** Undefined until it is made. */
  readonly token: string | undefined;
}

/** The lines of a door, one block after the other. The token is hidden until somebody wants to see it. */
export function DoorLines({ door, place, token }: DoorLinesProps) {
  const [isRevealed, setRevealed] = useState(false);
  const warning = addressWarning(place.grpcAddr, place.hasTls, location.hostname);
  return (
    <div className="space-y-4">
      <div className="flex min-h-8 flex-wrap items-center justify-between gap-2">
        <p>
          Agents reach this gateway at <code className="break-all">{place.grpcAddr}</code>.
        </p>
        {token === undefined ? (
          <p className="text-sm text-muted">AGENT_TOKEN stands for the token until it is made.</p>
        ) : (
          <Button size="small" icon="eye" aria-pressed={isRevealed} onClick={() => setRevealed(!isRevealed)}>
            {isRevealed ? 'Hide the token' : 'Show the token'}
          </Button>
        )}
      </div>
      {warning === undefined ? null : (
        <p className="flex items-start gap-2 rounded-md bg-warn-soft p-3 text-warn">
          <Icon name="alert" className="mt-0.5" />
          <span className="min-w-0">{warning}</span>
        </p>
      )}
      <ol className="space-y-4" aria-label={`Lines for ${doorChoices[door].label}`}>
        {linesFor(door, place).map((lines) => (
          <li key={lines.title}>
            <Block lines={lines} token={token} isRevealed={isRevealed} />
          </li>
        ))}
      </ol>
    </div>
  );
}

interface BlockProps {
  readonly lines: Lines;
  readonly token: string | undefined;
  readonly isRevealed: boolean;
}

function Block({ lines: { title, code, note }, token, isRevealed }: BlockProps) {
  const whole = token === undefined ? shownCode(code, undefined, false) : code.replaceAll(tokenMark, () => token);
  return (
    <div className="space-y-1.5">
      <p className="font-medium">{title}</p>
      <div className="flex min-w-0 items-start gap-1 rounded-md border bg-sunken py-1 pr-1 pl-3">
        <pre className="min-w-0 flex-1 py-1.5 text-sm wrap-anywhere whitespace-pre-wrap">
          {shownCode(code, token, isRevealed)}
        </pre>
        <CopyButton text={whole} label={`Copy: ${title}`} />
      </div>
      {note === undefined ? null : <p className="text-sm text-muted">{note}</p>}
    </div>
  );
}
