export { bounds } from './bounds.ts';
export { CappedReader } from './capped-reader.ts';
export { faultInMessage } from './fault-in-message.ts';
export {
  HealthCheckRequest,
  HealthCheckResponse,
  HealthCheckResponse_ServingStatus,
} from './gen/grpc/health/v1/health.ts';
export {
  DelegateAgentRequest,
  DelegateAgentResponse,
  DeregisterAgentRequest,
  DeregisterAgentResponse,
  HeartbeatRequest,
  HeartbeatResponse,
  IdentifyAgentRequest,
  IdentifyAgentResponse,
  RegisterAgentRequest,
  RegisterAgentResponse,
  ReportToolDefinitionsRequest,
  RenewTokenRequest,
  RenewTokenResponse,
  ReportToolDefinitionsResponse,
  RevokeDelegationRequest,
  RevokeDelegationResponse,
} from './gen/reeve/v1/agent_service.ts';
export { ActionType, AgentId, Decision, OpRecord } from './gen/reeve/v1/common.ts';
export {
  AckOpControlRequest,
  AckOpControlRequest_Evidence,
  AckOpControlRequest_Outcome,
  AckOpControlResponse,
  ActionContext,
  BatchCheckRequest,
  BatchCheckResponse,
  BudgetLimit,
  CheckActionRequest,
  CheckActionResponse,
  CheckResultRequest,
  CheckResultResponse,
  CompleteActionRequest,
  CompleteActionRequest_Outcome,
  CompleteActionResponse,
  JudgedPart,
  StreamedPlace,
  OpControlMessage,
  OpControlMessage_Signal,
  OpControlSubscribeRequest,
  PreviewToolsRequest,
  PreviewToolsResponse,
  Via_Door,
} from './gen/reeve/v1/policy_service.ts';
export type { BoundedMessage } from './message-bounds.ts';
export { messageBounds } from './message-bounds.ts';
export { isScalarText } from './scalar-text.ts';
export { paths } from './paths.ts';
export { actionTypeNames, decisionNames, doorNames, outcomeNames } from './wire-names.ts';
