import { openApiDocument } from '@reeve/contract/http';
import type { RegistrationState, SignIn, KnownSigningKeys } from '@reeve/core';
import type { Health } from '../../../telemetry/health.ts';
import { docsPage } from '../docs-page.ts';
import type { Handlers } from '../handler.ts';
import { HeadedAnswer, RawAnswer } from '../handler.ts';
import { HttpError } from '../problem.ts';

export interface ServicePorts {
  readonly health: Health;
  readonly signingKeys: KnownSigningKeys;
  readonly metrics: () => Promise<string>;
  readonly version: string;
  /** Where agents reach the gateway, given the host that a caller used. */
  readonly grpcAddress: (host: string | undefined) => string;
  readonly hasTls: boolean;
  /** Whether there is an account store. */
  readonly hasAccounts: boolean;
  /** The ways of people to log in, if there are accounts. */
  readonly signIns: readonly SignIn[];
  /** Whether a registration would succeed, if there are accounts. */
  readonly registration: () => Promise<RegistrationState>;
}

type ServiceRoutes = 'healthz' | 'readyz' | 'metrics' | 'connection' | 'openapi' | 'docs' | 'jwks' | 'authMethods';

export function serviceHandlers(ports: ServicePorts): Pick<Handlers, ServiceRoutes> {
  const { health, version } = ports;
  // Made on first request, because they take a good part of the start time.
  const openapi = once(() => JSON.stringify(openApiDocument(version)));
  const page = once(() => docsPage(version));
  return {
    healthz: () => ({ status: 'ok' }),
    readyz: () => {
      const parts = Object.fromEntries(health.parts);
      if (health.serving) return { status: health.status, draining: health.draining, version, parts };
      const code = health.draining ? 'shutting_down' : 'store_unavailable';
      throw new HttpError(code, 'the gateway is not ready to answer calls', { draining: health.draining, parts });
    },
    metrics: async () => new RawAnswer('text/plain; version=0.0.4; charset=utf-8', await ports.metrics()),
    connection: (_input, { host }) => ({ grpc_addr: ports.grpcAddress(host), tls: ports.hasTls }),
    openapi: () => new RawAnswer('application/json; charset=utf-8', openapi()),
    docs: () => new RawAnswer('text/html; charset=utf-8', page()),
    jwks: () => ({ keys: ports.signingKeys.all().map((key) => JSON.parse(key.publicJwk) as Record<string, unknown>) }),
    authMethods: async () => {
      if (!ports.hasAccounts) return { methods: ['api_key' as const] };
      const state = await ports.registration().catch(() => undefined);
      const methods = { methods: ['api_key' as const, ...ports.signIns] };
      return new HeadedAnswer(methods, state === undefined ? {} : { 'reeve-registration': state });
    },
  };
}

/** As bytes, which are sent without copying them. */
function once(make: () => string): () => Buffer {
  let made: Buffer | undefined;
  return () => (made ??= Buffer.from(make()));
}
