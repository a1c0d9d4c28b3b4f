import { useQuery } from '@tanstack/react-query';
import { openRoute } from '../../api/call.ts';
import type { Answer } from '../../api/send.ts';
import { readBody } from '../../api/send.ts';

export interface WaysIn {
  /** People can sign in, and not only with API keys. */
  readonly hasAccounts: boolean;
  readonly hasPasswords: boolean;
  readonly hasSignOn: boolean;
  /** What a registration would meet. Undefined if the gateway does not say. */
  readonly registration: 'first' | 'open' | 'closed' | undefined;
}

/** How people sign in here, and whether the first account is still missing. */
export function useWaysIn() {
  return useQuery({
    queryKey: ['ways-in'],
    queryFn: async ({ signal }): Promise<WaysIn> => {
      const response = await openRoute('authMethods', {}, { signal });
      const { methods }: Answer<'authMethods'> = await readBody<'authMethods'>(response);
      const said = response.headers.get('reeve-registration');
      const registration = (['first', 'open', 'closed'] as const).find((state) => state === said);
      const [hasPasswords, hasSignOn] = [methods.includes('password'), methods.includes('oidc')];
      return { hasAccounts: hasPasswords || hasSignOn, hasPasswords, hasSignOn, registration };
    },
  });
}
