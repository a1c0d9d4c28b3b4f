import { toBinary } from '@bufbuild/protobuf';
import type { DescriptorProto, FileDescriptorProto } from '@bufbuild/protobuf/wkt';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { paths } from '@reeve/contract';
import { fileDescriptors } from '@reeve/contract/descriptors';
import type { ServerReflectionRequest } from '@reeve/contract/reflection';
import { ServerReflectionResponse } from '@reeve/contract/reflection';
import type { Health } from '../../telemetry/health.ts';
import { decode } from './decode.ts';
import { encode } from './message-writer.ts';
import type { RpcRoutes, StreamHandler } from './rpc.ts';
import { statusCode } from '@reeve/grpc-server';
import { RpcError } from './status.ts';

type Answer = NonNullable<ServerReflectionResponse['messageResponse']>;

/** Names of files, types and hosts are short. The answer repeats what was asked. */
const longestRequest = 4096;

/** Server reflection, in both versions that tools use. */
export function reflectionService(health: Health): RpcRoutes {
  let catalogue: Catalogue | undefined;
  const handler: StreamHandler = (stream) => {
    const forget = health.onDrain(() => stream.end());
    return {
      message: (bytes) => {
        if (bytes.length > longestRequest) {
          throw new RpcError(statusCode.invalidArgument, `a request must have at most ${longestRequest} bytes`);
        }
        catalogue ??= new Catalogue(fileDescriptors());
        const request = decode('ServerReflectionRequest', bytes);
        const echo = { validHost: request.host, originalRequest: request, messageResponse: undefined };
        stream.send(encode(ServerReflectionResponse, echo), catalogue.answer(request));
      },
      ended: () => stream.end(),
      closed: () => forget(),
    };
  };
  return {
    unary: new Map(),
    stream: new Map([
      [paths.reflectionV1, handler],
      [paths.reflectionV1Alpha, handler],
    ]),
  };
}

class Catalogue {
  readonly #byName: ReadonlyMap<string, FileDescriptorProto>;
  readonly #bySymbol = new Map<string, FileDescriptorProto>();
  readonly #services: string[] = [];
  /** Anybody may ask, and files are long: each answer is made once, and sent without copying it. */
  readonly #fileAnswers = new Map<FileDescriptorProto, Uint8Array>();
  readonly #servicesAnswer: Uint8Array;

  constructor(files: readonly FileDescriptorProto[]) {
    this.#byName = new Map(files.map((file) => [file.name, file]));
    for (const file of files) {
      for (const service of file.service) {
        const name = `${file.package}.${service.name}`;
        this.#services.push(name);
        this.#bySymbol.set(name, file);
        for (const method of service.method) this.#bySymbol.set(`${name}.${method.name}`, file);
      }
      for (const type of file.enumType) this.#bySymbol.set(`${file.package}.${type.name}`, file);
      for (const message of file.messageType) this.#addMessage(file, file.package, message);
    }
    const service = this.#services.map((name) => ({ name }));
    this.#servicesAnswer = bytesOf({ $case: 'listServicesResponse', value: { service } });
  }

  /** The answer to what was asked, as the last part of the message. */
  answer(request: ServerReflectionRequest): Uint8Array {
    const asked = request.messageRequest;
    switch (asked?.$case) {
      case 'listServices':
        return this.#servicesAnswer;
      case 'fileByFilename':
        return this.#fileAnswer(this.#byName.get(asked.value), asked.value);
      case 'fileContainingSymbol':
        return this.#fileAnswer(this.#bySymbol.get(asked.value), asked.value);
      case 'allExtensionNumbersOfType':
        return bytesOf({
          $case: 'allExtensionNumbersResponse',
          value: { baseTypeName: asked.value, extensionNumber: [] },
        });
      case 'fileContainingExtension':
      case undefined:
        return notFound('there are no extensions here');
    }
  }

  #addMessage(file: FileDescriptorProto, prefix: string, message: DescriptorProto): void {
    const name = `${prefix}.${message.name}`;
    this.#bySymbol.set(name, file);
    for (const type of message.enumType) this.#bySymbol.set(`${name}.${type.name}`, file);
    for (const nested of message.nestedType) this.#addMessage(file, name, nested);
  }

  #fileAnswer(file: FileDescriptorProto | undefined, asked: string): Uint8Array {
    if (file === undefined) return notFound(`nothing is known of "${asked}"`);
    const answer = this.#fileAnswers.get(file) ?? this.#withImports(file);
    this.#fileAnswers.set(file, answer);
    return answer;
  }

  /** The file and all its imports, so that one request is enough. */
  #withImports(file: FileDescriptorProto): Uint8Array {
    const wanted = new Set([file]);
    for (const each of wanted) {
      for (const name of each.dependency) {
        const imported = this.#byName.get(name);
        if (imported !== undefined) wanted.add(imported);
      }
    }
    const fileDescriptorProto = [...wanted].map((each) => Buffer.from(toBinary(FileDescriptorProtoSchema, each)));
    return bytesOf({ $case: 'fileDescriptorResponse', value: { fileDescriptorProto } });
  }
}

function notFound(errorMessage: string): Uint8Array {
  return bytesOf({ $case: 'errorResponse', value: { errorCode: statusCode.notFound, errorMessage } });
}

function bytesOf(answer: Answer): Uint8Array {
  const alone = { validHost: '', originalRequest: undefined, messageResponse: answer };
  return ServerReflectionResponse.encode(alone).finish();
}
