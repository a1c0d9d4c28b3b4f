import type { Answer } from '../../api/send.ts';
import { Copyable } from '../../ui/copy-button.tsx';
import { ShownOnce } from './shown-once.tsx';

export type MadeKey = Answer<'createApiKey'>;

interface MadeKeyDialogProps {
  readonly made: MadeKey;
  readonly onClose: () => void;
}

export function MadeKeyDialog({ made: { key, label }, onClose }: MadeKeyDialogProps) {
  return (
    <ShownOnce title={`The key “${label}”`} copyLabel="Copy the key" secret={key} onClose={onClose}>
      <p>Keep it where secrets are kept, never in a repository. Whoever has it may do all that it may.</p>
      <p className="text-muted">To use it on the command line, give it to this when it asks:</p>
      <Copyable text={`reeve login --api-url ${location.origin}`} label="Copy the command" />
    </ShownOnce>
  );
}
