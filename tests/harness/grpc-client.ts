import type { ChannelCredentials, ClientDuplexStream, ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import type { BinaryWriter } from '@bufbuild/protobuf/wire';

export interface Codec<Message> {
  encode(message: Message, writer?: BinaryWriter): BinaryWriter;
  decode(bytes: Uint8Array): Message;
}

/** A bare gRPC client on the generated codecs. Any agent in any language could send the same. */
export class GrpcClient {
  readonly #client: Client;

  constructor(address: string, channel: ChannelCredentials = credentials.createInsecure()) {
    this.#client = new Client(address, channel, {
      'grpc.max_send_message_length': -1,
      'grpc.use_local_subchannel_pool': 1,
    });
  }

  call<Request, Response>(
    path: string,
    request: Codec<Request>,
    response: Codec<Response>,
    message: Request,
    options: { authorization?: string | readonly string[]; deadlineMs?: number } = {},
  ): Promise<Response> {
    const metadata = new Metadata();
    for (const value of [options.authorization ?? []].flat()) metadata.add('authorization', value);
    const deadline = Date.now() + (options.deadlineMs ?? 30_000);
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        path,
        (value: Request) => Buffer.from(request.encode(value).finish()),
        (bytes: Buffer) => response.decode(bytes),
        message,
        metadata,
        { deadline },
        (error: ServiceError | null, answer?: Response) => {
          if (error !== null) reject(error);
          else resolve(answer as Response);
        },
      );
    });
  }

  stream<Request, Response>(
    path: string,
    request: Codec<Request>,
    response: Codec<Response>,
  ): ClientDuplexStream<Request, Response> {
    return this.#client.makeBidiStreamRequest(
      path,
      (value: Request) => Buffer.from(request.encode(value).finish()),
      (bytes: Buffer) => response.decode(bytes),
    );
  }

  serverStream<Request, Response>(
    path: string,
    request: Codec<Request>,
    response: Codec<Response>,
    message: Request,
  ): ClientReadableStream<Response> {
    return this.#client.makeServerStreamRequest(
      path,
      (value: Request) => Buffer.from(request.encode(value).finish()),
      (bytes: Buffer) => response.decode(bytes),
      message,
    );
  }

  close(): void {
    this.#client.close();
  }
}
