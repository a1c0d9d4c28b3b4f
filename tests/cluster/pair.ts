import { allowAll, TestGateway } from '../harness/gateway.ts';
import type { GatewayOptions } from '../harness/gateway.ts';
import { sharedNats } from '../harness/nats.ts';
import type { TestDatabase } from '../harness/postgres.ts';
import { createDatabase } from '../harness/postgres.ts';

/** Two gateways that act as one, on a database of their own. */
export interface Pair extends AsyncDisposable {
  readonly database: TestDatabase;
  readonly one: TestGateway;
  readonly two: TestGateway;
  /** For another gateway beside them. */
  readonly options: GatewayOptions;
}

export async function startPair(
  env: Readonly<Record<string, string>> = {},
  policies: GatewayOptions['policies'] = { 'all.yaml': allowAll },
): Promise<Pair> {
  const database = await createDatabase();
  const nats = await sharedNats();
  const options: GatewayOptions = {
    database,
    policies,
    env: { SVC_NATS_URL: nats.url(), SVC_TAKEOVER_SECS: '3', ...env },
  };
  await using started = new AsyncDisposableStack();
  const one = started.use(await TestGateway.start(options));
  const two = started.use(await TestGateway.start(options));
  const stack = started.move();
  return { database, one, two, options, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
