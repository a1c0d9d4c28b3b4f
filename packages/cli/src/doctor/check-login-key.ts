import { hasLogins, loginKey } from '../mcp/login-key.ts';
import type { Shell } from '../shell.ts';
import type { Finding } from './finding.ts';
import { failed, messageOf, ok } from './finding.ts';

/** Where the key of the logins to MCP servers is. Nothing, where there are none. */
export async function checkLoginKey(shell: Pick<Shell, 'env'>): Promise<readonly Finding[]> {
  if (!hasLogins(shell)) return [];
  try {
    return [ok('mcp logins', `sealed with the key in ${(await loginKey(shell)).place}`)];
  } catch (error) {
    return [failed('mcp logins', messageOf(error), 'Make the file right, or log in again with "reeve mcp login".')];
  }
}
