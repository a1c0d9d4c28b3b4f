export type { Action, ActionType } from './action.ts';
export { action, actionTypes, identityOf, resourceOf } from './action.ts';
export type { CheckRequest, RawCheckRequest } from './check-request.ts';
export { describeAction, mostArgumentValues, parseCheckRequest } from './check-request.ts';
