import type { CallOptions, CallStatus, GrpcClientOptions } from '../client/index.ts';
import { GrpcClient } from '../client/index.ts';
import { afterwards } from './test-server.ts';

export interface Outcome {
  readonly code: number;
  readonly message: string;
  readonly answer: Buffer | undefined;
  readonly status: CallStatus;
}

export interface TestClient {
  readonly client: GrpcClient;
  call(path: string, message?: Uint8Array, options?: CallOptions): Promise<Outcome>;
}

/** A client whose calls are promises. */
export function testClient(options: GrpcClientOptions): TestClient {
  const client = new GrpcClient(options);
  afterwards(() => client.close());
  return {
    client,
    call: (path, message = Buffer.from('hello'), callOptions = {}) =>
      new Promise((resolve) => {
        client.unary(path, message, callOptions, (status, answer) =>
          resolve({ code: status.code, message: status.message, answer, status }),
        );
      }),
  };
}
