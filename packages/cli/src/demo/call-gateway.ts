import type { RouteName, RouteOutput, RouteRequest, Routes } from '@reeve/contract/http';
import { CliError } from '../cli-error.ts';
import { sendRoute, successText } from '../http/send-route.ts';

const timeoutMs = 30_000;

/** One call to the demo's own gateway. */
export async function callGateway<Name extends RouteName>(
  http: string,
  name: Name,
  request: RouteRequest<Routes[Name]>,
  credential?: string,
): Promise<RouteOutput<Routes[Name]>> {
  const answer = await sendRoute(http, name, request, { credential, timeoutMs });
  const text = await successText(answer, timeoutMs);
  try {
    return JSON.parse(text) as RouteOutput<Routes[Name]>;
  } catch {
    throw new CliError(`${answer.url} answered ${answer.status} without JSON`);
  }
}
