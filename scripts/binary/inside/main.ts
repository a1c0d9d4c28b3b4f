// What the single executable runs.
import { main } from '../../../packages/cli/src/main.ts';

void main();
