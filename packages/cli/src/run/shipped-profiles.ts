import type { Profile } from './profile.ts';

/** Profiles by name. Paths are relative to the working folder. */
export const shippedProfiles: Readonly<Record<string, Profile>> = {
  /** A coding agent at work: the project may be written, and what editors tell programs is passed on. */
  coding: {
    write: [],
    read: [],
    hide: [],
    env: ['EDITOR', 'VISUAL', 'PAGER', 'NO_COLOR', 'FORCE_COLOR', 'CI'],
    grace: 10,
  },
  /** Nothing of the project may be written. */
  readonly: { write: [], read: ['.'], hide: [], env: [] },
};
