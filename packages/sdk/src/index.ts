// Declarations name types of Node, also for programs that list the types they use.
/// <reference types="node" preserve="true" />
export type {
  Action,
  ActionType,
  AgentSpawn,
  FileOperation,
  LlmCall,
  NetworkCall,
  ProcessExec,
  ToolCall,
  ToolResult,
} from './action.ts';
export type { Agent } from './agent.ts';
export type { AgentStatus } from './registration.ts';
export type { ChangedTool } from './changed-tool.ts';
export type { Check } from './agent-checks.ts';
export type { AgentId } from './agent-id.ts';
export type { Answer, BudgetLimit, Decision } from './answer.ts';
export type { OpState } from '@reeve/contract/names';
export type { Completion, Outcome, TokenUsage } from './completion.ts';
export { connect } from './connect.ts';
export type { ConnectOptions, RetryOptions } from './connect-options.ts';
export type { ConnectionEvent } from './connection-event.ts';
export type { Control, ControlSignal } from './control.ts';
export type { TokenNeed } from './credential.ts';
export { currentOperation } from './current-operation.ts';
export type { DelegateOptions, EnrolledDelegate, EnrollDelegateOptions } from './delegate-options.ts';
export type { TlsOptions } from './endpoints.ts';
export type { ReeveErrorCode } from './errors.ts';
export {
  OperationTerminatedError,
  ReeveClosed,
  ReeveError,
  ReeveInternal,
  ReeveInvalidRequest,
  ReeveInvalidTransition,
  ReeveOpNotFound,
  ReevePermissionDenied,
  ReeveResourceExhausted,
  ReeveTokenInUse,
  ReeveUnauthenticated,
  ReeveUnavailable,
} from './errors.ts';
export { ActionDeniedError } from './action-denied.ts';
export { MaskedError, ResultDenied } from './result-denied.ts';
export type { CallOptions } from './outage/retry.ts';
export type { GuardOptions } from './guard.ts';
export type { ControlHook, KernelWord } from './live-operation.ts';
export type { Operation, OperationControl, StreamedPiece, StreamedText } from './operation.ts';
export type { CheckDetails } from './prepare-check.ts';
export type { Enrollment, Identified, Reeve } from './reeve.ts';
export type { AttachOptions, EnrollOptions, RegisterOptions, TokenOptions } from './register-options.ts';
export type { Work } from './run-action.ts';
export type { CheckOptions, RunOptions } from './run-options.ts';
export { usd } from './usd.ts';
export type { Door, Via } from './via.ts';
