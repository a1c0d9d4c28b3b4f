import type { Answer } from '../../api/send.ts';

/** A new agent and its token. The token is nowhere but in the memory of the page, until the page is left. */
export type MadeAgent = Answer<'registerAgent'>;
