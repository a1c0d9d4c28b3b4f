import { GrpcServer } from '@reeve/grpc-server';
import type { Engine, EngineOptions } from '../engine.ts';

/** Reeve's own engine, which has the face of an engine by itself. */
export function reeveEngine(options: EngineOptions): Engine {
  return new GrpcServer(options);
}
