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
import { grpcCode } from './status.ts';

type Answer = NonNullable<ServerReflectionResponse['messageResponse']>;

/** Server reflection, in both versions that tools use. */
export function reflectionService(health: Health): RpcRoutes {
  let catalogue: Catalogue | undefined;
  const handler: StreamHandler = (stream) => {
    const forget = health.onDrain(() => stream.end());
    return {
      message: (bytes) => {
        catalogue ??= new Catalogue(fileDescriptors());
        const request = decode('ServerReflectionRequest', bytes);
        const response = {
          validHost: request.host,
          originalRequest: request,
          messageResponse: catalogue.answer(request),
        };
        stream.send(encode(ServerReflectionResponse, response));
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
  /** Anybody may ask, and files are long: each answer is made once. */
  readonly #fileAnswers = new Map<FileDescriptorProto, Answer>();

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
  }

  answer(request: ServerReflectionRequest): Answer {
    const asked = request.messageRequest;
    switch (asked?.$case) {
      case 'listServices': {
        const service = this.#services.map((name) => ({ name }));
        return { $case: 'listServicesResponse', value: { service } };
      }
      case 'fileByFilename':
        return this.#fileAnswer(this.#byName.get(asked.value), asked.value);
      case 'fileContainingSymbol':
        return this.#fileAnswer(this.#bySymbol.get(asked.value), asked.value);
      case 'allExtensionNumbersOfType':
        return { $case: 'allExtensionNumbersResponse', value: { baseTypeName: asked.value, extensionNumber: [] } };
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

  #fileAnswer(file: FileDescriptorProto | undefined, asked: string): Answer {
    if (file === undefined) return notFound(`nothing is known of "${asked}"`);
    const answer = this.#fileAnswers.get(file) ?? this.#withImports(file);
    this.#fileAnswers.set(file, answer);
    return answer;
  }

  /** The file and all its imports, so that one request is enough. */
  #withImports(file: FileDescriptorProto): Answer {
    const wanted = new Set([file]);
    for (const each of wanted) {
      for (const name of each.dependency) {
        const imported = this.#byName.get(name);
        if (imported !== undefined) wanted.add(imported);
      }
    }
    const fileDescriptorProto = [...wanted].map((each) => Buffer.from(toBinary(FileDescriptorProtoSchema, each)));
    return { $case: 'fileDescriptorResponse', value: { fileDescriptorProto } };
  }
}

function notFound(errorMessage: string): Answer {
  return { $case: 'errorResponse', value: { errorCode: grpcCode.notFound, errorMessage } };
}
