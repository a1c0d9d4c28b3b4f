import type { RawSearch } from '../../shell/search.ts';
import { oneOf, text } from '../../shell/search.ts';
import type { DoorId } from './door-ids.ts';
import { doorIds } from './door-ids.ts';

/** The page state in the URL. The token is never part of it. */
export interface ConnectSearch {
  readonly door?: DoorId | undefined;
  /** The agent by its path, as other pages link to it. */
  readonly agent?: string | undefined;
}

export function parseConnectSearch(raw: RawSearch): ConnectSearch {
  return { door: oneOf(doorIds, raw['door']), agent: text(raw['agent']) };
}
