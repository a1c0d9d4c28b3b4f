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
export type { Agent, AgentStatus, Check, CheckOptions } from './agent.ts';
export type { AgentId } from './agent-id.ts';
export type { Answer, BudgetLimit, Decision, OpState } from './answer.ts';
export type { Completion, Outcome } from './completion.ts';
export { connect } from './connect.ts';
export type { ConnectOptions, RetryOptions, TlsOptions } from './connect-options.ts';
export type { ReeveErrorCode } from './errors.ts';
export {
  ReeveClosed,
  ReeveError,
  ReeveInternal,
  ReeveInvalidRequest,
  ReeveInvalidTransition,
  ReeveNotAllowed,
  ReeveOpNotFound,
  ReevePermissionDenied,
  ReeveResourceExhausted,
  ReeveTokenInUse,
  ReeveUnauthenticated,
  ReeveUnavailable,
} from './errors.ts';
export type { CallOptions } from './gateway-link.ts';
export type { CheckDetails } from './prepare-check.ts';
export type { Reeve } from './reeve.ts';
export type { AttachOptions, RegisterOptions } from './register-options.ts';
export type { RunningAction, Work } from './run-action.ts';
export { usd } from './usd.ts';
