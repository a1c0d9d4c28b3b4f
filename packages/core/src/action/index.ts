export type { Action, ActionType } from './action.ts';
export { action, actionTypes, identityOf, resourceOf } from './action.ts';
export type { CheckRequest, RawCheckRequest } from './check-request.ts';
export type { Subject, User, UserId } from './user.ts';
export { keptUser, nameOfUser, userFrom, userKey } from './user.ts';
export type { Door, Via } from './via.ts';
export { doors, entranceOf } from './via.ts';
export { describeAction } from './describe-action.ts';
export { mostArgumentValues, parseCheckRequest, userOf, withSubject } from './check-request.ts';
