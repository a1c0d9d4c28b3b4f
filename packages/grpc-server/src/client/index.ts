export type { CallListener, CallStatus } from './call-listener.ts';
export type { ClientLimits } from './client-limits.ts';
export { defaultClientLimits } from './client-limits.ts';
export type { ClientTls } from './dialer.ts';
export type { CallOptions, Cancellable, ClientStream, GrpcClientOptions } from './grpc-client.ts';
export { GrpcClient } from './grpc-client.ts';
export type { Metadata, MetadataEntries } from '../metadata.ts';
export type { Status } from '../status.ts';
export { statusCode } from '../status.ts';
