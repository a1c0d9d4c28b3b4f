import { constants } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isatty } from 'node:tty';
import type { Agent, ConnectionEvent, Control, KernelWord, Operation, RunOptions } from '@reeve/sdk';
import { OperationTerminatedError } from '@reeve/sdk';
import type { GrpcGateway } from '../agent-identity/grpc-gateway.ts';
import type { Cgroup } from './cgroup/cgroup.ts';
import { floorExits } from './floor-error.ts';
import type { FilePlan } from './jail/plan-files.ts';
import type { Jail, JailRequest } from './jail/start-jail.ts';
import { startJail } from './jail/start-jail.ts';
import { makeNames, takeNamesAway } from './jail/top-names.ts';
import type { Hold } from './keeper.ts';
import { Keeper } from './keeper.ts';
import { GatewayWatch } from './lost-gateway.ts';
import type { NetworkRequest } from './network/inside-network.ts';
import { InsideNetwork } from './network/inside-network.ts';
import { passSignals } from './pass-signals.ts';
import type { LostGateway } from './profile.ts';

export interface Program {
  readonly jail: Omit<JailRequest, 'onTerminal' | 'line' | 'entry' | 'onListening' | 'onReady'>;
  /** Which files are there. It is asked when the program starts: what appears while people are asked counts, too. */
  readonly plan: () => PlannedLine;
  /** The control group of the run, where this user may have one. */
  readonly cgroup: Cgroup | undefined;
  readonly graceMs: number;
  readonly lostGateway: LostGateway;
  readonly say: (line: string) => void;
}

/** How the gateway is asked, for the program and for its connections. */
export type Asking = Pick<RunOptions, 'runId' | 'onHeld'> & { readonly waitMs: number; readonly gateway: GrpcGateway };

export interface PlannedLine extends Pick<FilePlan, 'top' | 'topFiles'> {
  /** The words of bubblewrap, once these names are there to be mounted on. */
  readonly lineWith: (names: readonly string[]) => readonly string[];
  /** The first program inside. */
  readonly entry: Buffer;
}

const interrupted = 128 + constants.signals.SIGINT;

/** The program under its floor, as an operation that the gateway controls. */
export class FlooredProgram {
  readonly #program: Program;
  readonly #keeper = Promise.withResolvers<Keeper>();
  readonly #watch: GatewayWatch;
  readonly #obeying = new Set<Promise<unknown>>();
  /** The last time that each reason came to hold it. */
  readonly #held = new Map<Hold, symbol>();
  #network: InsideNetwork | undefined;
  #isStopped = false;
  #wasInterrupted = false;

