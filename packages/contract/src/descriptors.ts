import { fromBinary } from '@bufbuild/protobuf';
import { base64Decode } from '@bufbuild/protobuf/wire';
import type { FileDescriptorProto } from '@bufbuild/protobuf/wkt';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { descriptorSetBase64 } from './gen/descriptor-set.ts';

/** The descriptors of every proto file of the gateway, for server reflection. */
export function fileDescriptors(): readonly FileDescriptorProto[] {
  return fromBinary(FileDescriptorSetSchema, base64Decode(descriptorSetBase64)).file;
}
