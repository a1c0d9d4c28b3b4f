import type { Oddity } from './oddities.ts';

/** Where the engines may differ: what a client sees of each, and the rule that Reeve's own engine keeps. */
export interface Difference {
  readonly reeve: RegExp;
  readonly grpcJs: RegExp;
  readonly why: string;
}

const served = /^grpc-status 0 after \[\d+\], then grpc-status 0 /;
const malformed = /^reset 1, then grpc-status 0 /;
const internal = /^grpc-status 13 after \[\], then grpc-status 0 /;

export const knownDifferences: Partial<Record<Oddity, Difference>> = {
  GET: {
    reeve: /^status 405, then grpc-status 0 /,
    grpcJs: served,
    why: 'gRPC over HTTP/2 knows one method: ":method POST". grpc-js does not look at it.',
  },
  'NUL in a value': {
    reeve: malformed,
    grpcJs: served,
    why: 'RFC 9113 §8.2.1 forbids it in values. The HTTP/2 library of Node takes the request.',
  },
  'white space around a value': {
    reeve: malformed,
    grpcJs: served,
    why: 'RFC 9113 §8.2.1 forbids it at either end of a value. The HTTP/2 library of Node takes the request.',
  },
  'a timeout of nine digits': {
    reeve: internal,
    grpcJs: served,
    why: 'gRPC over HTTP/2 allows eight digits. grpc-js takes any number of them.',
  },
  'a wrong content-length': {
    reeve: malformed,
    grpcJs: /^GOAWAY 2, then GOAWAY 2$/,
    why: 'RFC 9113 §8.1.1 makes it an error of the stream. The HTTP/2 library of Node ends the connection.',
  },
  'a message that is cut off': {
    reeve: internal,
    grpcJs: /^grpc-status (12|0) after \[\], then grpc-status 0 /,
    why: 'The end of the request is not the end of a message. grpc-js drops what has come of it without a word.',
  },
  'a prefix that is cut off': {
    reeve: internal,
    grpcJs: /^grpc-status (12|0) after \[\], then grpc-status 0 /,
    why: 'As for a message that is cut off.',
  },
  'a compressed message': {
    reeve: /^grpc-status 12 after \[\], then grpc-status 0 /,
    grpcJs: served,
    why: 'The compression of gRPC has UNIMPLEMENTED for an encoding that a server does not take.',
  },
  'a compressed message without an encoding': {
    reeve: internal,
    grpcJs: served,
    why: 'The compression of gRPC has INTERNAL for it. grpc-js reads the message as if it were not compressed.',
  },
};
