export type { GrpcServerOptions } from './grpc-server.ts';
export { GrpcServer } from './grpc-server.ts';
export type {
  Call,
  FindCredential,
  ServerStream,
  StreamHandler,
  StreamListener,
  UnaryCall,
  UnaryHandler,
} from './handlers.ts';
export type { Limits } from './limits.ts';
export { defaultLimits } from './limits.ts';
export type { Rooms } from './limits/rooms.ts';
export { roomsOf } from './limits/rooms.ts';
export type { RoomShare } from './limits/shared-room.ts';
export { SharedRoom } from './limits/shared-room.ts';
export type { Metadata, MetadataEntries } from './metadata.ts';
export type { Status } from './status.ts';
export { statusCode } from './status.ts';
