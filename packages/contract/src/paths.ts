/** The full names of the gRPC methods. */
export const paths = {
  checkAction: '/reeve.v1.PolicyService/CheckAction',
  batchCheck: '/reeve.v1.PolicyService/BatchCheck',
  checkStream: '/reeve.v1.PolicyService/CheckStream',
  completeAction: '/reeve.v1.PolicyService/CompleteAction',
  opControlStream: '/reeve.v1.PolicyService/OpControlStream',
  ackOpControl: '/reeve.v1.PolicyService/AckOpControl',
  previewTools: '/reeve.v1.PolicyService/PreviewTools',
  registerAgent: '/reeve.v1.AgentService/RegisterAgent',
  heartbeat: '/reeve.v1.AgentService/Heartbeat',
  deregisterAgent: '/reeve.v1.AgentService/DeregisterAgent',
  identifyAgent: '/reeve.v1.AgentService/IdentifyAgent',
  reportToolDefinitions: '/reeve.v1.AgentService/ReportToolDefinitions',
  healthCheck: '/grpc.health.v1.Health/Check',
  healthWatch: '/grpc.health.v1.Health/Watch',
  reflectionV1: '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
  reflectionV1Alpha: '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo',
} as const;
