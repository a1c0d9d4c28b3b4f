import { HealthCheckResponse, HealthCheckResponse_ServingStatus as Status, paths } from '@reeve/contract';
import type { Health } from '../../telemetry/health.ts';
import { decode } from './decode.ts';
import { encode } from './message-writer.ts';
import type { RpcRoutes } from './rpc.ts';
import { statusCode } from '@reeve/grpc-server';
import { RpcError } from './status.ts';

const services = new Set(['', 'reeve.v1.PolicyService', 'reeve.v1.AgentService']);

/** The standard health service: serving unless a part fails or the gateway shuts down. */
export function healthService(health: Health): RpcRoutes {
  const answer = (service: string) => {
    const known = health.serving ? Status.SERVING : Status.NOT_SERVING;
    return encode(HealthCheckResponse, { status: services.has(service) ? known : Status.SERVICE_UNKNOWN });
  };
  return {
    unary: new Map([
      [
        paths.healthCheck,
        (bytes) => {
          const { service } = decode('HealthCheckRequest', bytes);
          if (!services.has(service)) throw new RpcError(statusCode.notFound, `unknown service "${service}"`);
          return answer(service);
        },
      ],
    ]),
    stream: new Map([
      [
        paths.healthWatch,
        (stream) => {
          let unwatch = () => {};
          const forget = health.onDrain(() => stream.end());
          return {
            message: (bytes) => {
              const { service } = decode('HealthCheckRequest', bytes);
              unwatch();
              unwatch = health.watch(() => stream.send(answer(service)));
              stream.send(answer(service));
            },
            ended: () => {},
            closed: () => {
              unwatch();
              forget();
            },
          };
        },
      ],
    ]),
  };
}
