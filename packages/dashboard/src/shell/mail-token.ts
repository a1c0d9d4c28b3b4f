import { Observable } from '../api/observable.ts';

/** The token of an email link. It lives only here: not in the URL, the history or any storage. */
export const mailToken = new Observable<string | undefined>(undefined);

/** The token in a fragment such as `/reset#token=…`. Undefined if there is none. */
export function tokenIn(fragment: string): string | undefined {
  const token = new URLSearchParams(fragment.replace(/^#/, '')).get('token')?.trim();
  return token === undefined || token === '' ? undefined : token;
}
