import { Observable } from '../api/observable.ts';

/** The token of the link in a letter. It is here and nowhere else: no address, no history, no storage. */
export const mailToken = new Observable<string | undefined>(undefined);

/** The token in the fragment of an address such as `/reset#token=…`; undefined where there is none. */
export function tokenIn(fragment: string): string | undefined {
  const token = new URLSearchParams(fragment.replace(/^#/, '')).get('token')?.trim();
  return token === undefined || token === '' ? undefined : token;
}
