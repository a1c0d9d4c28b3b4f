// v1alpha has the same messages under another package name, so one codec serves both.
export { ServerReflectionRequest, ServerReflectionResponse } from './gen/grpc/reflection/v1/reflection.ts';
