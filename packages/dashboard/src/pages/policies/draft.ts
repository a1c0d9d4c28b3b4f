import { useState } from 'react';
import type { PolicyText } from './policy-list.ts';
import { newDocument } from './policy-list.ts';

/** A text that is being written, and the stored version that it began with. */
export interface Draft {
  readonly source: string;
  /** Undefined for a document that is not stored yet. */
  readonly base: PolicyText | undefined;
}

export function firstDraft(base: PolicyText | undefined): Draft {
  return { source: base?.source ?? newDocument, base };
}

/** The draft once the gateway tells of a version. What somebody has written stays, whatever is stored elsewhere. */
export function afterVersion(draft: Draft, stored: PolicyText | undefined): Draft {
  const { source, base } = draft;
  if (stored === undefined || isSame(stored, base)) return draft;
  if (source === stored.source) return { source, base: stored };
  return source === base?.source ? firstDraft(stored) : draft;
}

/** The text of a file changes without a version. */
function isSame(a: PolicyText, b: PolicyText | undefined): boolean {
  return a.version === b?.version && a.source === b.source;
}

/** The draft, and the version that somebody else has stored since it was begun, if any. */
export function useDraft(stored: PolicyText | undefined) {
  const [kept, setDraft] = useState(() => firstDraft(stored));
  const draft = afterVersion(kept, stored);
  const newer = stored !== undefined && !isSame(stored, draft.base) ? stored : undefined;
  return {
    draft,
    newer,
    edit: (source: string) => setDraft({ ...draft, source }),
    /** Drops what was written. */
    takeStored: () => setDraft(firstDraft(stored)),
    /** The next save replaces what is stored, knowingly. */
    goOnFromStored: () => setDraft({ ...draft, base: stored }),
  };
}
