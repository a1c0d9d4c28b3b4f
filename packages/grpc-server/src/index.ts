export type { GrpcServerOptions } from './grpc-server.ts';
export { GrpcServer } from './grpc-server.ts';
export type { Call, ServerStream, StreamHandler, StreamListener, UnaryCall, UnaryHandler } from './handlers.ts';
export type { Limits } from './limits.ts';
export { defaultLimits } from './limits.ts';
export type { Claim, ConnectionRoom } from './limits/message-room.ts';
export { MessageRoom } from './limits/message-room.ts';
export type { Metadata, MetadataEntries } from './metadata.ts';
export type { Status } from './status.ts';
