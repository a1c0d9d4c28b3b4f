import { constants } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Agent, Answer, ConnectionEvent, Control, KernelWord, Operation, RunOptions } from '@reeve/sdk';
import { ActionDeniedError, OperationTerminatedError } from '@reeve/sdk';
import { CliError } from '../cli-error.ts';
import { callOff } from './call-off.ts';
import type { Cgroup } from './cgroup/cgroup.ts';
import type { EarlyJail } from './early-jail.ts';
import { floorExits } from './floor-error.ts';
import type { Hold, Keeper } from './keeper.ts';
import { GatewayWatch } from './lost-gateway.ts';
import type { InsideNetwork, NetworkRequest } from './network/inside-network.ts';
import { passSignals } from './pass-signals.ts';
import type { LostGateway } from './profile.ts';

export interface Program {
  readonly command: readonly string[];
  readonly folder: string;
  /** Throws a `CliError` with the exit code if the command is not there inside. */
  readonly requireCommand: () => void;
  readonly jail: EarlyJail;
  /** The control group of the run, where this user may have one. */
  readonly cgroup: Cgroup | undefined;
  /** Whether it shares the terminal. */
  readonly onTerminal: boolean;
  /** Called once signals reach the program. */
  readonly onBegun: () => void;
}

/** How it is kept and ended, and how people are told. */
export interface Keeping {
  readonly graceMs: number;
  readonly lostGateway: LostGateway;
  readonly say: (line: string) => void;
}

/** How the gateway is asked, for the program and for its connections. */
export type Asking = Pick<RunOptions, 'runId' | 'onHeld'> &
  Pick<NetworkRequest, 'gateway' | 'token'> & { readonly waitMs: number };

const longestNote = 500;
const interrupted = 128 + constants.signals.SIGINT;

/** The program under its floor, as an operation that the gateway controls. */
export class FlooredProgram {
  readonly #keeping: Keeping;
  readonly #keeper = Promise.withResolvers<Keeper>();
  readonly #watch: GatewayWatch;
  readonly #obeying = new Set<Promise<unknown>>();
  /** The last time that each reason came to hold it. */
  readonly #held = new Map<Hold, symbol>();
  #network: InsideNetwork | undefined;
  /** Takes back what somebody is still asked about. */
  #takeBack: (() => Promise<boolean>) | undefined;
  #hasBegun = false;
  #isWithdrawn = false;
  #isStopped = false;
  #wasInterrupted = false;

  constructor(keeping: Keeping) {
    this.#keeping = keeping;
    const { lostGateway, say } = keeping;
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

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether nobody can approve it any more, because nobody had in time. */
  get isWithdrawn(): boolean {
    return this.#isWithdrawn;
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

  /** Nobody waits for it any more, so nobody is asked about it any more. */
  async withdraw(): Promise<void> {
    await this.#takeBack?.();
  }

  /** Asks whether it may run, runs it, and reports how it ended. Returns the exit code. */
  async run(program: Program, agent: Agent, { gateway, token, ...options }: Asking): Promise<number> {
    using _watch = this.#watch;
    const [command = '', ...args] = program.command;
    // Nobody can be asked about a command without a name.
    if (command === '') program.requireCommand();
    const action = { type: 'process_exec', command, args, workingDir: program.folder } as const;
    const network = { ...options, gateway, token, say: this.#keeping.say };
    let code: number | undefined;
    // Loaded while the gateway decides.
    const loading = nextTurn().then(() => import('./network/inside-network.ts'));
    loading.catch(() => {});
    const work = async (operation: Operation) => {
      this.#takeBack = undefined;
      requireFound(program, operation);
      const { InsideNetwork } = await loading;
      this.#network = new InsideNetwork(agent, network);
      return (code = await this.#work(program, operation, agent, this.#network));
    };
    const onControl = (control: Control) => this.#obeyed(control);
    const onHeld = (answer: Answer) => {
      this.#takeBack = () => callOff(agent, answer);
      options.onHeld?.(answer);
    };
    try {
      return await agent.run(action, work, { ...options, floor: true, onControl, onHeld });
    } catch (error) {
      if (error instanceof ActionDeniedError && error.answer.decision === 'pending') {
        this.#isWithdrawn = await callOff(agent, error.answer);
      }
      // The program has run, whoever can be told.
      if (code === undefined || error instanceof OperationTerminatedError) throw error;
      this.#keeping.say(`its end could not be reported: ${error instanceof Error ? error.message : String(error)}`);
      return code;
    }
  }

  async #work(program: Program, operation: Operation, agent: Agent, network: InsideNetwork): Promise<number> {
    const { jail: early, cgroup, onTerminal, onBegun } = program;
    try {
      await network.begin();
      // What is to be held is looked at last: nobody else is waited for between that and the first step.
      const { jail, keeper, sockets } = await early.take();
      network.serve(sockets);
      this.#keeper.resolve(keeper);
      using signals = passSignals(keeper, onTerminal, () => this.#watch.until(this.#catchUp(agent)));
      onBegun();
      // What has come before holds from the first step on.
      if (this.#obeying.size > 0) await this.#obeyedAll();
      cgroup?.limit();
      this.#hasBegun = true;
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
      await early.leave();
      await network.close();
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
    const { say } = this.#keeping;
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
    return keeper.end(this.#keeping.graceMs);
  }

  async #stop(): Promise<void> {
    this.#isStopped = true;
    await this.#with((keeper) => this.#end(keeper));
  }

  async #with(deed: (keeper: Keeper) => Promise<unknown>): Promise<void> {
    try {
      await deed(await this.#keeper.promise);
    } catch (error) {
      this.#keeping.say(error instanceof Error ? error.message : String(error));
    }
  }
}

function wordOf(processes: number | undefined): KernelWord | undefined {
  return processes === undefined ? undefined : { processes };
}

/** Whoever may not run a command is not told whether it is there. */
function requireFound({ requireCommand }: Program, operation: Operation): void {
  try {
    requireCommand();
  } catch (error) {
    if (error instanceof CliError) {
      operation.note(`exit code ${error.exitCode}: ${error.message}`.slice(0, longestNote));
    }
    throw error;
  }
}
