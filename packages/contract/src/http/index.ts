export { openApiDocument } from './openapi.ts';
export type { Problem, ProblemCode } from './problem.ts';
export { problemSchema, problemStatus } from './problem.ts';
export type { Route, RouteInput, RouteOutput, RouteRequest } from './route.ts';
export { commonProblems } from './route.ts';
export type { RouteName, Routes } from './routes.ts';
export { routes } from './routes.ts';
export type { BacktestLine } from './routes/decisions.ts';
export { backtestLine } from './routes/decisions.ts';
