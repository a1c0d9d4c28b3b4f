import { readFileSync } from 'node:fs';
import { Client, credentials } from '@grpc/grpc-js';
import type { InteropClient } from '../interop-cases.ts';
import { caseWithinMs, interopCases } from '../interop-cases.ts';
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
    for (const name of interopCases) tell(name, await failureOf(() => grpcJsCases[name](client)));
    client.close();
  },
};

async function failureOf(run: () => Promise<void>): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no result within ${caseWithinMs / 1000} s`)), caseWithinMs);
  });
  try {
    await Promise.race([run(), late]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.split('\n')[0] : String(error);
  } finally {
    clearTimeout(timer);
  }
}
