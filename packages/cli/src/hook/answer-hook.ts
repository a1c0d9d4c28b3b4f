import { statusCode } from '@reeve/grpc-server/client';
import type { ResolvedAgent } from '../agent-identity/resolve-agent.ts';
import { NoSubjectToken } from '../agent-identity/subject-token.ts';
import { CliError } from '../cli-error.ts';
import type { ReeveFolder } from '../context/reeve-folder.ts';
import { isObject } from '../is-object.ts';
import { isUnknownToken } from './ask-gateway.ts';
import { decideUse, spoiltText } from './decide-use.ts';
import type { EventObject } from './event-members.ts';
import type { FloorWords } from './floor/floor-line.ts';
import type { Floored } from './floor/floored-event.ts';
import { flooredEvent, withoutFloor } from './floor/floored-event.ts';
import { GatewayAway, GatewayRefusal } from '../grpc/unary-calls.ts';
import type { AfterTool, BeforeTool, HookEvent, PlannedAction } from './hook-event.ts';
import { MalformedEvent } from './hook-event.ts';
import type { HookHost, HookReply, Permission, ResultControl } from './hook-host.ts';
import { block } from './hook-host.ts';
import type { Judged } from './judge-end.ts';
import { judgeEnd } from './judge-end.ts';
import { spoil } from './open-uses.ts';
import { newToolUse, traceOf } from './operation-ids.ts';
import type { Machine } from './own-places.ts';
import { withOwnPlaces } from './own-places.ts';
import { parseKeepingDigits } from './parse-keeping-digits.ts';
import { withRealPaths } from './real-paths.ts';
import type { EndEvent } from './report-end.ts';
import { reportEnd } from './report-end.ts';
import { isSpoilt, SessionFile } from './session-file.ts';
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
  /** How commands of shells are put on a floor. Undefined if they are not. */
  readonly floor: FloorWords | undefined;
}

/**
 * Hosts wait for a hook until their own limit, and some let the tool pass then. Analyses take milliseconds: on a busy
 * machine the process may wait for a core for a second, which is no reason to deny.
 */
const mostAnalysisMs = 5000;

/** Answers one event of a host. Whatever goes wrong before a tool, the tool is not used. */
export async function answerHook(text: string, world: HookWorld): Promise<HookReply> {
  const { host, machine } = world;
  let given: EventObject = {};
  let event: HookEvent;
  try {
    given = parsed(text);
    event = withinTime(mostAnalysisMs, () => host.read(asGiven(given, world), machine));
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
      return afterTool(event, given, world);
    case 'onward':
      return onward(event.session, given, world);
    case 'turn_over':
    case 'session_over':
      return reply({}, await reported(event, world));
  }
}

/** Reports what is over. Returns what went wrong with that; nothing if it did not. */
async function reported(event: EndEvent, { host, folder, agent }: HookWorld): Promise<string> {
  try {
    await reportEnd({ event, agent, host: host.name, file: new SessionFile(folder, host.name, event.session) });
    return '';
  } catch (error) {
    return `Reeve: the end of a tool use could not be reported: ${reasonOf(error)}`;
  }
}

/** What a tool brought back is judged before its end is reported: an operation that is over brings back nothing. */
async function afterTool(event: AfterTool, given: EventObject, world: HookWorld): Promise<HookReply> {
  const { results } = world.host;
  if (results === undefined) return reply({}, await reported(event, world));
  const { judged, remark, isAway } = await judgedOrNot(event, world);
  const { answer, isCertain } = shownAs(judged, results, given);
  if (!isCertain) {
    const file = new SessionFile(world.folder, world.host.name, event.session);
    await file.change((uses) => ({ uses: spoil(uses, newToolUse()), result: undefined }));
  }
  // The host waits. What cannot be reported now is made up for at the end of the session.
  const report = isAway === true ? '' : await reported(event, world);
  return reply(answer, [remark, report].filter((text) => text !== '').join('\n'));
}

