export type { Action, ActionType } from './action.ts';
export { action, actionTypes, identityOf, resourceOf } from './action.ts';
export type { CheckRequest, RawCheckRequest } from './check-request.ts';
export type { Door, Via } from './via.ts';
export { doors, entranceOf } from './via.ts';
export { describeAction, mostArgumentValues, parseCheckRequest } from './check-request.ts';
