import { agentdojoSuite } from './agentdojo/agentdojo-suite.ts';
import { celSuite } from './cel/cel-suite.ts';
import { floorSuite } from './floor/floor-suite.ts';
import type { ForeignSuite } from './foreign-suite.ts';
import { gtfobinsFloorSuite } from './gtfobins/gtfobins-floor-suite.ts';
import { gtfobinsSuite } from './gtfobins/gtfobins-suite.ts';
import { issuersSuite } from './issuers/issuers-suite.ts';
import { mcpAuthSuite } from './mcp/mcp-auth-suite.ts';
import { schemathesisSuite } from './schemathesis/schemathesis-suite.ts';

export const foreignSuites: readonly ForeignSuite[] = [
  agentdojoSuite,
  celSuite,
  floorSuite,
  gtfobinsSuite,
  gtfobinsFloorSuite,
  issuersSuite,
  mcpAuthSuite,
  schemathesisSuite,
];
