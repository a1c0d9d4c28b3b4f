import { readFileSync } from 'node:fs';
import { Client, credentials } from '@grpc/grpc-js';
import type { InteropClient } from '../interop-cases.ts';
import { interopCases } from '../interop-cases.ts';
import { failureOfCase } from './failure-of-case.ts';
import { grpcJsCases } from './grpc-js-cases.ts';

interface Manifest {
  readonly version: string;
}

/** `@grpc/grpc-js`, whose client shares no code with Reeve's engine. */
export const grpcJsClient: InteropClient = {
  name: 'grpc-js',
  prepare: () => {
    const manifest = readFileSync('node_modules/@grpc/grpc-js/package.json', 'utf8');
    return Promise.resolve({ path: '', version: (JSON.parse(manifest) as Manifest).version });
  },
  run: async (_, { port, certificate }, tell) => {
    const trust =
      certificate === undefined ? credentials.createInsecure() : credentials.createSsl(readFileSync(certificate));
    const client = new Client(`${certificate === undefined ? '127.0.0.1' : 'localhost'}:${port}`, trust);
    for (const name of interopCases) tell(name, await failureOfCase(() => grpcJsCases[name](client)));
    client.close();
  },
};
