import { keepingScenes } from './keeping-scenes.ts';
import { opScenes } from './op-scenes.ts';
import { releaseScenes } from './release-scenes.ts';
import { resultScenes } from './result-scenes.ts';
import { runScenes } from './run-scenes.ts';
import type { Scene } from './scene.ts';

export const scenes: readonly Scene[] = [
  ...runScenes,
  ...opScenes,
  ...keepingScenes,
  ...releaseScenes,
  ...resultScenes,
];
