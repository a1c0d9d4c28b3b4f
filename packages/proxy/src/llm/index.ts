export type { Upstream } from './model-config.ts';
export { ModelConfigError, modelConfigOf } from './model-config.ts';
export type { ModelProxy, ServeModelsOptions } from './serve-models.ts';
export { serveModels } from './serve-models.ts';
