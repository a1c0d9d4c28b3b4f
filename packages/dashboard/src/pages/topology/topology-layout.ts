import { Graph, layout as dagreLayout } from '@dagrejs/dagre';

export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface LayoutAgent {
  readonly id: string;
  /** The parent, if it is in the same team. */
  readonly parent: string | null;
}

export interface LayoutTeam {
  readonly id: string;
  /** Undefined if the team is closed. */
  readonly agents?: readonly LayoutAgent[];
}

export interface LayoutOrg {
  readonly id: string;
  /** Undefined if the org is closed. */
  readonly teams?: readonly LayoutTeam[];
}

/** A drawing without a position yet. Its places count from its own corner. */
interface Block {
  readonly width: number;
  readonly height: number;
  readonly places: readonly (readonly [id: string, place: Rectangle])[];
}

export const card = { width: 228, height: 92 };
export const agentCard = { width: 212, height: 58 };
const header = 52;
const padding = 14;
const gap = 12;

/** The place of everything: orgs hold their teams, teams their agents, and lineage runs from left to right. */
export function layoutTopology(orgs: readonly LayoutOrg[]): Map<string, Rectangle> {
  const blocks = orgs.map(({ id, teams }) => (teams === undefined ? single(id, card) : box(id, teams.map(teamBlock))));
  return new Map(shelve(blocks, 24).places);
}

function teamBlock({ id, agents }: LayoutTeam): Block {
  if (agents === undefined) return single(id, card);
  const children = Map.groupBy(agents, ({ parent }) => parent);
  const known = new Set(agents.map((agent) => agent.id));
  const roots = agents.filter(({ parent }) => parent === null || !known.has(parent));
  const families = roots.filter((root) => children.has(root.id)).map((root) => family(root.id, children));
  const alone = roots.filter((root) => !children.has(root.id));
  return box(id, [...families, ...(alone.length === 0 ? [] : [grid(alone)])]);
}

/** An agent and all its descendants. Agents without children form a block, so that a hundred make no tower. */
function family(root: string, children: ReadonlyMap<string | null, readonly LayoutAgent[]>): Block {
  const graph = new Graph().setGraph({ rankdir: 'LR', nodesep: gap, ranksep: 56 }).setDefaultEdgeLabel(() => ({}));
  const blocks = new Map<string, Block>();
  const add = (name: string, block: Block) => {
    blocks.set(name, block);
    graph.setNode(name, { width: block.width, height: block.height });
  };
  add(root, single(root, agentCard));
  const waiting = [root];
  for (let parent = waiting.pop(); parent !== undefined; parent = waiting.pop()) {
    const below = children.get(parent) ?? [];
    for (const { id } of below.filter((child) => children.has(child.id))) {
      add(id, single(id, agentCard));
      graph.setEdge(parent, id);
      waiting.push(id);
    }
    const leaves = below.filter((child) => !children.has(child.id));
    if (leaves.length === 0) continue;
    // No id has a space in it.
    add(`${parent} leaves`, grid(leaves));
    graph.setEdge(parent, `${parent} leaves`);
  }
  dagreLayout(graph);
  return join(
    [...blocks].map(([name, block]) => {
      const { x, y } = graph.node(name) as { readonly x: number; readonly y: number };
      return [block, x - block.width / 2, y - block.height / 2] as const;
    }),
  );
}

/** Agents side by side, in a roughly square block. */
function grid(agents: readonly LayoutAgent[]): Block {
  const columns = Math.max(1, Math.round(Math.sqrt(agents.length / 3)));
  return join(
    agents.map(({ id }, index) => [
      single(id, agentCard),
      (index % columns) * (agentCard.width + gap),
      Math.floor(index / columns) * (agentCard.height + gap),
    ]),
  );
}

function single(id: string, { width, height }: { readonly width: number; readonly height: number }): Block {
  return { width, height, places: [[id, { x: 0, y: 0, width, height }]] };
}

/** Blocks inside a frame that has a header. */
function box(id: string, blocks: readonly Block[]): Block {
  const inside = shelve(blocks, padding);
  const size = {
    width: Math.max(card.width, inside.width) + 2 * padding,
    height: header + inside.height + padding,
  };
  const frame = join([[inside, padding, header]]);
  return { ...size, places: [[id, { x: 0, y: 0, ...size }], ...frame.places] };
}

/** The aspect ratio of a drawing, as of screens. */
const shape = 2;
/** The most widths to try. With more blocks, the area is a good enough estimate. */
const mostTried = 40;

/** Blocks in rows, in order, at the width that allows the largest drawing on a screen. */
function shelve(blocks: readonly Block[], space: number): Block {
  const drawings = widthsOf(blocks, space).map((width) => rowsOf(blocks, space, width));
  const sizeOf = ({ width, height }: Block) => Math.max(width / shape, height);
  return drawings.reduce((best, drawing) => (sizeOf(drawing) < sizeOf(best) ? drawing : best), {
    width: Infinity,
    height: Infinity,
    places: [],
  });
}

function widthsOf(blocks: readonly Block[], space: number): readonly number[] {
  const widest = Math.max(0, ...blocks.map((block) => block.width));
  if (blocks.length > mostTried) {
    const area = blocks.reduce((sum, block) => sum + (block.width + space) * (block.height + space), 0);
    return [Math.max(widest, Math.sqrt(shape * area * 1.1))];
  }
  let sum = -space;
  const first = blocks.map((block) => (sum += block.width + space));
  return [widest, ...first.filter((width) => width > widest)];
}

function rowsOf(blocks: readonly Block[], space: number, width: number): Block {
  let x = 0;
  let y = 0;
  let high = 0;
  return join(
    blocks.map((block) => {
      if (x > 0 && x + block.width > width) {
        x = 0;
        y += high + space;
        high = 0;
      }
      const placed = [block, x, y] as const;
      x += block.width + space;
      high = Math.max(high, block.height);
      return placed;
    }),
  );
}

function join(parts: readonly (readonly [block: Block, x: number, y: number])[]): Block {
  let width = 0;
  let height = 0;
  const places: (readonly [string, Rectangle])[] = [];
  for (const [block, x, y] of parts) {
    width = Math.max(width, x + block.width);
    height = Math.max(height, y + block.height);
    for (const [id, place] of block.places) places.push([id, { ...place, x: place.x + x, y: place.y + y }]);
  }
  return { width, height, places };
}
