import type { DemoLogin } from '../prepare-demo.ts';
import { pause } from '../demo-agent.ts';
import { callGateway } from '../call-gateway.ts';

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
        const grant = await callGateway(http, 'logIn', { body });
        [token, since] = [grant.access_token, performance.now()];
      }
      for (const agentId of agentIds) {
        const { items } = await callGateway(http, 'listApprovals', { query: { agent_id: agentId } }, token);
        for (const { id, requested_at: at } of items) {
          if (Date.now() - Date.parse(at) < patienceMs) continue;
          const [verdict, reason] =
            ++decided % 4 === 0 ? (['reject', 'not today'] as const) : (['approve', 'looks fine'] as const);
          await callGateway(http, verdict, { params: { id }, body: { reason } }, token);
        }
      }
    } catch {
      // Somebody else decided first, or the colleague was locked out: the next round sees.
    }
    await pause(eachSeconds, signal);
  }
}
