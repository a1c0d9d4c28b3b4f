import type {
  ServerDuplexStream,
  ServerUnaryCall,
  ServerWritableStream,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { Metadata, Server, ServerCredentials } from '@grpc/grpc-js';
import type {
  AckOpControlRequest as AckRequest,
  AckOpControlResponse as AckResponse,
  BatchCheckRequest as BatchRequest,
  BatchCheckResponse as BatchResponse,
  CheckActionRequest as CheckRequest,
  CheckActionResponse as CheckResponse,
  CheckResultRequest as ResultRequest,
  CheckResultResponse as ResultResponse,
  CompleteActionRequest as CompleteRequest,
  CompleteActionResponse as CompleteResponse,
  DeregisterAgentRequest as DeregisterRequest,
  DeregisterAgentResponse as DeregisterResponse,
  HeartbeatRequest as BeatRequest,
  HeartbeatResponse as BeatResponse,
  OpControlMessage as ControlMessage,
  OpControlSubscribeRequest as SubscribeRequest,
  RegisterAgentRequest as RegisterRequest,
  RegisterAgentResponse as RegisterResponse,
} from '@reeve/contract';
import {
  AckOpControlRequest,
  AckOpControlResponse,
  BatchCheckRequest,
  BatchCheckResponse,
  CheckActionRequest,
  CheckActionResponse,
  CheckResultRequest,
  CheckResultResponse,
  CompleteActionRequest,
  CompleteActionResponse,
  DeregisterAgentRequest,
  DeregisterAgentResponse,
  HeartbeatRequest,
  HeartbeatResponse,
  OpControlMessage,
  OpControlMessage_Signal as Signal,
  OpControlSubscribeRequest,
  paths,
  RegisterAgentRequest,
  RegisterAgentResponse,
} from '@reeve/contract';
import { CuttableProxy } from './cuttable-proxy.ts';
import type { Failure, Play } from './scripted-answers.ts';
import { allowing, isFailure, passing, registering, unavailable } from './scripted-answers.ts';

/** What the gateway does, by method. `nth` counts the calls of that method from 1. The default allows everything. */
export interface Script {
  checkAction?: Play<CheckRequest, CheckResponse>;
  batchCheck?: Play<BatchRequest, BatchResponse>;
  /** Plays once per message. */
  checkStream?: Play<CheckRequest, CheckResponse>;
  checkResult?: Play<ResultRequest, ResultResponse>;
  completeAction?: Play<CompleteRequest, CompleteResponse>;
  registerAgent?: Play<RegisterRequest, RegisterResponse>;
  heartbeat?: Play<BeatRequest, BeatResponse>;
  deregisterAgent?: Play<DeregisterRequest, DeregisterResponse>;
  /** `{}` opens the stream. */
  opControlStream?: Play<SubscribeRequest, object>;
  ackOpControl?: Play<AckRequest, AckResponse>;
}

export type Method = keyof Script;

export interface Received {
  readonly method: Method;
  readonly message: unknown;
  readonly authorization: readonly unknown[];
}

interface Codec<Message> {
  encode(message: Message): { finish(): Uint8Array };
  decode(bytes: Uint8Array): Message;
}

type ControlStream = ServerWritableStream<SubscribeRequest, ControlMessage>;

/** A gateway that follows the script of a test, over real gRPC on a real port. */
export class ScriptedGateway {
  readonly received: Received[] = [];
  script: Script;
  /** The open control streams. */
  readonly streams = new Set<ControlStream>();
  #controls: ControlMessage[] = [];
  #sequence = 0;
  readonly #server = new Server({ 'grpc.max_receive_message_length': 17 * 1024 * 1024 });
  #proxy: CuttableProxy | undefined;
  #serverPort = 0;

  private constructor(script: Script) {
    this.script = script;
  }

  static async start(script: Script = {}): Promise<ScriptedGateway> {
    const gateway = new ScriptedGateway(script);
    gateway.#addUnary('checkAction', CheckActionRequest, CheckActionResponse, allowing);
    gateway.#addUnary('batchCheck', BatchCheckRequest, BatchCheckResponse, ({ requests }) => ({
      responses: requests.map(allowing),
    }));
    gateway.#addStream('checkStream', CheckActionRequest, CheckActionResponse, allowing);
    gateway.#addUnary('checkResult', CheckResultRequest, CheckResultResponse, passing);
    gateway.#addUnary('completeAction', CompleteActionRequest, CompleteActionResponse, () => ({ op: undefined }));
    gateway.#addUnary('registerAgent', RegisterAgentRequest, RegisterAgentResponse, registering());
    gateway.#addUnary('heartbeat', HeartbeatRequest, HeartbeatResponse, () => ({
      suspended: false,
      policyVersion: 'v1',
    }));
    gateway.#addUnary('deregisterAgent', DeregisterAgentRequest, DeregisterAgentResponse, () => ({}));
    gateway.#addControl();
    gateway.#addUnary('ackOpControl', AckOpControlRequest, AckOpControlResponse, () => ({}));
    gateway.#serverPort = await new Promise((resolve, reject) => {
      gateway.#server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
        error === null ? resolve(port) : reject(error),
      );
    });
    gateway.#proxy = await CuttableProxy.start(gateway.#serverPort);
    return gateway;
  }

  get port(): number {
    return this.#proxy?.port ?? 0;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  count(method: Method): number {
    return this.received.filter((call) => call.method === method).length;
  }

  messages<Message = CheckRequest>(method: Method): Message[] {
    return this.received.filter((call) => call.method === method).map((call) => call.message as Message);
  }

  /** Sends a control to every open stream of the agent (`bot`, or the trace id), and keeps it for later streams. */
  control(opId: string, signal: keyof typeof Signal, extra: Partial<ControlMessage> = {}): ControlMessage {
    const sequence = ++this.#sequence;
    const issuedAt = '2026-01-01T00:00:00.000Z';
    const message = { opId, signal: Signal[signal], sequence, reason: '', issuedAt, controlId: `ctl_${sequence}` };
    return this.deliver({ ...message, ...extra });
  }

  deliver(message: ControlMessage): ControlMessage {
    this.#controls.push(message);
    for (const stream of this.streams) if (isFor(stream, message)) stream.write(message);
    return message;
  }

  /** As a gateway that lost its store. */
  forgetControls(): void {
    this.#controls = [];
  }

  /** The acknowledgements, in order, as `<sequence> <outcome>`. */
  get acks(): string[] {
    return this.messages<AckRequest>('ackOpControl').map(({ sequence, outcome }) => `${sequence} ${outcomes[outcome]}`);
  }

  /** Ends every control stream. */
  endStreams(failure: Failure = unavailable('restarting')): void {
    for (const stream of this.streams) stream.emit('error', failure);
    this.streams.clear();
  }

  /** Stops in an orderly way: takes nothing new, and answers what is in flight. */
  async drain(): Promise<void> {
    this.endStreams(unavailable('the gateway is shutting down'));
    await new Promise((resolve) => this.#server.tryShutdown(resolve));
  }

  get proxy(): CuttableProxy | undefined {
    return this.#proxy;
  }

  /** Goes away as a killed process does. The result returns it. */
  async away(): Promise<() => Promise<void>> {
    const { port } = this;
    await this.#proxy?.close();
    return async () => {
      this.#proxy = await CuttableProxy.start(this.#serverPort, port);
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy?.close().catch(() => {});
    this.#server.forceShutdown();
  }

  async #play<Request, Response extends object>(
    method: Method,
    request: Request,
    authorization: readonly unknown[],
    byDefault: Play<Request, Response>,
  ): Promise<Response | Failure | undefined> {
    this.received.push({ method, message: request, authorization });
    const play = (this.script[method] as Play<Request, Response> | undefined) ?? byDefault;
    const reply = await play(request, this.count(method));
    if (reply === 'cut') this.#proxy?.cut();
    return reply === 'cut' || reply === 'silence' ? undefined : reply;
  }

  #addUnary<Request, Response extends object>(
    method: Method,
    request: Codec<Request>,
    response: Codec<Response>,
    byDefault: Play<Request, Response>,
  ): void {
    const handle = async (
      call: ServerUnaryCall<Request, Response>,
      done: (error: unknown, answer?: Response) => void,
    ) => {
      const reply = await this.#play(method, call.request, call.metadata.get('authorization'), byDefault);
      if (reply === undefined) return;
      if (isFailure(reply)) done(reply);
      else done(null, reply);
    };
    this.#add(method, false, request, response, handle);
  }

  #addStream<Request, Response extends object>(
    method: Method,
    request: Codec<Request>,
    response: Codec<Response>,
    byDefault: Play<Request, Response>,
  ): void {
    const handle = (call: ServerDuplexStream<Request, Response>) => {
      let turn = Promise.resolve();
      call.on('data', (message: Request) => {
        const played = this.#play(method, message, [], byDefault);
        turn = turn.then(async () => {
          const reply = await played;
          if (reply === undefined || call.destroyed || call.writableEnded) return;
          if (isFailure(reply)) call.emit('error', reply);
          else call.write(reply);
        });
      });
      call.on('end', () => void turn.then(() => call.end()));
      call.on('error', () => {});
    };
    this.#add(method, true, request, response, handle);
  }

  #addControl(): void {
    const handle = async (call: ControlStream) => {
      call.on('error', () => {});
      call.on('cancelled', () => this.streams.delete(call));
      const reply = await this.#play<SubscribeRequest, object>('opControlStream', call.request, [], () => ({}));
      if (reply === undefined) return;
      if (isFailure(reply)) return void call.emit('error', reply);
      call.sendMetadata(new Metadata());
      this.streams.add(call);
      const known = new Set(this.messages<AckRequest>('ackOpControl').map(({ sequence }) => sequence));
      for (const message of this.#controls) {
        if (!isFor(call, message) || known.has(message.sequence)) continue;
        if (message.sequence > call.request.afterSequence) call.write(message);
      }
    };
    this.#add('opControlStream', false, OpControlSubscribeRequest, OpControlMessage, handle, true);
  }

  #add<Request, Response>(
    method: Method,
    stream: boolean,
    request: Codec<Request>,
    response: Codec<Response>,
    handle: (...args: never[]) => unknown,
    answersStream = stream,
  ): void {
    const definition = {
      path: paths[method],
      requestStream: stream,
      responseStream: answersStream,
      requestSerialize: (message: Request) => Buffer.from(request.encode(message).finish()),
      requestDeserialize: (bytes: Buffer) => request.decode(bytes),
      responseSerialize: (message: Response) => Buffer.from(response.encode(message).finish()),
      responseDeserialize: (bytes: Buffer) => response.decode(bytes),
    };
    this.#server.addService({ call: definition }, { call: handle } as unknown as UntypedServiceImplementation);
  }
}

/** The trace id of an operation names its agent, except for `bot`. */
function isFor({ request }: ControlStream, { opId }: ControlMessage): boolean {
  const [trace = ''] = opId.split(':');
  const agent = request.agentId?.agentId ?? '';
  return agent === 'bot' || agent === trace;
}

const outcomes = ['unspecified', 'received', 'effective', 'failed'] as const;