/** A result that could not be judged is not shown. */
async function judgedOrNot(
  event: AfterTool,
  world: HookWorld,
): Promise<{ readonly judged: Judged; readonly remark: string; readonly isAway?: boolean }> {
  const { host, folder, agent, failOpen } = world;
  try {
    const file = new SessionFile(folder, host.name, event.session);
    const judged = await judgeEnd({ event, agent, host: host.name, file });
    return { judged, remark: judged.kind === 'denied' ? judged.reason : '' };
  } catch (error) {
    const why = `Reeve is not reachable: ${reasonOf(error)}`;
    const isAway = error instanceof GatewayAway;
    if (failOpen && isUnasked(error)) {
      const remark = `${why}. The result was let through, because of --fail-open.`;
      return { judged: { kind: 'as_it_is' }, remark, isAway };
    }
    const reason = `${why}. What the tool brought back is not shown, because nobody could judge it.`;
    return { judged: { kind: 'denied', reason }, remark: reason, isAway };
  }
}

function shownAs(
  judged: Judged,
  results: ResultControl,
  given: EventObject,
): { readonly answer: object; readonly isCertain: boolean } {
  switch (judged.kind) {
    case 'as_it_is':
      return { answer: {}, isCertain: true };
    case 'denied':
      return results.withhold(given, judged.reason);
    case 'masked': {
      const answer = results.replace(given, judged.value);
      if (answer !== undefined) return { answer, isCertain: true };
      return results.withhold(given, 'Denied by policy: what is left of the result cannot take its place');
    }
  }
}

/** Nothing more goes to a model that would read what it must not. */
async function onward(session: string, given: EventObject, { host, folder }: HookWorld): Promise<HookReply> {
  const isSpoiltNow = new SessionFile(folder, host.name, session).read().some(isSpoilt);
  return reply(isSpoiltNow && host.results !== undefined ? host.results.stop(given, spoiltText) : {});
}

async function beforeTool(event: BeforeTool, given: EventObject, world: HookWorld): Promise<HookReply> {
  const { host, folder, subjectToken, waitMs, failOpen } = world;
  const { own } = world.machine;
  const floored = flooredFor(event, given, world);
  if (floored.kind === 'refused') return reply(host.deny(given, `Reeve: ${floored.reason}, so nothing was allowed.`));
  // The one way in which a tool is let be used: with a floor, no command runs beside it, whoever allows it.
  const allow = (how: Permission) =>
    host.allow(given, floored.kind === 'input' ? { ...how, input: floored.input } : how);
  try {
    subjectToken();
    const file = new SessionFile(folder, host.name, event.session);
    const agent = await world.agent();
    const real = {
      ...event,
      actions: withRealPaths(own === undefined ? event.actions : withOwnPlaces(event.actions, own)),
    };
    const { isAllowed, isApproved, text, input } = await decideUse({
      event: real,
      canRewrite: isToolCall(real.actions) && host.canRewrite(given),
      agent,
      host: host.name,
      file,
      subjectToken,
      waitMs,
    });
    return reply(isAllowed ? allow({ isApproved, input }) : host.deny(given, text));
  } catch (error) {
    if (error instanceof NoSubjectToken) {
      const why = `Reeve: ${error.message}`;
      return reply(host.deny(given, `${why}. Nothing was done, because nobody knows for whom.`), why);
    }
    const reason = `Reeve is not reachable: ${reasonOf(error)}`;
    const sentence = reason.endsWith('?') ? reason : `${reason}.`;
    if (failOpen && isUnasked(error))
      return reply(allow({ isApproved: false }), `${sentence} It was let through, because of --fail-open.`);
    return reply(host.deny(given, `${sentence} Nothing was done, because nobody could be asked.`), reason);
  }
}

/** The event as the model made it. */
function asGiven(given: EventObject, { host, floor }: HookWorld): EventObject {
  return floor === undefined ? given : withoutFloor(given, host, floor);
}

/** What is done to the input of a tool before it may be used. */
function flooredFor(event: BeforeTool, given: EventObject, { host, floor }: HookWorld): Floored {
  return floor === undefined ? { kind: 'as_it_is' } : flooredEvent(given, host, floor, traceOf(event.session));
}

/** Of these alone the input is what the gateway judges. */
function isToolCall(actions: readonly PlannedAction[]): boolean {
  return actions.length === 1 && actions.every(({ action: { type = 'tool_call' } }) => type === 'tool_call');
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
