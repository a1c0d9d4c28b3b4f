import type { Answer } from '../api/send.ts';
import { entranceName, entranceTitle } from '../api/entrance-name.ts';

/** A small mark of the door that an action came through. None if the agent asked by itself. */
export function DoorMark({ via }: Pick<Answer<'getOp'>, 'via'>) {
  if (via === null) return null;
  const behind = via.name === '' ? '' : `: ${via.name}`;
  return (
    <span
      title={`${entranceTitle(via.door)}${behind}`}
      className="mr-1.5 inline-block rounded-sm border border-edge/60 px-1 align-middle text-2xs font-medium text-muted"
    >
      {entranceName(via.door)}
    </span>
  );
}
