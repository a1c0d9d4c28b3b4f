import { statusCode } from '@reeve/grpc-server/client';
import type { ResolvedAgent } from '../agent-identity/resolve-agent.ts';
import { NoSubjectToken } from '../agent-identity/subject-token.ts';
import { CliError } from '../cli-error.ts';
import type { ReeveFolder } from '../context/reeve-folder.ts';
import { isObject } from '../is-object.ts';
import { isUnknownToken } from './ask-gateway.ts';
import { decideUse } from './decide-use.ts';
import type { EventObject } from './event-members.ts';
import { GatewayAway, GatewayRefusal } from '../grpc/unary-calls.ts';
import type { BeforeTool, HookEvent } from './hook-event.ts';
import { MalformedEvent } from './hook-event.ts';
import type { HookHost, HookReply } from './hook-host.ts';
import { block } from './hook-host.ts';
import type { Machine } from './own-places.ts';
import { withOwnPlaces } from './own-places.ts';
import { parseKeepingDigits } from './parse-keeping-digits.ts';
import { withRealPaths } from './real-paths.ts';
import { reportEnd } from './report-end.ts';
import { SessionFile } from './session-file.ts';
import { TookTooLong, withinTime } from './within-time.ts';

export interface HookWorld {
  readonly host: HookHost;
  readonly folder: ReeveFolder;
  readonly agent: () => Promise<ResolvedAgent>;
  readonly machine: Machine;
  /** The JWT of the user for whom the agent acts, as it is now. Throws `NoSubjectToken`. */
  readonly subjectToken: () => string | undefined;
  /** What is left of the time for which the host waits. */
  readonly waitMs: () => number;
  /** Lets the host go on if nobody can be asked. */
  readonly failOpen: boolean;
}

/** Hosts wait for a hook until their own limit, and some let the tool pass then. */
const mostAnalysisMs = 1000;

/** Answers one event of a host. Whatever goes wrong before a tool, the tool is not used. */
export async function answerHook(text: string, world: HookWorld): Promise<HookReply> {
  const { host, folder, machine } = world;
  let given: EventObject = {};
  let event: HookEvent;
  try {
    given = parsed(text);
    event = withinTime(mostAnalysisMs, () => host.read(given, machine));
  } catch (error) {
    if (!(error instanceof MalformedEvent || error instanceof TookTooLong)) throw error;
    const reason = `Reeve: ${error.message}, so nothing was allowed. Is this a hook of ${host.name}?`;
    const denial = host.deny(given, reason);
    // The form of the host is for its own events. The code blocks whatever it was.
    return Object.keys(denial).length === 0 ? block(reason) : { ...reply(denial), stderr: `${reason}\n` };
  }
  switch (event.kind) {
    case 'other':
      return reply({});
    case 'before':
      return beforeTool(event, given, world);
    case 'after':
    case 'turn_over':
    case 'session_over':
      try {
        await reportEnd({
          event,
          agent: world.agent,
          host: host.name,
          file: new SessionFile(folder, host.name, event.session),
        });
        return reply({});
      } catch (error) {
        return reply({}, `Reeve: the end of a tool use could not be reported: ${reasonOf(error)}`);
      }
  }
}

async function beforeTool(event: BeforeTool, given: EventObject, world: HookWorld): Promise<HookReply> {
  const { host, folder, subjectToken, waitMs, failOpen } = world;
  const { own } = world.machine;
  try {
    subjectToken();
    const file = new SessionFile(folder, host.name, event.session);
    const agent = await world.agent();
    const real = {
      ...event,
      actions: withRealPaths(own === undefined ? event.actions : withOwnPlaces(event.actions, own)),
    };
    const { isAllowed, isApproved, text } = await decideUse({
      event: real,
      agent,
      host: host.name,
      file,
      subjectToken,
      waitMs,
    });
    return reply(isAllowed ? host.allow(given, isApproved) : host.deny(given, text));
  } catch (error) {
    if (error instanceof NoSubjectToken) {
      const why = `Reeve: ${error.message}`;
      return reply(host.deny(given, `${why}. Nothing was done, because nobody knows for whom.`), why);
    }
    const reason = `Reeve is not reachable: ${reasonOf(error)}`;
    const sentence = reason.endsWith('?') ? reason : `${reason}.`;
    if (failOpen && isUnasked(error))
      return reply(host.allow(given, false), `${sentence} It was let through, because of --fail-open.`);
    return reply(host.deny(given, `${sentence} Nothing was done, because nobody could be asked.`), reason);
  }
}

/** Another question would not have got these. */
const aboutQuestion: ReadonlySet<number> = new Set([
  statusCode.invalidArgument,
  statusCode.resourceExhausted,
  statusCode.outOfRange,
]);

/**
 * Nobody could be asked, or not as this agent. Whatever else goes wrong, an agent may have brought it about: by a question
 * that the gateway refuses, or by an input that the hook itself fails at. It must not pass by that.
 */
function isUnasked(error: unknown): boolean {
  if (error instanceof GatewayRefusal) return !aboutQuestion.has(error.status);
  return error instanceof GatewayAway || error instanceof CliError;
}

function parsed(text: string): EventObject {
  let event: unknown;
  try {
    event = parseKeepingDigits(text);
  } catch {
    throw new MalformedEvent('the event on standard input is no JSON');
  }
  if (!isObject(event)) throw new MalformedEvent('the event on standard input is no JSON object');
  return event;
}

function reply(answer: object, stderr = ''): HookReply {
  return { stdout: `${JSON.stringify(answer)}\n`, stderr: stderr === '' ? '' : `${stderr}\n`, code: 0 };
}

function reasonOf(error: unknown): string {
  if (isUnknownToken(error)) return error.message;
  if (error instanceof GatewayAway) return `the gateway does not answer (${error.message})`;
  if (error instanceof GatewayRefusal) return `the gateway refused the question (${error.message})`;
  if (error instanceof CliError) return error.message;
  return error instanceof Error ? error.message : String(error);
}
