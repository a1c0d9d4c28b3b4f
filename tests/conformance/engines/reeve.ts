import { existsSync } from 'node:fs';
import type { Engine, EngineOptions } from '../engine.ts';

const source = new URL('../../../packages/grpc-server/src/index.ts', import.meta.url);

export function reeveEngineExists(): boolean {
  return existsSync(source);
}

/** Reeve's own engine. */
export async function reeveEngine(options: EngineOptions): Promise<Engine> {
  const { GrpcServer } = (await import(source.href)) as { GrpcServer: new (options: EngineOptions) => Engine };
  return new GrpcServer(options);
}
