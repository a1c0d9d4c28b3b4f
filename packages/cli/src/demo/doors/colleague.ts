import type { DemoLogin } from '../prepare-demo.ts';
import { pause } from '../demo-agent.ts';
import { exchangeJson } from '../exchange-json.ts';

interface OpenApproval {
  readonly id: string;
  readonly requested_at: string;
}

/** Whoever looks at the demo has this long to decide first. */
const patienceMs = 12_000;
const eachSeconds = 3;
/** A session of the gateway lasts longer. */
const sessionMs = 300_000;

/** Decides in a colleague's name what agents wait for: most of it yes, some of it no. */
export async function decideApprovals(
  http: string,
  login: DemoLogin,
  agentIds: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  let [token, since, decided] = ['', -sessionMs, 0];
  while (!signal.aborted) {
    try {
      if (performance.now() - since > sessionMs) {
        const body = { email: login.email, password: login.password };
        const grant = await exchangeJson<{ access_token: string }>(http, 'POST', '/api/v1/auth/login', undefined, body);
        [token, since] = [grant.access_token, performance.now()];
      }
      for (const agentId of agentIds) {
        const path = `/api/v1/approvals?agent_id=${agentId}`;
        const { items } = await exchangeJson<{ items: OpenApproval[] }>(http, 'GET', path, token, undefined);
        for (const { id, requested_at: at } of items) {
          if (Date.now() - Date.parse(at) < patienceMs) continue;
          const [verdict, reason] = ++decided % 4 === 0 ? ['reject', 'not today'] : ['approve', 'looks fine'];
          await exchangeJson(http, 'POST', `/api/v1/approvals/${id}/${verdict}`, token, { reason });
        }
      }
    } catch {
      // Somebody else decided first, or the colleague was locked out: the next round sees.
    }
    await pause(eachSeconds, signal);
  }
}