  constructor(program: Program) {
    this.#program = program;
    const { lostGateway, say } = program;
    this.#keeper.promise.catch(() => {});
    this.#watch = new GatewayWatch({
      way: lostGateway,
      onLost: (way) => {
        // The terminal may not take what is said, so it comes after what is done.
        const told = () => say(`the gateway is lost: ${way === 'pause' ? 'paused until it is back' : 'stopped'}`);
        return (way === 'pause' ? this.#with((keeper) => this.#hold(keeper, 'gateway')) : this.#stop()).then(
          told,
          told,
        );
      },
      onBack: () => {
        void this.#with((keeper) => this.#release(keeper, 'gateway')).then(() => say('the gateway is back'));
      },
      onRefused: (reason) => {
        const told = () => say(`nobody can control it any more, so it is stopped: ${reason}`);
        void this.#stop().then(told, told);
      },
    });
  }

  /** Whether the key that interrupts has ended the program. */
  get wasInterrupted(): boolean {
    return this.#wasInterrupted;
  }

  readonly hear = (event: ConnectionEvent): void => {
    // A credential that has lapsed inside while the gateway was away is needed at once.
    if (event.type === 'connected' && event.again) void this.#network?.extend();
    this.#watch.hear(event);
  };

  /** Asks whether it may run, runs it, and reports how it ended. Returns the exit code. */
  async run(agent: Agent, { gateway, ...options }: Asking): Promise<number> {
    using _watch = this.#watch;
    const [command = '', ...args] = this.#program.jail.command;
    const action = { type: 'process_exec', command, args, workingDir: this.#program.jail.folder } as const;
    const network = { ...options, gateway, say: this.#program.say };
    let code: number | undefined;
    const work = async (operation: Operation) => (code = await this.#work(operation, agent, network));
    const onControl = (control: Control) => this.#obeyed(control);
    try {
      return await agent.run(action, work, { ...options, floor: true, onControl });
    } catch (error) {
      // The program has run, whoever can be told.
      if (code === undefined || error instanceof OperationTerminatedError) throw error;
      this.#program.say(`its end could not be reported: ${error instanceof Error ? error.message : String(error)}`);
      return code;
    }
  }

  async #work(operation: Operation, agent: Agent, how: NetworkRequest): Promise<number> {
    const { plan, cgroup, jail: request } = this.#program;
    const onTerminal = [0, 1, 2].some((stream) => isatty(stream));
    let takeAway = () => {};
    try {
      const network = new InsideNetwork(agent, how);
      this.#network = network;
      // The jail is made meanwhile.
      const begun = network.begin();
      begun.catch(() => {});
      const { top, topFiles, lineWith, entry } = plan();
      const names = makeNames(top, topFiles);
      takeAway = () => takeNamesAway(names, topFiles);
      const env = { ...request.env, ...network.environment };
      const onListening: JailRequest['onListening'] = (name, server) => network.serve(name, server);
      const onReady = () => this.#prepared(keeper);
      const jail = await startJail({ ...request, env, line: lineWith(names), entry, onTerminal, onListening, onReady });
      const keeper: Keeper = new Keeper(jail, cgroup);
      takeInto(cgroup, jail);
      this.#keeper.resolve(keeper);
      using signals = passSignals(keeper, onTerminal, () => this.#watch.until(this.#catchUp(agent)));
      await begun.catch((error: unknown) => leave(jail, error));
      jail.begin();
      const ended = await jail.ended;
      await this.#obeyedAll();
      const code = this.#isStopped ? floorExits.terminated : (ended ?? floorExits.denied);
      operation.ended(code === 0 ? 'succeeded' : 'failed');
      operation.note(`exit code ${code}`);
      this.#wasInterrupted = signals.wereInterrupting && code === interrupted;
      return code;
    } catch (error) {
      this.#keeper.reject(error);
      throw error;
    } finally {
      takeAway();
      await this.#network?.close();
    }
  }

  #prepared(keeper: Keeper): boolean {
    try {
      keeper.knowProgram();
      this.#program.cgroup?.limit();
      return true;
    } catch (error) {
      this.#program.say(error instanceof Error ? error.message : String(error));
      return false;
    }
  }

  async #obeyed(control: Control): Promise<KernelWord | undefined> {
    const obeying = this.#obey(control);
    this.#obeying.add(obeying);
    return obeying;
  }

  /** The work does not end before the SDK has heard what the kernel says of the controls that it was told. */
  async #obeyedAll(): Promise<void> {
    await Promise.allSettled(this.#obeying);
    await nextTurn();
  }

  /** No byte passes while no process runs. */
  #hold(keeper: Keeper, why: Hold): Promise<number> {
    this.#held.set(why, Symbol(why));
    this.#network?.hold(why);
    return keeper.hold(why);
  }

  /** What runs again finds that its credential counts. If it was held once more meanwhile, that counts. */
  async #release(keeper: Keeper, why: Hold): Promise<number | undefined> {
    const held = this.#held.get(why);
    await this.#network?.extend();
    if (this.#held.get(why) !== held) return undefined;
    this.#network?.release(why);
    return keeper.release(why);
  }

  /** Carries out a control. What it says to have done, the kernel has confirmed. */
  async #obey({ signal, reason }: Control): Promise<KernelWord | undefined> {
    const { say } = this.#program;
    const keeper = await this.#keeper.promise;
    const because = reason === '' ? '' : `: ${reason}`;
    if (signal === 'pause') {
      const processes = await this.#hold(keeper, 'control');
      say(`paused (${processes} processes)${because}`);
      return { processes };
    }
    if (signal === 'terminate') {
      const processes = await this.#end(keeper);
      say(`terminated${because}`);
      return wordOf(processes);
    }
    const processes = await this.#release(keeper, 'control');
    say(`resumed${because}`);
    return wordOf(processes);
  }

  /** What the gateway answers once it has a new stream comes after the controls that came while all of it was stopped. */
  async #catchUp(agent: Agent): Promise<void> {
    do await agent.listenAnew();
    while ((await this.#network?.extend()) === false);
    await nextTurn();
  }

  /** What is being ended has no connections any more, also while it is given time. */
  #end(keeper: Keeper): Promise<number | undefined> {
    void this.#network?.close();
    return keeper.end(this.#program.graceMs);
  }

  async #stop(): Promise<void> {
    this.#isStopped = true;
    await this.#with((keeper) => this.#end(keeper));
  }

  async #with(deed: (keeper: Keeper) => Promise<unknown>): Promise<void> {
    try {
      await deed(await this.#keeper.promise);
    } catch (error) {
      this.#program.say(error instanceof Error ? error.message : String(error));
    }
  }
}

function wordOf(processes: number | undefined): KernelWord | undefined {
  return processes === undefined ? undefined : { processes };
}

/** Before the program begins, so that all that it starts is in the group. */
function takeInto(cgroup: Cgroup | undefined, jail: Jail): void {
  try {
    cgroup?.take(jail.first);
  } catch (error) {
    jail.kill();
    throw error;
  }
}

/** Nothing has begun in it. */
async function leave(jail: Jail, why: unknown): Promise<never> {
  jail.kill();
  await jail.ended;
  throw why;
}
